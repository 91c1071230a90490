/* SPDX-License-Identifier: Apache-2.0 */
/* Included at the start of each mutated source: says whether the mutation `number` is on, and
 * records that its place was reached. Firmware has no environment: it is built once for each of its
 * mutations. */
#ifndef TRN_MUTATION_SWITCH_H
#define TRN_MUTATION_SWITCH_H

#ifdef __riscv
#include "mutation_of_firmware.h"
#define TRN_MUTATION(number) ((number) == TRN_MUTATION_OF_FIRMWARE)
#else

#ifdef __cplusplus
extern "C" {
#endif
extern unsigned trn_mutation_on;           /* its number, 0: none */
extern unsigned char* trn_mutation_places; /* a byte each, 1: reached */
#ifdef __cplusplus
}
/* In constant expressions nothing is mutated. */
constexpr int trn_mutation(unsigned number) {
    if (__builtin_is_constant_evaluated()) return 0;
    trn_mutation_places[number] = 1;
    return number == trn_mutation_on;
}
#else
static inline int trn_mutation(unsigned number) {
    trn_mutation_places[number] = 1;
    return number == trn_mutation_on;
}
#endif
#define TRN_MUTATION(number) trn_mutation(number)
#endif

/* Mutated code may compare what never differs, narrow and lose values. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wnarrowing"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wdiv-by-zero"
#pragma GCC diagnostic ignored "-Woverflow"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wshift-count-overflow"
#pragma GCC diagnostic ignored "-Wshift-count-negative"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

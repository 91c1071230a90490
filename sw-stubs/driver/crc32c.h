/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_CRC32C_H
#define TRN_LIB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CRC-32C (Castagnoli), reflected polynomial 0x82F63B78 (contract 4.4). Start with 0xFFFFFFFF, call
 * it for each part, invert the result. */
uint32_t trn_crc32c(uint32_t crc, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: Apache-2.0
// memcpy() for images: the C library's copies one byte at a time.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t __attribute__((may_alias)) word;

// The compiler must not replace the loops by a call of memcpy().
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void* memcpy(
    void* restrict to, const void* restrict from, size_t length) {
    uint8_t* at = to;
    const uint8_t* source = from;
    if (((uintptr_t)at | (uintptr_t)source) % sizeof(word) == 0)
        for (; length >= sizeof(word); length -= sizeof(word)) {
            *(word*)at = *(const word*)source;
            at += sizeof(word);
            source += sizeof(word);
        }
    while (length-- > 0) *at++ = *source++;
    return to;
}

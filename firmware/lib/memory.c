// SPDX-License-Identifier: Apache-2.0
// memcpy() for images: the C library's copies one byte at a time.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t __attribute__((may_alias)) word;

// The compiler must not replace the loops by a call of memcpy().
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void* memcpy(
    void* restrict destination, const void* restrict source, size_t length) {
    uint8_t* out = destination;
    const uint8_t* bytes = source;
    if (((uintptr_t)out | (uintptr_t)bytes) % sizeof(word) == 0)
        for (; length >= sizeof(word); length -= sizeof(word)) {
            *(word*)out = *(const word*)bytes;
            out += sizeof(word);
            bytes += sizeof(word);
        }
    while (length-- > 0) *out++ = *bytes++;
    return destination;
}

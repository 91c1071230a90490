/* SPDX-License-Identifier: Apache-2.0 */
#include "crc32c.h"

uint32_t trn_crc32c(uint32_t crc, const void* bytes, size_t size) {
    const uint8_t* byte = bytes;
    for (; size; --size, ++byte) {
        crc ^= *byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    }
    return crc;
}

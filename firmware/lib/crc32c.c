// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/crc32c.h"

// Reflected polynomial 0x82f63b78, one byte at a time. The entry of a byte is the sum (exclusive
// or) of those of its bits.
#define BIT(byte, bit, entry) ((byte) & (bit) ? (entry) : 0u)
#define ENTRY(byte)                                                                     \
    (BIT(byte, 1, 0xf26b8303) ^ BIT(byte, 2, 0xe13b70f7) ^ BIT(byte, 4, 0xc79a971f) ^   \
     BIT(byte, 8, 0x8ad958cf) ^ BIT(byte, 16, 0x105ec76f) ^ BIT(byte, 32, 0x20bd8ede) ^ \
     BIT(byte, 64, 0x417b1dbc) ^ BIT(byte, 128, 0x82f63b78))
#define FOUR(byte) ENTRY(byte), ENTRY((byte) + 1), ENTRY((byte) + 2), ENTRY((byte) + 3)
#define SIXTEEN(byte) FOUR(byte), FOUR((byte) + 4), FOUR((byte) + 8), FOUR((byte) + 12)
#define SIXTY_FOUR(byte) \
    SIXTEEN(byte), SIXTEEN((byte) + 16), SIXTEEN((byte) + 32), SIXTEEN((byte) + 48)

static const uint32_t table[256] = {SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128),
                                    SIXTY_FOUR(192)};

uint32_t crc32c_update(uint32_t crc, const void* bytes, size_t length) {
    for (const uint8_t* byte = bytes; length > 0; ++byte, --length)
        crc = crc >> 8 ^ table[(crc ^ *byte) & 255];
    return crc;
}

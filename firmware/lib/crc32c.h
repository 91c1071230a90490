// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli) as the mailbox and the image header use it: contract section 4.4.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CRC32C_START 0xffffffffu

/// Feeds bytes into a running CRC that started as CRC32C_START.
uint32_t crc32c_update(uint32_t crc, const void* bytes, size_t length);
static inline uint32_t crc32c_finish(uint32_t crc) {
    return ~crc;
}

static inline uint32_t crc32c(const void* bytes, size_t length) {
    return crc32c_finish(crc32c_update(CRC32C_START, bytes, length));
}

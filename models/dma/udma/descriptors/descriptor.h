// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace trn {

/// A ring entry of 16 bytes, m2s (source) or s2m (destination).
struct dma_descriptor {
    std::array<std::uint32_t, 4> words;  // little endian

    /// Bytes; a length field of 0 means 64 KiB (unless the engine is configured otherwise).
    std::uint32_t length() const {
        const std::uint32_t field = words[0] & 0xffff;
        return field == 0 ? 0x10000 : field;
    }
    std::uint64_t address() const { return words[2] | std::uint64_t{words[3]} << 32; }
    unsigned ring_id() const { return words[0] >> 24 & 3; }
    bool interrupt() const { return bit(0, 28); }

    // Bits of m2s descriptors only.
    bool first() const { return bit(0, 26); }
    bool last() const { return bit(0, 27); }
    /// Data memory barrier: later descriptors of the queue start after this one is complete.
    bool barrier() const { return bit(0, 30); }
    /// 0 is a copy; dma_descriptor.regs.yaml defines the others.
    unsigned operation_type() const { return words[1] >> 20 & 7; }

    // Write barrier (m2s word 1 bit 26) and strong ordering (s2m word 0 bit 29) need no code: a
    // queue's bytes become visible in descriptor order in any case.

private:
    bool bit(unsigned word, unsigned number) const { return (words[word] >> number & 1) != 0; }
};
static_assert(sizeof(dma_descriptor) == 16);

}  // namespace trn

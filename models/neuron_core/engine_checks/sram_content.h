// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/neuron_isa/instructions/data_path.h"

namespace trn {

/// Tracks the bytes of SBUF or PSUM that were not written since power-on. From poison() on, a byte
/// read before it is written is part of a NaN of every float type. Costs nothing before the first
/// write, then one byte per page of 4 KiB.
///
/// A granule of 16 bytes counts as unwritten while it holds the poison, whose order of signs no
/// computation produces. Unwritten bytes that share a granule with written ones count as written.
class sram_content {
public:
    static constexpr std::uint64_t page_bytes = isa::core_memory::page_bytes, granule_bytes = 16;

    /// `bytes` is the memory; it reads zero at power-on.
    sram_content(std::uint8_t* bytes, std::uint64_t size) : bytes_(bytes), size_(size) {}

    /// Must be called after each write to the range, before the next write. Ignores ranges outside
    /// the memory.
    void written(std::uint64_t first, std::uint64_t count);
    /// Engines may read from now on. Pages written before keep their zeroes.
    void poison() { poisons_ = true; }
    /// Called before an engine reads the range. \returns whether a granule of it was never written.
    /// Precondition: the range is inside the memory.
    bool has_unwritten(std::uint64_t first, std::uint64_t count);
    /// Power is lost: all bytes become unwritten.
    void clear() { pages_.clear(); }

private:
    enum class page : std::uint8_t { fresh, poisoned, written };

    page& state_of(std::uint64_t number);
    bool is_zero(std::uint64_t first, std::uint64_t end) const;
    void fill(std::uint64_t first, std::uint64_t end);
    bool has_poison(std::uint64_t first, std::uint64_t end) const;

    std::uint8_t* const bytes_;
    const std::uint64_t size_;
    bool poisons_ = false;
    std::vector<page> pages_;  // empty before the first write
};

}  // namespace trn

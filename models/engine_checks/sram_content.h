// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/instructions/data_path.h"

namespace trn {

/// Which bytes of SBUF or PSUM are unwritten since power-on. From poison() on, a
/// byte that an engine reads before it is written is part of a NaN of every float type. Costs
/// nothing before the first write, and afterwards a byte per page of 4 KiB.
///
/// A granule of 16 bytes counts as unwritten while it holds the poison, whose signs no computation
/// produces in this order. So bytes that were never written next to written ones of the same
/// granule count as written.
class sram_content {
public:
    static constexpr std::uint64_t page_bytes = isa::core_memory::page_bytes, granule_bytes = 16;

    /// `bytes` is the memory; it reads zero at power-on.
    sram_content(std::uint8_t* bytes, std::uint64_t size) : bytes_(bytes), size_(size) {}

    /// The range was written: must be called after each write, before the next one. Ranges outside
    /// the memory are ignored.
    void written(std::uint64_t first, std::uint64_t count);
    /// Engines may read from now on. Pages written before keep their zeroes.
    void poison() { poisons_ = true; }
    /// An engine is about to read the range: whether a granule of it was never written.
    /// Precondition: inside the memory.
    bool has_unwritten(std::uint64_t first, std::uint64_t count);
    /// Power is lost: nothing has been written.
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
    std::vector<page> pages_;  // from the first write on
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/dma/udma/descriptors/descriptor.h"
#include "models/dma/udma/queues/group.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

/// A command of a core to a descriptor generator: pieces of equal length, in four dimensions, that
/// are copied one by one, accumulated, or transposed in groups; followed by a 4-byte copy. Spec:
/// doc/dma_compute.md, "Hardware descriptor generation".
class generator_command {
public:
    static constexpr std::uint32_t max_pieces = 16384;
    static constexpr std::uint32_t max_rows = 64;  ///< of a matrix to be transposed

    /// Reads the command from the registers of `queue` of engine `instance`.
    generator_command(const register_bank& registers, unsigned queue, unsigned instance);

    /// False: the command cannot be executed.
    bool is_valid() const { return valid_; }
    std::uint32_t descriptors(dma_side side) const;
    /// Descriptor `n` of one side, which carries `ring_id`.
    dma_descriptor descriptor(dma_side side, std::uint32_t n, unsigned ring_id) const;
    unsigned priority() const { return priority_; }

private:
    static constexpr unsigned dimensions = 4;
    struct side {
        std::uint64_t base;
        std::array<std::uint32_t, dimensions> counts;
        std::array<std::int32_t, dimensions> strides;
        std::uint64_t first, end;  ///< window; end 0: none

        std::uint64_t pieces() const;
        std::uint64_t address(std::uint64_t piece) const;
        bool holds(std::uint64_t address, std::uint32_t bytes) const {
            return end == 0 || (address >= first && address < end && end - address >= bytes);
        }
    };
    /// Number of descriptors for a unit (a piece or a matrix).
    std::uint32_t per_unit(dma_side side) const {
        return side == dma_side::m2s && (transposes_ || accumulates_) ? rows_ + 1 : rows_;
    }
    bool choose_units(std::uint64_t first, std::uint64_t count);
    bool is_inside(std::uint64_t unit) const;
    dma_descriptor source(std::uint64_t unit, std::uint32_t n, unsigned ring_id) const;
    dma_descriptor destination(std::uint64_t unit, std::uint32_t n, unsigned ring_id) const;
    dma_descriptor operation(unsigned ring_id) const;

    std::uint32_t bytes_;
    side source_, destination_;
    std::uint32_t rows_ = 1;  // pieces per unit
    bool transposes_, accumulates_, bf16_, skips_;
    unsigned priority_;
    bool write_barrier_, interrupt_;  // of the last descriptor
    std::uint64_t signal_, signal_source_;
    bool valid_;
    std::uint64_t first_unit_ = 0;
    std::uint32_t units_ = 0;
    std::vector<std::uint64_t> kept_;  // indices of units, if some are skipped
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/udma/descriptor.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

/// A core's command to a descriptor generator: pieces of equal length, in three dimensions.
/// Spec: doc/dma_compute.md, "Hardware descriptor generation".
class generator_command {
public:
    static constexpr std::uint32_t max_pieces = 16384;

    /// As the registers of `queue` of engine `instance` say now.
    generator_command(const register_bank& registers, unsigned queue, unsigned instance);

    /// 0 when the command cannot be carried out.
    std::uint32_t pieces() const;
    dma_descriptor source(std::uint32_t piece, unsigned ring_id) const;
    dma_descriptor destination(std::uint32_t piece, unsigned ring_id) const;

private:
    struct side {
        std::uint64_t base;
        std::array<std::int32_t, 3> strides;
    };
    std::uint64_t address(const side& s, std::uint32_t piece) const;

    std::uint32_t bytes_;
    std::array<std::uint32_t, 3> counts_;
    side source_, destination_;
    bool write_barrier_, interrupt_;  // of the last piece
};

}  // namespace trn

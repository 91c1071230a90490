// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/dma/udma/descriptors/descriptor.h"
#include "models/neuron_core/sequencer/shared/environment.h"

namespace trn {

/// The copies of one DMA_GATHER, DMA_SCATTER or DMA_GATHER_TRANSPOSE as descriptors without ring
/// id, divided evenly among the 16 DMA engines. Made packet by packet: there may be millions.
class row_moves {
public:
    static constexpr unsigned engines = 16;
    struct packet {
        std::vector<dma_descriptor> sources, destinations;  ///< m2s, s2m
    };

    /// `indices`: that of partition p and column k is at k * partitions + p. Indices from
    /// `table_rows` on move nothing.
    row_moves(const sequencer_environment& environment, const isa::instruction& i,
              std::vector<std::uint32_t> indices, std::uint32_t table_rows);

    /// Maximum number of descriptors of a packet on one side.
    std::uint32_t max_descriptors() const;
    bool has_work(unsigned engine) const { return shares_[engine].next != shares_[engine].end; }
    /// Makes the next packet of `engine`; false if there is none.
    bool next(unsigned engine, packet& filled);

private:
    /// Bytes that are contiguous both in a partition and in a row.
    struct run {
        std::uint32_t in_partition, in_row, bytes;
    };
    struct block {  // part of a matrix to transpose
        std::uint32_t first_index, indices, first_element, elements;
    };
    struct share {
        std::uint64_t next = 0, end = 0;  // indices or blocks
        std::uint32_t run = 0;
    };

    void find_runs();
    void find_blocks();
    std::uint64_t table_row(std::uint64_t index) const;
    std::uint64_t in_sbuf(unsigned partition, std::uint32_t byte) const;
    void copy(std::uint64_t source, std::uint64_t destination, std::uint32_t bytes,
              packet& p) const;
    void transpose(const block& b, packet& p) const;

    const sequencer_environment& core_;
    const isa::opcode opcode_;
    const isa::tile_operand tile_;  // DST, or A of DMA_SCATTER
    const std::uint32_t row_bytes_;
    const std::uint64_t table_;
    const std::uint32_t table_rows_;
    const std::vector<std::uint32_t> indices_;
    std::vector<std::vector<run>> runs_;  // per column of indices
    std::vector<block> blocks_;
    std::array<share, engines> shares_{};
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"

namespace trn {

/// Reference results of collectives: inputs defined by rank and position, and the expected outputs,
/// computed by the rules of doc/dma_compute.md without code of the platform.
class collective_reference {
public:
    /// The configuration must name an algorithm and its channels, which determine the order of
    /// sums.
    explicit collective_reference(const trn_coll_config& config);

    /// The input of a rank from element `first` on.
    void input(std::uint32_t rank, std::uint64_t first, std::span<std::uint8_t> bytes) const;
    /// Expected contents of a rank's receive buffer from element `first` on. `bytes` keeps its
    /// value if the rank receives nothing.
    void output(std::uint32_t rank, std::uint64_t first, std::span<std::uint8_t> bytes) const;

private:
    std::uint64_t block_length() const;
    void sum_of_all(std::uint64_t first, std::span<std::uint8_t> result) const;
    void sum(std::uint32_t owner, std::uint64_t first, std::span<std::uint8_t> result) const;
    void sum_of_rings(std::uint32_t owner, std::uint64_t first,
                      std::span<std::uint8_t> result) const;
    std::pair<std::uint64_t, std::uint64_t> summed_block(std::uint32_t owner,
                                                         std::uint64_t element) const;
    void sum_of_domains(std::uint32_t owner, std::uint64_t first,
                        std::span<std::uint8_t> result) const;
    void ring_sum(std::uint32_t owner, std::uint64_t first, std::span<std::uint8_t> result) const;
    void kanga_sum(std::uint32_t owner, std::uint64_t first, std::span<std::uint8_t> result) const;
    void grid_sum(std::uint32_t owner, std::uint64_t first, std::span<std::uint8_t> result) const;
    void doubling_sum(std::uint32_t point, std::uint32_t channel, std::uint32_t steps,
                      std::uint64_t first, std::span<std::uint8_t> result) const;
    void halving_sum(std::uint32_t point, std::uint32_t channel, std::uint32_t steps,
                     std::uint64_t first, std::span<std::uint8_t> result) const;
    std::vector<std::uint32_t> ranks_at(std::uint32_t point) const;
    std::uint32_t side_of(std::uint32_t channel, std::uint32_t step) const;
    std::vector<std::uint32_t> along(std::uint32_t point, std::uint32_t side) const;
    void add(std::span<std::uint8_t> sum,
             const std::vector<std::vector<std::uint8_t>>& operands) const;
    std::vector<std::uint8_t> input_of(std::uint32_t rank, std::uint64_t first,
                                       std::size_t size) const;
    std::uint64_t block_of(std::uint32_t rank, std::uint32_t number) const;
    std::uint32_t position_of(std::uint32_t rank) const;
    std::uint32_t source_of(std::uint32_t rank) const;

    const trn_coll_config& config_;
    trn_coll_grid grid_{};           // of doubling and halving
    std::uint32_t first_rank_ = 0;   // of the whole: rank 0 of a domain
    std::uint32_t first_owner_ = 0;  // of the counts: rank 0 of the domain that owns a block
};

}  // namespace trn

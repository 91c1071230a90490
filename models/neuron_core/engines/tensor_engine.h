// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>

#include "models/neuron_core/engines/execution.h"

namespace trn {

/// The Tensor engine's data path: keeps a stationary tile and multiplies moving tiles by it into
/// PSUM. Rows 21 and 22 of doc/spec/neuron-core.md 8; numbers 3.7 and 3.9, limits 4.1.
class tensor_engine final : public isa::data_path {
public:
    tensor_engine(isa::core_memory& memory, isa::generation generation)
        : memory_(memory), generation_(generation) {}

    isa::outcome execute(const isa::instruction& i, const isa::number_settings& numbers) override;
    void reset() override;

    const engine_misuse& misuse() const { return misuse_; }

private:
    static constexpr unsigned rows = 128, index_group = 32;
    static constexpr unsigned psum_banks = 8;
    static constexpr std::uint32_t bank_bytes = 2048;

    /// Values of a tile for the array: row `products` * k + j holds product j of partition k.
    struct matrix {
        unsigned partitions = 0;
        std::size_t columns = 0;
        unsigned products = 1;      ///< per partition
        bool is_wide = false;       ///< the product is computed in binary64
        std::vector<float> narrow;  ///< unused for MX
        std::vector<double> wide;   ///< for MX, and after widen()

        void widen();
    };
    struct scratch;
    struct stationary {
        bool loaded = false;
        std::uint16_t mode = 0;
        std::uint8_t tile = 0;
        std::uint8_t partition = 0;  ///< first partition of the tile
        std::uint32_t kept = 0;      ///< m of sparse m:n
        numerics::element type{};
        matrix values;
        std::vector<std::uint16_t> partners;  ///< sparse: the dense row of each kept value
        std::vector<std::uint8_t> bits;       ///< transpose: elements, partition by partition
    };

    void load_stationary(execution& e);
    void multiply(execution& e);
    void transpose(execution& e, const stationary& s);
    static void read_matrix(const execution& e, matrix& m);
    void read_tags(const execution& e, stationary& s) const;
    void require_matching(const execution& e, const stationary& s) const;
    static void product(stationary& s, scratch& work);
    /// Calls visit(number of a partition's bank) for each bank that a tile in PSUM may touch.
    template <class Visit>
    static void for_banks(const isa::tile_operand& t, Visit&& visit);
    void note_written(const isa::tile_operand& dst);
    void note_accumulated(const isa::tile_operand& dst);

    isa::core_memory& memory_;
    const isa::generation generation_;
    stationary stationary_;
    engine_misuse misuse_;
    std::bitset<rows * psum_banks> written_;  ///< banks written by a multiply since reset
};

}  // namespace trn

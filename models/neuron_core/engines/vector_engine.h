// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/neuron_core/engines/lane_engine.h"
#include "models/neuron_isa/numerics/random.h"

namespace trn {

/// The Vector engine's data path: 128 lanes in four quadrants, with accumulators, match registers
/// and random generators. Rows 23 to 51 of doc/spec/neuron-core.md 8.4.
class vector_engine final : public lane_engine {
public:
    vector_engine(isa::core_memory& memory, isa::generation generation);
    void reset() override;

private:
    static constexpr unsigned matches = 8;

    void run(execution& e) override;

    void copy_predicated(execution& e);
    void scalar_tensor_tensor(execution& e);
    void tensor_reduce(execution& e);
    void bitvec_reduce(execution& e);
    void tensor_scalar_cumulative(execution& e);
    void tensor_tensor_scan(execution& e);
    void transpose_32(execution& e);
    void shuffle(execution& e);
    void exponential(execution& e);
    void bn_stats(execution& e);
    void bn_aggr(execution& e);
    void max8(execution& e);
    void match_load(execution& e);
    void find_index8(execution& e);
    void match_replace8(execution& e);
    void range_select(execution& e);
    void select_reduce(execution& e);
    void dropout(execution& e);
    void rng(execution& e);
    void rand2(execution& e);
    void set_rng_seed(execution& e);
    void rand_set_state(execution& e);
    void rand_get_state(execution& e);
    void quantize_mx(execution& e);

    /// DST = chosen elements of A, else `other`. Keeps A's bits where types agree (spec 20.24);
    /// accumulators take the values. `choose(lane, x, taken)` sets taken[j] for each element.
    template <class Choose>
    void select(execution& e, const scalar_values& other, Choose&& choose);

    bool has_xorwow() const { return generation_ == isa::generation::v4; }
    /// The random number for element `j` of an instruction.
    std::uint32_t random(unsigned lane, std::size_t j);

    std::array<std::array<float, matches>, lanes> match_{};
    std::array<numerics::lfsr, lanes> lfsr_;
    std::array<std::array<numerics::xorwow, 4>, lanes> xorwow_;
};

}  // namespace trn

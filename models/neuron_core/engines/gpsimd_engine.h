// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/neuron_core/engines/lane_engine.h"
#include "models/neuron_isa/numerics/random.h"

namespace trn {

/// The GPSIMD engine's data path: eight processors of 16 partitions each. AWS implements its
/// instructions as kernels; the model executes them natively. Rows 23, 24, 26, 27, 47, 50 and 55 to
/// 63 of doc/spec/neuron-core.md 8.
class gpsimd_engine final : public lane_engine {
public:
    gpsimd_engine(isa::core_memory& memory, isa::generation generation);
    void reset() override;

private:
    static constexpr unsigned processor_partitions = 16;

    void run(execution& e) override;
    bool computes_integers() const override { return true; }

    void rng(execution& e);
    void rand_set_state(execution& e);
    void rand_get_state(execution& e);
    void iota(execution& e);
    void affine_select(execution& e);
    void local_gather(execution& e);
    void gather_n(execution& e);
    void partition_reduce(execution& e);
    void sequence_bounds(execution& e);
    void nonzero_count(execution& e);
    void topk(execution& e);

    std::array<numerics::xorwow, lanes> xorwow_;
};

}  // namespace trn

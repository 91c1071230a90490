// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "models/neuron_core/engines/lane_engine.h"

namespace trn {

/// The Scalar engine's data path: functions of data x scale + bias in 128 lanes, with accumulators.
/// Rows 23, 27, 33, 52 and 53 of doc/spec/neuron-core.md 8. LOAD_TABLE only takes time.
class scalar_engine final : public lane_engine {
public:
    /// `outside_is_nan`: a function outside the range for which AWS promises results gives NaN
    /// instead of its ideal value (spec 3.6).
    scalar_engine(isa::core_memory& memory, isa::generation generation, bool outside_is_nan = false)
        : lane_engine(memory, generation), outside_is_nan_(outside_is_nan) {}

private:
    void run(execution& e) override;
    bool copies_through_fp32() const override { return generation_ == isa::generation::v2; }
    void activate(execution& e);
    void activate2(execution& e);
    void apply_function(const execution& e, float* x, std::size_t count, float parameter);

    const bool outside_is_nan_;
    std::vector<std::size_t> outside_;  // indices of one row's elements
};

}  // namespace trn

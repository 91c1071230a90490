// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/engines/lane_engine.h"

namespace trn {

/// The Scalar engine's data path: functions of data x scale + bias in 128 lanes, with accumulators.
/// Rows 23, 27, 33, 52 and 53 of doc/spec/neuron-core.md 8. LOAD_TABLE only takes time.
class scalar_engine final : public lane_engine {
public:
    using lane_engine::lane_engine;

private:
    void run(execution& e) override;
    bool copies_through_fp32() const override { return generation_ == isa::generation::v2; }
    void activate(execution& e);
    void activate2(execution& e);
    void apply_function(const execution& e, float* x, std::size_t count, float parameter);
};

}  // namespace trn

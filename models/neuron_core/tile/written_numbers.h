// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/neuron_isa/instructions/data_path.h"
#include "models/neuron_isa/numerics/elements.h"

namespace trn {

/// The numbers that one instruction writes, as FP_CONFIG demands (NeuronCore spec 3.2, 10.1).
class written_numbers {
public:
    explicit written_numbers(const isa::number_settings& settings) : settings_(settings) {}

    /// Converts FP32 values to elements of `type`, with canonical NaNs. `position`: of the first
    /// element, for stochastic rounding.
    void convert(numerics::element type, const float* values, std::size_t count,
                 std::uint32_t position, std::uint8_t* destination) const;
    /// Whether detect() has an effect on elements of `type`.
    bool detects(numerics::element type) const {
        return (settings_.nan_detect || settings_.inf_detect) && !numerical_ && has_nan(type);
    }
    /// Looks for a NaN or Inf that the settings detect.
    void detect(numerics::element type, const std::uint8_t* bits, std::size_t count);
    /// Whether one was written.
    bool numerical() const { return numerical_; }

private:
    static bool has_nan(numerics::element type);

    const isa::number_settings settings_;
    bool numerical_ = false;
};

}  // namespace trn

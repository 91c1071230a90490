// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/neuron_isa/numerics/matmul_shape.h"

/// The matmuls of matmul.h for hosts with fused multiply-add; NaNs in results are not canonical. On
/// other hosts, each returns false and does nothing.
namespace trn::numerics::fused {

bool narrow(const matmul_shape& shape, const float* a, const float* b, float* out);
bool sparse(const matmul_shape& shape, const float* a, const std::uint16_t* rows, const float* b,
            float* out);
bool wide(const matmul_shape& shape, std::size_t products, const double* a, const double* b,
          float* out);

}  // namespace trn::numerics::fused

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/neuron_isa/numerics/matmul_shape.h"

/// Products of the Tensor engine's array (doc/spec/neuron-core.md 3.7): for every output
///
///     acc = +0;  for k = 0, 1, ...:  acc = RN32(RN64(acc + q_k))
///
/// with q_k the product of step k, or the sum of its 2 or 4 products in binary64 from left to
/// right, each addition rounded once. Order and roundings are known_by: invented. The results are
/// the same on every host; NaNs are canonical.
namespace trn::numerics {

/// Precondition: operands have at most 24 bits and their products are exact in 48 bits, as for all
/// types but FP32 (TF32, BF16, FP16, FP8 after decoding). One product per step.
void matmul_narrow(const matmul_shape& shape, const float* a, const float* b, float* out);
/// As above, but row k of `a` is multiplied by row rows[k * a_pitch + m] of `b` in column m
/// (sparse).
void matmul_sparse(const matmul_shape& shape, const float* a, const std::uint16_t* rows,
                   const float* b, float* out);
/// `products` (1, 2 or 4) per step: rows products * k ... products * k + products - 1 of `a` and
/// `b` are multiplied. For FP32, double row, and MX with its scales applied.
void matmul_wide(const matmul_shape& shape, std::size_t products, const double* a, const double* b,
                 float* out);

/// Computes the definition literally, output by output: for hosts without fused multiply-add, and
/// as the reference of tests.
void matmul_plain(const matmul_shape& shape, std::size_t products, const double* a, const double* b,
                  float* out);

}  // namespace trn::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace trn::numerics {

/// out[m][n] = sum over k of a[k][m] b[k][n]. Pitches are elements from row to row.
struct matmul_shape {
    std::size_t k, m, n;
    std::size_t a_pitch, b_pitch, out_pitch;
};

}  // namespace trn::numerics

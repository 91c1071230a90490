// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/matmul.h"

#include <vector>

#include "models/neuron_isa/numerics/matmul_fused.h"
#include "models/neuron_isa/numerics/numerics.h"

namespace trn::numerics {

namespace {

template <class T, class Partner>
void plain(const matmul_shape& s, std::size_t products, const T* a, float* out, Partner partner) {
    std::vector<double> acc(s.n);
    for (std::size_t m = 0; m < s.m; ++m) {
        acc.assign(s.n, 0.0);
        for (std::size_t k = 0; k < s.k; ++k)
            for (std::size_t n = 0; n < s.n; ++n) {
                double q = 0;
                for (std::size_t i = 0; i < products; ++i) {
                    const std::size_t row = k * products + i;
                    const double product = static_cast<double>(a[row * s.a_pitch + m]) *
                                           static_cast<double>(partner(row, m)[n]);
                    q = i == 0 ? product : q + product;
                }
                acc[n] = static_cast<float>(acc[n] + q);
            }
        for (std::size_t n = 0; n < s.n; ++n) out[m * s.out_pitch + n] = static_cast<float>(acc[n]);
    }
}

void make_canonical(const matmul_shape& s, float* out) {
    for (std::size_t m = 0; m < s.m; ++m) make_nans_canonical(out + m * s.out_pitch, s.n);
}

}  // namespace

void matmul_narrow(const matmul_shape& s, const float* a, const float* b, float* out) {
    if (!fused::narrow(s, a, b, out))
        plain(s, 1, a, out, [&](std::size_t k, std::size_t) { return b + k * s.b_pitch; });
    make_canonical(s, out);
}

void matmul_sparse(const matmul_shape& s, const float* a, const std::uint16_t* rows, const float* b,
                   float* out) {
    if (!fused::sparse(s, a, rows, b, out))
        plain(s, 1, a, out, [&](std::size_t k, std::size_t m) {
            return b + rows[k * s.a_pitch + m] * s.b_pitch;
        });
    make_canonical(s, out);
}

void matmul_wide(const matmul_shape& s, std::size_t products, const double* a, const double* b,
                 float* out) {
    if (!fused::wide(s, products, a, b, out)) return matmul_plain(s, products, a, b, out);
    make_canonical(s, out);
}

void matmul_plain(const matmul_shape& s, std::size_t products, const double* a, const double* b,
                  float* out) {
    plain(s, products, a, out, [&](std::size_t k, std::size_t) { return b + k * s.b_pitch; });
    make_canonical(s, out);
}

}  // namespace trn::numerics

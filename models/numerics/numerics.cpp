// SPDX-License-Identifier: Apache-2.0
#include "models/numerics/numerics.h"

#include <algorithm>
#include <array>

#include "models/numerics/element_formats.h"
#include "models/numerics/wide_vectors.h"

namespace trn::numerics {

using formats::with;

namespace {

// ---- reductions

/// sum[i] = combine(sum[i], element i)
template <class Combine>
void accumulate(element type, const std::uint8_t* from, float* sum, std::size_t count,
                Combine&& combine) {
    with(type, [&](auto format) {
        using f = decltype(format);
        for (std::size_t i = 0; i < count; ++i)
            sum[i] = combine(sum[i], f::get(from + i * f::size));
    });
}

/// NaN wins over numbers, the first of equals over the others.
bool displaces(bool better, float a, float b) {
    return better | ((b != b) & (a == a));
}

void add_operand(const reduction& r, const std::uint8_t* from, std::size_t which, float* sum,
                 std::size_t count) {
    switch (r.op) {
    case operation::cast:
        return;
    case operation::add:
        return accumulate(r.from, from, sum, count, [](float a, float b) { return a + b; });
    case operation::scaled_add:
        return accumulate(r.from, from, sum, count,
                          [scale = r.scales[which]](float a, float b) { return a + scale * b; });
    case operation::min:
        return accumulate(r.from, from, sum, count,
                          [](float a, float b) { return displaces(b < a, a, b) ? b : a; });
    case operation::max:
        return accumulate(r.from, from, sum, count,
                          [](float a, float b) { return displaces(b > a, a, b) ? b : a; });
    }
}

}  // namespace

TRN_WIDE_VECTORS
void decode(element type, const std::uint8_t* from, float* to, std::size_t count) {
    with(type, [&](auto format) {
        using f = decltype(format);
        for (std::size_t i = 0; i < count; ++i) to[i] = f::get(from + i * f::size);
    });
}

TRN_WIDE_VECTORS
void encode(element type, const float* from, std::uint8_t* to, std::size_t count,
            const rounding& how, std::uint32_t position) {
    with(type, [&](auto format) { format.put(from, to, count, how, position); });
}

TRN_WIDE_VECTORS
void make_nans_canonical(float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        values[i] = values[i] == values[i] ? values[i] : formats::canonical_nan;
}

TRN_WIDE_VECTORS
void reduce(const reduction& r, std::span<const std::uint8_t* const> operands, std::uint8_t* result,
            std::size_t count) {
    constexpr std::size_t run = 128;  // elements: the sums stay in the cache nearest to the core
    std::array<float, run> sum;
    const std::size_t step = size_of(r.from);
    // Operands come from far apart and most are in no cache: all of them are under way while the
    // elements before are added.
    constexpr std::size_t ahead = 1024;  // bytes
    const auto prefetch = [&](std::size_t first, std::size_t bytes) {
        const std::size_t last = std::min(first + bytes, count * step);
        for (std::size_t line = first; line < last; line += 64)
            for (const std::uint8_t* operand : operands) __builtin_prefetch(operand + line);
    };
    prefetch(0, ahead);
    for (std::size_t done = 0; done < count; done += run) {
        const std::size_t n = std::min(run, count - done);
        prefetch(done * step + ahead, run * step);
        decode(r.from, operands[0] + done * step, sum.data(), n);
        if (r.op == operation::scaled_add)
            for (std::size_t i = 0; i < n; ++i) sum[i] *= r.scales[0];
        for (std::size_t k = 1; k < operands.size(); ++k)
            add_operand(r, operands[k] + done * step, k, sum.data(), n);
        if (r.op == operation::add || r.op == operation::scaled_add)
            make_nans_canonical(sum.data(), n);
        encode(r.to, sum.data(), result + done * size_of(r.to), n, r.how,
               static_cast<std::uint32_t>(done));
    }
}

}  // namespace trn::numerics

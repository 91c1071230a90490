// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/numerics.h"

#include <algorithm>
#include <array>

#include "models/neuron_isa/numerics/element_formats.h"
#include "models/neuron_isa/numerics/wide_vectors.h"

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

/// Prefers NaN to numbers, and `a` to an equal `b`; `better`: whether b is to replace a.
bool displaces(bool better, float a, float b) {
    return better | ((b != b) & (a == a));
}

/// A function of its own, so that its loops are not compiled into each caller.
TRN_WIDE_VECTORS [[gnu::noinline]] void add_operand(const reduction& r, const std::uint8_t* from,
                                                    std::size_t which, float* sum,
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

// ---- sums of BF16 to nearest: most data of collectives

/// Bits of `sum`, of which the upper half is the rounded BF16. Overflow carries into infinity.
std::uint32_t rounded_to_bf16(float sum) {
    const auto bits = std::bit_cast<std::uint32_t>(sum);
    const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return sum == sum ? rounded : std::bit_cast<std::uint32_t>(formats::canonical_nan);
}

/// Adds `Operands` runs of pairs of BF16 in one pass: both halves of a word become FP32 in place,
/// and the sums stay in registers. Precondition: `result` is an operand or overlaps none.
template <std::size_t Operands>
void add_pairs(const std::uint8_t* const* operands, std::size_t first, std::uint8_t* result,
               std::size_t pairs) {
    std::array<const std::uint8_t*, Operands> from;
    for (std::size_t k = 0; k < Operands; ++k) from[k] = operands[k] + first;
    std::uint8_t* const to = result + first;
#pragma GCC ivdep
    for (std::size_t i = 0; i < pairs; ++i) {
        constexpr std::uint32_t upper = 0xffff'0000;
        const auto pair = load<std::uint32_t>(from[0] + 4 * i);
        auto low = std::bit_cast<float>(pair << 16), high = std::bit_cast<float>(pair & upper);
        for (std::size_t k = 1; k < Operands; ++k) {
            const auto other = load<std::uint32_t>(from[k] + 4 * i);
            low += std::bit_cast<float>(other << 16);
            high += std::bit_cast<float>(other & upper);
        }
        store(to + 4 * i, (rounded_to_bf16(high) & upper) | rounded_to_bf16(low) >> 16);
    }
}

/// Whether add_pairs() supports the sum; otherwise the general loop computes it.
bool sums_pairs(const reduction& r, std::size_t operands) {
    return r.op == operation::add && r.from == element::bf16 && r.to == element::bf16 &&
           !r.how.stochastic && !r.how.saturate && operands >= 2 && operands <= 6;
}

/// Precondition: sums_pairs().
void add_pairs(std::span<const std::uint8_t* const> operands, std::size_t first,
               std::uint8_t* result, std::size_t pairs) {
    switch (operands.size()) {
    case 2:
        return add_pairs<2>(operands.data(), first, result, pairs);
    case 3:
        return add_pairs<3>(operands.data(), first, result, pairs);
    case 4:
        return add_pairs<4>(operands.data(), first, result, pairs);
    case 5:
        return add_pairs<5>(operands.data(), first, result, pairs);
    default:
        return add_pairs<6>(operands.data(), first, result, pairs);
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
void encode_canonical(element type, const float* from, std::uint8_t* to, std::size_t count,
                      const rounding& how, std::uint32_t position) {
    if (type == element::bf16 && !how.saturate && !how.stochastic) {
        for (std::size_t i = 0; i < count; ++i)
            store(to + i * 2, static_cast<std::uint16_t>(rounded_to_bf16(from[i]) >> 16));
        return;
    }
    if (type == element::fp32 && !how.saturate) {
        for (std::size_t i = 0; i < count; ++i)
            store(to + i * 4, from[i] == from[i] ? from[i] : formats::canonical_nan);
        return;
    }
    constexpr std::size_t run = 512;  // elements
    std::array<float, run> values;
    for (std::size_t done = 0; done < count; done += run) {
        const std::size_t n = std::min(run, count - done);
        for (std::size_t i = 0; i < n; ++i)
            values[i] = from[done + i] == from[done + i] ? from[done + i] : formats::canonical_nan;
        encode(type, values.data(), to + done * size_of(type), n, how,
               position + static_cast<std::uint32_t>(done));
    }
}

TRN_WIDE_VECTORS
void reduce(const reduction& r, std::span<const std::uint8_t* const> operands, std::uint8_t* result,
            std::size_t count) {
    constexpr std::size_t run = 128;  // elements; their sums fit into the L1 cache
    std::array<float, run> sum;
    const std::size_t step = size_of(r.from);
    // Most operands are in no cache: prefetch all of them while earlier elements are added.
    constexpr std::size_t ahead = 1024;  // bytes
    const auto prefetch = [&](std::size_t first, std::size_t bytes) {
        const std::size_t last = std::min(first + bytes, count * step);
        for (const std::uint8_t* operand : operands)
            for (std::size_t line = first; line < last; line += 64)
                __builtin_prefetch(operand + line);
    };
    prefetch(0, ahead);
    std::size_t done = 0;
    if (sums_pairs(r, operands.size()))
        for (const std::size_t whole = count & ~std::size_t{1}; done < whole;) {
            const std::size_t n = std::min(4 * run, whole - done);
            prefetch(done * step + ahead, n * step);
            add_pairs(operands, done * step, result, n / 2);
            done += n;
        }
    for (; done < count; done += run) {
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

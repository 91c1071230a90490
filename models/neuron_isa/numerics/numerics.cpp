// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/numerics.h"

#include <algorithm>
#include <array>

#include "models/neuron_isa/numerics/element_formats.h"
#include "models/neuron_isa/numerics/wide_vectors.h"

namespace trn::numerics {

using formats::visit_format;

namespace {

// ---- reductions

/// sum[i] = combine(sum[i], element i)
template <class Combine>
void accumulate(element type, const std::uint8_t* source, float* sum, std::size_t count,
                Combine&& combine) {
    visit_format(type, [&](auto format) {
        using f = decltype(format);
        for (std::size_t i = 0; i < count; ++i)
            sum[i] = combine(sum[i], f::get(source + i * f::size));
    });
}

/// Prefers NaN to numbers, and `a` to an equal `b`; `better`: whether b is to replace a.
bool displaces(bool better, float a, float b) {
    return better | ((b != b) & (a == a));
}

/// A function of its own, so that its loops are not compiled into each caller.
TRN_WIDE_VECTORS [[gnu::noinline]] void add_operand(const reduction& r, const std::uint8_t* operand,
                                                    std::size_t index, float* sum,
                                                    std::size_t count) {
    switch (r.op) {
    case operation::cast:
        return;
    case operation::add:
        return accumulate(r.source_type, operand, sum, count,
                          [](float a, float b) { return a + b; });
    case operation::scaled_add:
        return accumulate(r.source_type, operand, sum, count,
                          [scale = r.scales[index]](float a, float b) { return a + scale * b; });
    case operation::min:
        return accumulate(r.source_type, operand, sum, count,
                          [](float a, float b) { return displaces(b < a, a, b) ? b : a; });
    case operation::max:
        return accumulate(r.source_type, operand, sum, count,
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
    std::array<const std::uint8_t*, Operands> sources;
    for (std::size_t k = 0; k < Operands; ++k) sources[k] = operands[k] + first;
    std::uint8_t* const destination = result + first;
#pragma GCC ivdep
    for (std::size_t i = 0; i < pairs; ++i) {
        constexpr std::uint32_t upper = 0xffff'0000;
        const auto pair = load<std::uint32_t>(sources[0] + 4 * i);
        auto low = std::bit_cast<float>(pair << 16), high = std::bit_cast<float>(pair & upper);
        for (std::size_t k = 1; k < Operands; ++k) {
            const auto other = load<std::uint32_t>(sources[k] + 4 * i);
            low += std::bit_cast<float>(other << 16);
            high += std::bit_cast<float>(other & upper);
        }
        store(destination + 4 * i, (rounded_to_bf16(high) & upper) | rounded_to_bf16(low) >> 16);
    }
}

/// Whether add_pairs() supports the sum; otherwise the general loop computes it.
bool sums_pairs(const reduction& r, std::size_t operands) {
    return r.op == operation::add && r.source_type == element::bf16 &&
           r.result_type == element::bf16 && !r.mode.stochastic && !r.mode.saturate &&
           operands >= 2 && operands <= 6;
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
void decode(element type, const std::uint8_t* source, float* destination, std::size_t count) {
    visit_format(type, [&](auto format) {
        using f = decltype(format);
        for (std::size_t i = 0; i < count; ++i) destination[i] = f::get(source + i * f::size);
    });
}

TRN_WIDE_VECTORS
void encode(element type, const float* source, std::uint8_t* destination, std::size_t count,
            const rounding& mode, std::uint32_t position) {
    visit_format(type,
                 [&](auto format) { format.put(source, destination, count, mode, position); });
}

TRN_WIDE_VECTORS
void make_nans_canonical(float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        values[i] = values[i] == values[i] ? values[i] : formats::canonical_nan;
}

TRN_WIDE_VECTORS
void encode_canonical(element type, const float* source, std::uint8_t* destination,
                      std::size_t count, const rounding& mode, std::uint32_t position) {
    if (type == element::bf16 && !mode.saturate && !mode.stochastic) {
        for (std::size_t i = 0; i < count; ++i)
            store(destination + i * 2,
                  static_cast<std::uint16_t>(rounded_to_bf16(source[i]) >> 16));
        return;
    }
    if (type == element::fp32 && !mode.saturate) {
        for (std::size_t i = 0; i < count; ++i)
            store(destination + i * 4, source[i] == source[i] ? source[i] : formats::canonical_nan);
        return;
    }
    constexpr std::size_t run = 512;  // elements
    std::array<float, run> values;
    for (std::size_t done = 0; done < count; done += run) {
        const std::size_t n = std::min(run, count - done);
        for (std::size_t i = 0; i < n; ++i)
            values[i] =
                source[done + i] == source[done + i] ? source[done + i] : formats::canonical_nan;
        encode(type, values.data(), destination + done * size_of(type), n, mode,
               position + static_cast<std::uint32_t>(done));
    }
}

TRN_WIDE_VECTORS
void reduce(const reduction& r, std::span<const std::uint8_t* const> operands, std::uint8_t* result,
            std::size_t count) {
    constexpr std::size_t run = 128;  // elements; their sums fit into the L1 cache
    std::array<float, run> sum;
    const std::size_t step = size_of(r.source_type);
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
        decode(r.source_type, operands[0] + done * step, sum.data(), n);
        if (r.op == operation::scaled_add)
            for (std::size_t i = 0; i < n; ++i) sum[i] *= r.scales[0];
        for (std::size_t k = 1; k < operands.size(); ++k)
            add_operand(r, operands[k] + done * step, k, sum.data(), n);
        if (r.op == operation::add || r.op == operation::scaled_add)
            make_nans_canonical(sum.data(), n);
        encode(r.result_type, sum.data(), result + done * size_of(r.result_type), n, r.mode,
               static_cast<std::uint32_t>(done));
    }
}

}  // namespace trn::numerics

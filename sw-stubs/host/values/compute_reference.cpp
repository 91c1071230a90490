// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/values/compute_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace trn::reference {

namespace {

struct format {
    unsigned bytes;
    int exponent_bits, mantissa_bits;  // exponent_bits 0: integer
    bool has_infinity, is_signed;
};

format format_of(trn_element type) {
    switch (type) {
    case TRN_FP32:
        return {4, 8, 23, true, true};
    case TRN_TF32:
        return {4, 8, 10, true, true};
    case TRN_BF16:
        return {2, 8, 7, true, true};
    case TRN_FP16:
        return {2, 5, 10, true, true};
    case TRN_FP8_E3M4:
        return {1, 3, 4, true, true};
    case TRN_FP8_E4M3:
        return {1, 4, 3, true, true};
    case TRN_FP8_E4M3FN:
        return {1, 4, 3, false, true};
    case TRN_FP8_E5M2:
        return {1, 5, 2, true, true};
    case TRN_INT8:
        return {1, 0, 0, false, true};
    case TRN_UINT8:
        return {1, 0, 0, false, false};
    case TRN_INT16:
        return {2, 0, 0, false, true};
    case TRN_UINT16:
        return {2, 0, 0, false, false};
    case TRN_INT32:
        return {4, 0, 0, false, true};
    case TRN_UINT32:
        return {4, 0, 0, false, false};
    }
    return {1, 0, 0, false, false};
}

/// Layout of a floating-point format. TF32 uses the upper bits of its word.
struct layout {
    explicit layout(const format& f)
        : mantissa(f.mantissa_bits),
          bias((1 << (f.exponent_bits - 1)) - 1),
          unused(static_cast<int>(f.bytes) * 8 - 1 - f.exponent_bits - f.mantissa_bits),
          sign(1u << (f.exponent_bits + f.mantissa_bits)),
          top(((1u << f.exponent_bits) - 1) << f.mantissa_bits),
          beyond(f.has_infinity ? top : sign - 1) {}

    int mantissa, bias, unused;
    std::uint32_t sign;
    std::uint32_t top;     // exponent of all ones
    std::uint32_t beyond;  // the first magnitude that is not finite

    double value(std::uint32_t magnitude) const {
        const auto exponent = static_cast<int>(magnitude >> mantissa);
        const double fraction =
            std::ldexp(magnitude & ((1u << mantissa) - 1), -mantissa) + (exponent > 0 ? 1 : 0);
        return std::ldexp(fraction, std::max(exponent, 1) - bias);
    }
};

double decode_float(const format& f, std::uint32_t word) {
    const layout l(f);
    const std::uint32_t code = word >> l.unused, magnitude = code & (l.sign - 1);
    double value = l.value(magnitude);
    if (magnitude >= l.beyond)
        value = f.has_infinity && magnitude == l.top && (word & ((1u << l.unused) - 1)) == 0
                    ? std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::quiet_NaN();
    return (code & l.sign) != 0 ? -value : value;
}

std::uint32_t encode_float(const format& f, double value, bool saturate,
                           const std::uint32_t* random) {
    const layout l(f);
    const std::uint32_t sign = std::signbit(value) ? l.sign : 0;
    const std::uint32_t too_large = saturate ? l.beyond - 1 : l.beyond;
    const std::uint32_t nan = f.has_infinity ? l.top | 1u << (l.mantissa - 1) : l.beyond;
    std::uint32_t code = 0;
    if (std::isnan(value)) {
        code = nan;
    } else if (std::isinf(value)) {
        code = sign | too_large;
    } else if (value != 0) {
        const double magnitude = std::fabs(value);
        const int exponent = std::max(std::ilogb(magnitude), 1 - l.bias);
        const double steps = std::ldexp(magnitude, l.mantissa - exponent);
        double whole = random != nullptr ? std::floor(steps) : std::nearbyint(steps);
        if (random != nullptr && std::floor(std::ldexp(steps - whole, 32)) > *random) ++whole;
        const auto base = static_cast<double>(exponent + l.bias - 1) * std::ldexp(1, l.mantissa);
        const double place = base + whole;
        code = sign | (place >= l.beyond ? too_large : static_cast<std::uint32_t>(place));
    } else {
        code = sign;
    }
    return code << l.unused;
}

std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t offset, unsigned size) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + offset, size);
    return word;
}

float combined(trn_compute_operation operation, float a, float b) {
    if (operation != TRN_COMPUTE_MIN && operation != TRN_COMPUTE_MAX) {
        volatile float sum = a + b;
        return sum;
    }
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
    return (operation == TRN_COMPUTE_MIN ? b < a : b > a) ? b : a;
}

std::vector<std::uint8_t> computed(const trn_compute_packet& p,
                                   std::span<const std::uint8_t> sources,
                                   std::span<const std::uint8_t> before) {
    const unsigned source_size = element_size(p.from), result_size = element_size(p.to);
    const std::size_t length = sources.size() / p.operands, count = length / source_size;
    std::vector<std::uint8_t> out(count * result_size);
    for (std::size_t i = 0; i < count; ++i) {
        const auto operand = [&](std::size_t k) {
            const auto value = static_cast<float>(
                decode(p.from, word_at(sources, k * length + i * source_size, source_size)));
            volatile float scaled = value * (p.scales != nullptr ? p.scales[k] : 1);
            return p.operation == TRN_COMPUTE_SCALED_ADD ? scaled : value;
        };
        float sum = operand(0);
        if ((p.flags & TRN_COMPUTE_ACCUMULATE) != 0)
            sum = combined(
                p.operation,
                static_cast<float>(decode(p.to, word_at(before, i * result_size, result_size))),
                sum);
        for (std::size_t k = 1; k < p.operands; ++k) sum = combined(p.operation, sum, operand(k));
        const std::uint32_t random = random_word(p.parameter, static_cast<std::uint32_t>(i));
        const std::uint32_t word =
            encode(p.to, sum, (p.flags & TRN_COMPUTE_SATURATE) != 0,
                   (p.flags & TRN_COMPUTE_STOCHASTIC) != 0 ? &random : nullptr);
        std::memcpy(out.data() + i * result_size, &word, result_size);
    }
    return out;
}

std::vector<std::uint8_t> transposed(const trn_compute_packet& p,
                                     std::span<const std::uint8_t> sources) {
    const std::size_t rows = p.parameter & 0xffff, columns = p.parameter >> 16;
    const unsigned size = element_size(p.from);
    std::vector<std::uint8_t> out(sources.size());
    for (std::size_t i = 0; i < rows * columns; ++i)
        std::copy_n(
            sources.begin() + static_cast<std::ptrdiff_t>(i * size), size,
            out.begin() + static_cast<std::ptrdiff_t>((i % columns * rows + i / columns) * size));
    return out;
}

/// Gather: elements of the table that follows the indices. Scatter: `before` with replaced
/// elements.
std::vector<std::uint8_t> moved(const trn_compute_packet& p, std::span<const std::uint8_t> sources,
                                std::span<const std::uint8_t> before) {
    const bool gathers = p.operation == TRN_COMPUTE_GATHER;
    const std::size_t index_bytes = p.sources[0].size, count = index_bytes / 4;
    const std::size_t size = gathers ? p.sources[1].size : p.destinations[0].size;
    const auto data = sources.subspan(index_bytes);
    std::vector<std::uint8_t> out(before.begin(), before.end());
    if (gathers) out.assign(count * size, 0);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t index = word_at(sources, i * 4, 4);
        if (index >= p.parameter) continue;
        const std::size_t source = gathers ? index : i, destination = gathers ? i : index;
        std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(source * size), size,
                    out.begin() + static_cast<std::ptrdiff_t>(destination * size));
    }
    return out;
}

}  // namespace

unsigned element_size(trn_element type) {
    return format_of(type).bytes;
}

double decode(trn_element type, std::uint32_t code) {
    const format f = format_of(type);
    if (f.exponent_bits > 0) return decode_float(f, code);
    const double whole = code;
    const double range = std::ldexp(1, static_cast<int>(f.bytes) * 8);
    const bool negative = f.is_signed && whole >= range / 2;
    return negative ? whole - range : whole;
}

std::uint32_t encode(trn_element type, double value, bool saturate, const std::uint32_t* random) {
    const format f = format_of(type);
    if (f.exponent_bits > 0) return encode_float(f, value, saturate, random);
    if (std::isnan(value)) return 0;
    const double range = std::ldexp(1, static_cast<int>(f.bytes) * 8);
    const double min = f.is_signed ? -range / 2 : 0;
    const double whole = std::nearbyint(std::clamp(value, min, min + range - 1));
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(whole) &
                                      static_cast<std::int64_t>(range - 1));
}

std::uint32_t random_word(std::uint32_t seed, std::uint32_t position) {
    std::uint64_t z = (std::uint64_t{seed} << 32) + position + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

std::vector<std::uint8_t> result_of(const trn_compute_packet& packet,
                                    std::span<const std::uint8_t> sources,
                                    std::span<const std::uint8_t> before) {
    switch (packet.operation) {
    case TRN_COMPUTE_COPY:
        return {sources.begin(), sources.end()};
    case TRN_COMPUTE_TRANSPOSE:
        return transposed(packet, sources);
    case TRN_COMPUTE_GATHER:
    case TRN_COMPUTE_SCATTER:
        return moved(packet, sources, before);
    default:
        return computed(packet, sources, before);
    }
}

std::optional<std::string> difference(trn_element type, std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found) {
    const unsigned size = element_size(type);
    for (std::size_t offset = 0; offset + size <= expected.size(); offset += size) {
        const auto a = word_at(expected, offset, size), b = word_at(found, offset, size);
        const double x = decode(type, a), y = decode(type, b);
        if (a != b && !(std::isnan(x) && std::isnan(y)))
            return fmt::format("element {} is {:#x} ({}) instead of {:#x} ({})", offset / size, b,
                               y, a, x);
    }
    return std::nullopt;
}

}  // namespace trn::reference

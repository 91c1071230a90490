// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/native_calls.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "models/neuron_isa/instructions/native_functions.h"

namespace trn {

using numerics::element;

namespace {

/// One partition of a tile: bit patterns, and their values. Binary64 represents every element type
/// exactly.
struct row {
    std::vector<std::uint8_t> bits;
    std::vector<double> values;

    std::size_t size() const { return values.size(); }
};

row read(const tile& t, unsigned partition) {
    row r;
    const std::size_t n = t.elements();
    r.bits.resize(n * t.element_bytes());
    t.read(partition, r.bits.data());
    r.values.resize(n);
    if (t.type() == element::int32 || t.type() == element::uint32) {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t word;
            std::memcpy(&word, r.bits.data() + 4 * i, sizeof word);
            r.values[i] = t.type() == element::int32
                              ? static_cast<double>(static_cast<std::int32_t>(word))
                              : static_cast<double>(word);
        }
    } else {
        std::vector<float> reals(n);
        numerics::decode(t.type(), r.bits.data(), reals.data(), n);
        std::ranges::copy(reals, r.values.begin());
    }
    return r;
}

/// x < y, with NaN below every number.
bool below(double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && !std::isnan(y);
    return x < y;
}

std::vector<std::uint32_t> sorted(const row& r, bool descending) {
    std::vector<std::uint32_t> order(r.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](std::uint32_t l, std::uint32_t k) {
        return descending ? below(r.values[k], r.values[l]) : below(r.values[l], r.values[k]);
    });
    return order;
}

std::vector<std::uint8_t> picked(const row& r, const std::vector<std::uint32_t>& order,
                                 unsigned size) {
    std::vector<std::uint8_t> bits(order.size() * size);
    for (std::size_t i = 0; i < order.size(); ++i)
        std::memcpy(bits.data() + i * size, r.bits.data() + std::size_t{order[i]} * size, size);
    return bits;
}

std::optional<tile> second(execution& e) {
    return e.i.b.present() ? std::optional(e.result_b()) : std::nullopt;
}

void cumulative_sum(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const scalar_values start = e.s0(a.partitions());
    std::vector<float> values(a.elements());
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, values.data());
        float sum = start[p];
        for (float& x : values) x = sum = sum + x;
        e.put(dst, p, values.data());
    }
}

void sort(execution& e, bool descending) {
    const tile a = e.source_a();
    tile dst = e.destination();
    std::optional<tile> indices = second(e);
    for (unsigned p = 0; p < a.partitions(); ++p) {
        const row r = read(a, p);
        const auto order = sorted(r, descending);
        e.put_bits(dst, p, picked(r, order, a.element_bytes()).data());
        if (indices) e.put_bits(*indices, p, order.data());
    }
}

void index_of_extreme(execution& e, bool largest) {
    const tile a = e.source_a();
    tile dst = e.destination();
    for (unsigned p = 0; p < a.partitions(); ++p) {
        const row r = read(a, p);
        std::optional<std::uint32_t> best;
        for (std::uint32_t i = 0; i < r.size(); ++i) {
            if (std::isnan(r.values[i])) continue;
            if (!best || (largest ? r.values[i] > r.values[*best] : r.values[i] < r.values[*best]))
                best = i;
        }
        const std::uint32_t found = best.value_or(0);
        e.put_bits(dst, p, &found);
    }
}

void one_hot(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const scalar_values hot = e.s0(a.partitions(), 1), cold = e.s1(a.partitions(), 0);
    std::vector<float> values(dst.elements());
    for (unsigned p = 0; p < a.partitions(); ++p) {
        const double index = read(a, p).values[0];
        std::ranges::fill(values, cold[p]);
        if (index >= 0 && index < static_cast<double>(values.size()))
            values[static_cast<std::size_t>(index)] = hot[p];
        e.put(dst, p, values.data());
    }
}

void unique(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination(), count = e.result_b();
    const scalar_values padding = e.s0(a.partitions());
    const unsigned size = a.element_bytes();
    for (unsigned p = 0; p < a.partitions(); ++p) {
        const row r = read(a, p);
        auto order = sorted(r, false);
        const auto same = [&](std::uint32_t l, std::uint32_t k) {
            return !below(r.values[l], r.values[k]) && !below(r.values[k], r.values[l]);
        };
        order.erase(std::ranges::unique(order, same).begin(), order.end());
        const auto found = static_cast<std::uint32_t>(order.size());
        std::vector<float> rest(r.size() - found, padding[p]);
        auto bits = picked(r, order, size);
        bits.resize(r.size() * size);
        e.convert(dst.type(), p, rest.size(), rest.data(), bits.data() + std::size_t{found} * size);
        e.put_bits(dst, p, bits.data());
        e.put_bits(count, p, &found);
    }
}

void histogram(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    for (unsigned p = 0; p < a.partitions(); ++p) {
        std::vector<std::uint32_t> counts(dst.elements());
        for (const double x : read(a, p).values)
            if (x >= 0 && x < static_cast<double>(counts.size()))
                ++counts[static_cast<std::size_t>(x)];
        e.put_bits(dst, p, counts.data());
    }
}

void reverse(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const std::size_t size = a.element_bytes(), n = a.elements();
    std::vector<std::uint8_t> forward(n * size), reversed(n * size);
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, forward.data());
        for (std::size_t i = 0; i < n; ++i)
            std::memcpy(reversed.data() + i * size, forward.data() + (n - 1 - i) * size, size);
        e.put_bits(dst, p, reversed.data());
    }
}

}  // namespace

void call_native(execution& e) {
    switch (e.i.imm) {
    case 1:
        return cumulative_sum(e);
    case 2:
        return sort(e, false);
    case 3:
        return sort(e, true);
    case 4:
        return index_of_extreme(e, true);
    case 5:
        return index_of_extreme(e, false);
    case 6:
        return one_hot(e);
    case 7:
        return unique(e);
    case 8:
        return histogram(e);
    case 9:
        return reverse(e);
    default:
        throw isa::fault_of(isa::error::bad_operand, isa::reason::value);
    }
}

}  // namespace trn

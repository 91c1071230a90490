// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/gpsimd_engine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "models/neuron_core/engines/native_calls.h"

namespace trn {

using isa::opcode;
using numerics::alu;
using numerics::element;

namespace {

isa::fault index_outside(isa::operand name, const isa::tile_operand& indices) {
    return {isa::error::indirect_oob, name, indices.place.offset};
}

/// Values of the data pattern for partition `p` of DST (spec 7.5).
std::vector<std::int32_t> pattern_values(const isa::data_pattern& d, unsigned p) {
    std::vector<std::int32_t> values;
    const auto word = [](auto x) { return static_cast<std::uint32_t>(x); };
    const std::uint32_t first = word(d.offset) + p * word(d.multiplier);
    for (std::uint32_t i3 = 0; i3 < d.counts[3]; ++i3)
        for (std::uint32_t i2 = 0; i2 < d.counts[2]; ++i2)
            for (std::uint32_t i1 = 0; i1 < d.counts[1]; ++i1)
                for (std::uint32_t i0 = 0; i0 < d.counts[0]; ++i0)
                    values.push_back(static_cast<std::int32_t>(
                        first + i0 * word(d.steps[0]) + i1 * word(d.steps[1]) +
                        i2 * word(d.steps[2]) + i3 * word(d.steps[3])));
    return values;
}

}  // namespace

gpsimd_engine::gpsimd_engine(isa::core_memory& memory, isa::generation generation)
    : lane_engine(memory, generation) {
    gpsimd_engine::reset();
}

void gpsimd_engine::reset() {
    lane_engine::reset();
    for (unsigned p = 0; p < lanes; ++p) xorwow_[p] = numerics::xorwow(p);
}

void gpsimd_engine::run(execution& e) {
    switch (e.i.opcode) {
    case opcode::copy:
        return copy(e);
    case opcode::memset:
        return memset(e);
    case opcode::tensor_tensor:
        return tensor_tensor(e);
    case opcode::tensor_scalar:
        return tensor_scalar(e);
    case opcode::rng:
        return rng(e);
    case opcode::rand_set_state:
        return rand_set_state(e);
    case opcode::rand_get_state:
        return rand_get_state(e);
    case opcode::iota:
        return iota(e);
    case opcode::affine_select:
        return affine_select(e);
    case opcode::local_gather:
        return local_gather(e);
    case opcode::gather_n:
        return gather_n(e);
    case opcode::partition_reduce:
        return partition_reduce(e);
    case opcode::sequence_bounds:
        return sequence_bounds(e);
    case opcode::nonzero_count:
        return nonzero_count(e);
    case opcode::topk:
        return topk(e);
    case opcode::pool_call:
        return call_native(e);
    default:
        throw isa::fault_of(isa::error::illegal_instruction, isa::reason::opcode);
    }
}

// ---- rows 47 and 50

void gpsimd_engine::rng(execution& e) {
    tile dst = e.destination();
    std::vector<std::uint32_t> row(dst.elements());
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        for (std::uint32_t& x : row) x = xorwow_[p].next();
        e.put_bits(dst, p, row.data());
    }
}

void gpsimd_engine::rand_set_state(execution& e) {
    const tile a = e.source_a();
    numerics::xorwow::state words;
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, words.data());
        xorwow_[p].set(words);
    }
}

void gpsimd_engine::rand_get_state(execution& e) {
    tile dst = e.destination();
    for (unsigned p = 0; p < dst.partitions(); ++p) e.put_bits(dst, p, xorwow_[p].get().data());
}

// ---- rows 55 and 56: data patterns

void gpsimd_engine::iota(execution& e) {
    tile dst = e.destination();
    const element type = dst.type();
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        const std::vector<std::int32_t> values = pattern_values(e.i.pattern, p);
        if (numerics::is_integer(type)) {
            std::vector<std::uint32_t> row(values.size());
            std::ranges::transform(values, row.begin(),
                                   [type](std::int32_t v) { return numerics::saturated(type, v); });
            e.put_bits(dst, p, row.data());
        } else {
            std::vector<float> row(values.size());
            std::ranges::transform(values, row.begin(),
                                   [](std::int32_t v) { return static_cast<float>(v); });
            e.put(dst, p, row.data());
        }
    }
}

void gpsimd_engine::affine_select(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const scalar_values s0 = e.s0(a.partitions());
    const std::size_t n = a.elements();
    std::vector<float> x(n);
    std::vector<std::uint8_t> taken(n);
    const auto selected = [op = e.op0()](std::int32_t v) {
        // An integer and its FP32 value give the same result when compared with zero.
        return numerics::apply(op, static_cast<float>(v), 0.0f) != 0;
    };
    for (unsigned p = 0; p < a.partitions(); ++p) {
        const std::vector<std::int32_t> values = pattern_values(e.i.pattern, p);
        a.read(p, x.data());
        for (std::size_t k = 0; k < n; ++k) {
            taken[k] = selected(values[k]);
            if (taken[k] == 0) x[k] = s0[p];
        }
        e.put_selected(dst, a, p, x.data(), taken.data());
    }
}

// ---- rows 57 and 58: gathers

void gpsimd_engine::local_gather(execution& e) {
    const tile a = e.source_a(), b = e.source_b();
    tile dst = e.destination();
    const std::size_t length = e.i.imm, count = e.i.s0.value, size = a.element_bytes();
    const auto data = a.read_all<std::uint8_t>();
    const auto indices = b.read_all<std::uint32_t>();
    const auto index = [&](unsigned processor, std::size_t j) {
        const std::size_t p = processor * processor_partitions + j % processor_partitions;
        return indices[p * b.elements() + j / processor_partitions];
    };
    for (unsigned g = 0; g < a.partitions() / processor_partitions; ++g)
        for (std::size_t j = 0; j < count; ++j)
            if (index(g, j) + length > a.elements()) throw index_outside(isa::operand::b, e.i.b);
    std::vector<std::uint8_t> row(dst.elements() * size);
    for (unsigned p = 0; p < a.partitions(); ++p) {
        for (std::size_t j = 0; j < count; ++j)
            std::memcpy(&row[j * length * size],
                        &data[(p * a.elements() + index(p / processor_partitions, j)) * size],
                        length * size);
        e.put_bits(dst, p, row.data());
    }
}

void gpsimd_engine::gather_n(execution& e) {
    const tile a = e.source_a(), b = e.source_b();
    tile dst = e.destination();
    const std::size_t size = a.element_bytes(), n = b.elements();
    const auto indices = b.read_all<std::uint32_t>();
    for (const std::uint32_t i : indices)
        if (i >= a.elements()) throw index_outside(isa::operand::b, e.i.b);
    std::vector<std::uint8_t> data(a.elements() * size), row(n * size);
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, data.data());
        for (std::size_t k = 0; k < n; ++k)
            std::memcpy(&row[k * size], &data[indices[p * n + k] * size], size);
        e.put_bits(dst, p, row.data());
    }
}

// ---- rows 59 to 62

void gpsimd_engine::partition_reduce(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const std::size_t n = a.elements();
    if (e.is_bitvec()) {
        const auto rows = a.read_all<std::uint32_t>();
        std::vector<std::uint32_t> acc(n, e.op0() == alu::bitwise_and ? ~0u : 0u);
        for (unsigned p = 0; p < a.partitions(); ++p)
            numerics::apply(e.op0(), acc.data(), rows.data() + p * n, n, 32);
        return e.put_bits(dst, 0, acc.data());
    }
    const auto rows = a.read_all<float>();
    std::vector<float> acc(n, numerics::start_value(e.op0()));
    for (unsigned p = 0; p < a.partitions(); ++p)
        numerics::apply(e.op0(), acc.data(), rows.data() + p * n, n);
    if (e.op0() == alu::average)
        for (float& x : acc) x /= static_cast<float>(a.partitions());
    e.put(dst, 0, acc.data());
}

void gpsimd_engine::sequence_bounds(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const std::size_t n = a.elements();
    std::vector<float> ids(n), out(2 * n);
    std::vector<std::uint32_t> integers(n);
    a.read(0, ids.data());
    a.read(0, integers.data());
    const auto equal = [&, exact = a.type() == element::int32](std::size_t k, std::size_t j) {
        return exact ? integers[k] == integers[j] : ids[k] == ids[j];  // spec 20.50
    };
    for (std::size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && equal(end, first);) ++end;
        const bool none = ids[first] == 0;
        for (std::size_t k = first; k < end; ++k) {
            out[k] = static_cast<float>(none ? n : first);
            out[n + k] = none ? -1.0f : static_cast<float>(end);
        }
    }
    e.put(dst, 0, out.data());
}

void gpsimd_engine::nonzero_count(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    const std::size_t n = a.elements();
    const scalar_values padding = e.s0(a.partitions());
    const bool exact = e.i.s0.kind == isa::scalar_kind::i32;
    std::vector<float> x(n);
    std::vector<std::uint32_t> row(n + 1);
    for (unsigned p = 0; p < a.partitions(); p += processor_partitions) {
        a.read(p, x.data());
        std::uint32_t count = 0;
        for (std::uint32_t k = 0; k < n; ++k)
            if (x[k] != 0) row[count++] = k + e.i.imm;
        std::uint32_t fill = e.i.s0.value;
        if (!exact)
            numerics::encode(element::int32, &padding[p], reinterpret_cast<std::uint8_t*>(&fill),
                             1);
        std::fill(row.begin() + count, row.end() - 1, fill);
        row[n] = count;
        e.put_bits(dst, p, row.data());
    }
}

void gpsimd_engine::topk(execution& e) {
    const tile a = e.source_a();
    tile dst = e.destination();
    tile indices(memory_, e.i.b, isa::operand::b);
    const std::size_t columns = a.elements(), n = e.i.imm, k = dst.elements();
    const auto values = a.read_all<float>();
    const auto bits = a.read_all<std::uint32_t>();
    std::vector<std::uint32_t> order(n), row(k);
    for (unsigned first = 0; first < a.partitions(); first += processor_partitions) {
        const auto position = [&](std::uint32_t j) {
            return (first + j % processor_partitions) * columns + j / processor_partitions;
        };
        // Ascending; NaN before numbers; of equal values, the higher index first.
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::sort(order, [&](std::uint32_t l, std::uint32_t r) {
            const float x = values[position(l)], y = values[position(r)];
            if (std::isnan(x) != std::isnan(y)) return std::isnan(x);
            return x < y || (!(y < x) && l > r);
        });
        for (std::size_t j = 0; j < k; ++j) row[j] = bits[position(order[n - k + j])];
        for (unsigned p = first; p < first + processor_partitions; ++p) {
            e.put_bits(dst, p, row.data());
            e.put_bits(indices, p, order.data() + (n - k));
        }
    }
}

}  // namespace trn

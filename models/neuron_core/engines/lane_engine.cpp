// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/lane_engine.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trn {

using isa::accumulator_command;
using numerics::alu;
using numerics::element;

isa::outcome lane_engine::execute(const isa::instruction& i, const isa::number_settings& numbers) {
    execution e(memory_, i, numbers);
    const engine_misuse before = misuse_;
    try {
        run(e);
    } catch (const isa::fault& f) {
        return {f};
    }
    return {std::nullopt, e.numerical(), misuse_.since(before)};
}

void lane_engine::reset() {
    accumulators_.fill(0);
    undefined_accumulators_ = true;
}

void lane_engine::prepare_accumulators(const execution& e, unsigned count) {
    switch (e.command()) {
    case accumulator_command::idle:
        return;
    case accumulator_command::reduce:
        misuse_.reduce_without_reset += undefined_accumulators_ ? 1 : 0;
        break;
    case accumulator_command::reset:
    case accumulator_command::reset_reduce:
        std::fill_n(accumulators_.begin(), count, numerics::start_value(e.reduce_op()));
        break;
    case accumulator_command::load_reduce: {
        const scalar_values init = e.s1(count);
        for (unsigned p = 0; p < count; ++p) accumulators_[p] = init[p];
        break;
    }
    }
    undefined_accumulators_ = false;
}

void lane_engine::accumulate(const execution& e, unsigned first, unsigned n, const float* rows,
                             std::size_t count) {
    if (e.command() < accumulator_command::reduce) return;
    numerics::fold(e.reduce_op(), &accumulators_[first], rows, count, n, count);
}

void lane_engine::copy(execution& e) {
    const bool through_fp32 = e.i.a.type != e.i.dst.type || copies_through_fp32();
    if (through_fp32) return elementwise(e, [](unsigned, float*) {});
    const tile a = e.source_a();
    tile dst = e.destination();
    std::vector<std::uint8_t> row(a.elements() * a.element_bytes());
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, row.data());
        e.put_bits(dst, p, row.data());
    }
}

void lane_engine::memset(execution& e) {
    tile dst = e.destination();
    const element type = dst.type();
    const std::size_t n = dst.elements();
    std::vector<float> floats(n);
    std::vector<std::uint8_t> zeroes(n * dst.element_bytes());
    const std::int64_t integer = type == element::uint32
                                     ? std::int64_t{e.i.imm}
                                     : std::int64_t{static_cast<std::int32_t>(e.i.imm)};
    const std::vector<std::uint32_t> integers(
        n, numerics::is_integer(type) ? numerics::saturated(type, integer) : 0);
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        if (numerics::is_integer(type)) {
            e.put_bits(dst, p, integers.data());
        } else if (type > element::uint32) {
            e.put_bits(dst, p, zeroes.data());
        } else {
            std::ranges::fill(floats, std::bit_cast<float>(e.i.imm));
            e.put(dst, p, floats.data());
        }
    }
}

void lane_engine::tensor_tensor(execution& e) {
    const tile b = e.source_b();
    const std::size_t n = b.elements();
    const element type = e.i.dst.type;
    const bool exact = computes_integers() && (type == element::int32 || type == element::uint32) &&
                       e.i.a.type == type && b.type() == type &&
                       (e.op0() == alu::add || e.op0() == alu::subtract || e.op0() == alu::mult);
    if (!exact && !e.is_bitvec()) {
        row_buffer y(n);
        return elementwise(e, [&](unsigned p, float* x) {
            b.read(p, y.data());
            numerics::apply(e.op0(), x, y.data(), n);
        });
    }
    const tile a = e.source_a();
    tile dst = e.destination();
    std::vector<std::uint32_t> x(n), y(n);
    for (unsigned p = 0; p < a.partitions(); ++p) {
        a.read(p, x.data());
        b.read(p, y.data());
        if (e.is_bitvec())
            numerics::apply(e.op0(), x.data(), y.data(), n, 8 * a.element_bytes());
        else
            for (std::size_t k = 0; k < n; ++k)
                x[k] = e.op0() == alu::add        ? x[k] + y[k]
                       : e.op0() == alu::subtract ? x[k] - y[k]
                                                  : x[k] * y[k];
        e.put_bits(dst, p, x.data());
    }
}

void lane_engine::tensor_scalar(execution& e) {
    const unsigned count = e.i.dst.partitions;
    const scalar_values s0 = e.s0(count);
    // s1 of TENSOR_SCALAR_REDUCE is the start value of the accumulators.
    const bool reduces = e.i.opcode == isa::opcode::tensor_scalar_reduce;
    const scalar_values s1 =
        reduces ? scalar_values(memory_, {}, isa::operand::s1, count) : e.s1(count);
    const bool reverse0 = e.has_mode(isa::mode::reverse0),
               reverse1 = e.has_mode(isa::mode::reverse1);
    if (!e.is_bitvec())
        return elementwise(e, [&, n = e.i.a.elements()](unsigned p, float* x) {
            numerics::apply(e.op0(), x, s0[p], n, reverse0);
            numerics::apply(e.op1(), x, s1[p], n, reverse1);
        });
    const tile a = e.source_a();
    tile dst = e.destination();
    prepare_accumulators(e, count);
    const unsigned width = 8 * a.element_bytes();
    const std::uint32_t mask = ~0u >> (32 - width);
    std::vector<std::uint32_t> x(a.elements());
    std::vector<std::uint8_t> bits(a.elements() * a.element_bytes());
    std::vector<float> values(a.elements());
    for (unsigned p = 0; p < count; ++p) {
        a.read(p, x.data());
        numerics::apply(e.op0(), x.data(), s0.bits(p) & mask, x.size(), width, reverse0);
        numerics::apply(e.op1(), x.data(), s1.bits(p) & mask, x.size(), width, reverse1);
        e.put_bits(dst, p, x.data());
        if (e.command() < accumulator_command::reduce) continue;
        for (std::size_t k = 0; k < x.size(); ++k)
            std::memcpy(bits.data() + k * a.element_bytes(), &x[k], a.element_bytes());
        numerics::decode(dst.type(), bits.data(), values.data(), x.size());
        accumulate(e, p, 1, values.data(), x.size());
    }
}

void lane_engine::read_accumulator(execution& e) {
    tile dst = e.destination();
    for (unsigned p = 0; p < dst.partitions(); ++p) {
        float value = accumulators_[p];
        if (e.has_mode(isa::mode::negate)) value *= -1;
        e.put(dst, p, &value);
    }
}

}  // namespace trn

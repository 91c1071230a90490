// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/scalar_engine.h"

#include <bit>
#include <limits>

#include "models/neuron_isa/numerics/activation.h"

namespace trn {

using isa::opcode;
using numerics::activation;
using numerics::alu;

void scalar_engine::run(execution& e) {
    switch (e.i.opcode) {
    case opcode::copy:
        return copy(e);
    case opcode::tensor_scalar:
        return tensor_scalar(e);
    case opcode::read_accumulator:
        return read_accumulator(e);
    case opcode::activate:
        return activate(e);
    case opcode::activate2:
        return activate2(e);
    default:
        throw isa::fault_of(isa::error::illegal_instruction, isa::reason::opcode);
    }
}

void scalar_engine::apply_function(const execution& e, float* x, std::size_t count,
                                   float parameter) {
    const auto f = static_cast<activation>(e.i.op0);
    outside_.clear();
    if (numerics::has_promised_range(f))
        for (std::size_t k = 0; k < count; ++k)
            if (!numerics::in_promised_range(f, x[k])) outside_.push_back(k);
    misuse_.activation_out_of_range += outside_.size();
    numerics::activate(f, x, count, parameter);
    if (outside_is_nan_)
        for (const std::size_t k : outside_) x[k] = std::numeric_limits<float>::quiet_NaN();
}

void scalar_engine::activate(execution& e) {
    const scalar_values scale = e.s0(e.i.a.partitions), bias = e.s1(e.i.a.partitions);
    elementwise(e, [&, n = e.i.a.elements()](unsigned p, float* x) {
        if (e.i.s0.present() && e.i.s1.present())
            numerics::scale_and_add(x, scale[p], bias[p], n);
        else if (e.i.s0.present())
            numerics::apply(alu::mult, x, scale[p], n);
        else if (e.i.s1.present())
            numerics::apply(alu::add, x, bias[p], n);
        apply_function(e, x, n, std::bit_cast<float>(e.i.imm));
    });
}

void scalar_engine::activate2(execution& e) {
    const unsigned count = e.i.a.partitions;
    const scalar_values s0 = e.s0(count), s1 = e.s1(count);
    const bool has_parameter = e.i.b.present();
    const tile parameter = has_parameter ? e.source_b() : e.source_a();
    const auto first = static_cast<alu>(e.i.imm & 0xff),
               second = static_cast<alu>(e.i.imm >> 8 & 0xff);
    elementwise(e, [&, n = e.i.a.elements()](unsigned p, float* x) {
        float slope = 0;
        if (has_parameter) parameter.read(p, &slope);
        numerics::apply(first, x, s0[p], n, e.has_mode(isa::mode::reverse0));
        numerics::apply(second, x, s1[p], n, e.has_mode(isa::mode::reverse1));
        apply_function(e, x, n, slope);
    });
}

}  // namespace trn

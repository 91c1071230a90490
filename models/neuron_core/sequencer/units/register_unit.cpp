// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/register_unit.h"

#include <algorithm>
#include <variant>

#include "models/neuron_core/sequencer/timing/timing.h"
#include "platform/framework/kernel/time_value.h"

namespace trn {

using isa::opcode;

namespace {

std::uint32_t integer_result(unsigned op, std::uint32_t ua, std::uint32_t ub) {
    const auto a = static_cast<std::int32_t>(ua), b = static_cast<std::int32_t>(ub);
    const bool shifts = ub < 32;
    switch (static_cast<isa::alu>(op)) {
    case isa::alu::add:
        return ua + ub;
    case isa::alu::subtract:
        return ua - ub;
    case isa::alu::mult:
        return ua * ub;
    case isa::alu::max:
        return static_cast<std::uint32_t>(std::max(a, b));
    case isa::alu::min:
        return static_cast<std::uint32_t>(std::min(a, b));
    case isa::alu::is_equal:
        return a == b;
    case isa::alu::not_equal:
        return a != b;
    case isa::alu::is_ge:
        return a >= b;
    case isa::alu::is_gt:
        return a > b;
    case isa::alu::is_le:
        return a <= b;
    case isa::alu::is_lt:
        return a < b;
    case isa::alu::bitwise_and:
        return ua & ub;
    case isa::alu::bitwise_or:
        return ua | ub;
    case isa::alu::bitwise_xor:
        return ua ^ ub;
    case isa::alu::bitwise_not:
        return ~ua;
    case isa::alu::shift_left:
        return shifts ? ua << ub : 0;
    case isa::alu::shift_right:
        return shifts ? ua >> ub : 0;
    case isa::alu::shift_right_arithmetic:
        return static_cast<std::uint32_t>(a >> (shifts ? ub : 31));
    default:
        return 0;  // check() rejects other codes
    }
}

bool holds(unsigned condition, std::int32_t a, std::int32_t b) {
    switch (condition) {
    case 1:
        return a < b;
    case 2:
        return a <= b;
    case 3:
        return a == b;
    case 4:
        return a != b;
    case 5:
        return a >= b;
    case 6:
        return a > b;
    default:
        return true;
    }
}

std::uint64_t rank(unsigned order, const engine_clock& clock,
                   const sequencer_environment::identity& id) {
    const std::uint64_t ns = in_picoseconds(clock.time_of(clock.local())) / 1000;
    switch (order) {
    case 0:
        return id.core;
    case 1:
        return id.core % 2;
    case 2:
        return id.chip;
    case 3:
        return static_cast<unsigned>(id.generation);
    case 4:
        return ns & 0xffff'ffff;
    default:
        return ns >> 32;
    }
}

}  // namespace

std::int32_t register_unit::wait_value(const isa::instruction& i) const {
    if ((i.flags & isa::flag::wait_reg) == 0) return i.wait.value;
    return static_cast<std::int32_t>(values_[static_cast<std::uint32_t>(i.wait.value)]);
}

std::int32_t register_unit::update_value(const isa::instruction& i) const {
    if ((i.flags & isa::flag::update_reg) == 0) return i.update.value;
    return static_cast<std::int32_t>(values_[static_cast<std::uint32_t>(i.update.value)]);
}

bool register_unit::is_local(const isa::instruction& i) {
    if (i.wait.mode != 0 || i.update.mode != 0 || i.flags != 0) return false;
    switch (i.opcode) {
    case opcode::nop:
    case opcode::reg_move:
    case opcode::reg_alu:
    case opcode::branch:
    case opcode::loop:
    case opcode::call:
    case opcode::return_:
    case opcode::delay:
    case opcode::rank:
        return true;
    default:
        return false;
    }
}

std::uint32_t register_unit::execute(const isa::instruction& i, std::uint32_t pc,
                                     engine_clock& clock,
                                     const sequencer_environment::identity& id) {
    const auto& f = std::get<isa::register_fields>(i.control);
    const auto operand_b = [&] {
        return f.immediate != 0 ? static_cast<std::uint32_t>(f.imm) : values_[f.rb];
    };
    const std::uint32_t target = pc + static_cast<std::uint32_t>(f.target);
    std::uint32_t next = pc + 1;
    engine_clock::cycles taken = isa::control_cycles;
    switch (i.opcode) {
    case opcode::reg_move:
        values_[f.rd] = f.immediate != 0 ? static_cast<std::uint32_t>(f.imm) : values_[f.ra];
        break;
    case opcode::reg_alu:
        values_[f.rd] =
            integer_result(static_cast<unsigned>(f.selector), values_[f.ra], operand_b());
        break;
    case opcode::branch:
        if (holds(static_cast<unsigned>(f.selector), static_cast<std::int32_t>(values_[f.ra]),
                  static_cast<std::int32_t>(operand_b())))
            next = target;
        break;
    case opcode::loop:
        values_[f.rd] += static_cast<std::uint32_t>(f.step);
        if (static_cast<std::int32_t>(values_[f.rd]) < static_cast<std::int32_t>(operand_b()))
            next = target;
        break;
    case opcode::call:
        values_[f.rd] = pc + 1;
        next = target;
        break;
    case opcode::return_:
        next = values_[f.ra];
        break;
    case opcode::delay:
        taken = std::max<engine_clock::cycles>(taken, f.imm);
        break;
    case opcode::rank:
        values_[f.rd] =
            static_cast<std::uint32_t>(rank(static_cast<unsigned>(f.selector), clock, id));
        break;
    default:
        break;
    }
    clock.spend(taken);
    return next;
}

}  // namespace trn

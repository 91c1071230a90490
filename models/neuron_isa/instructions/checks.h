// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "models/neuron_isa/instructions/codec.h"

/// Shared by the files of the checks; check.cpp calls them.
namespace trn::isa {

using numerics::element;
using finding = std::optional<fault>;

constexpr std::uint64_t set_of(std::initializer_list<alu> list) {
    std::uint64_t mask = 0;
    for (alu op : list) mask |= 1ull << static_cast<unsigned>(op);
    return mask;
}
constexpr bool in(std::uint64_t set, unsigned code) {
    return code < 64 && (set >> code & 1) != 0;
}

inline constexpr std::uint64_t comparisons =
    set_of({alu::is_equal, alu::not_equal, alu::is_ge, alu::is_gt, alu::is_le, alu::is_lt});
inline constexpr std::uint64_t logical =
    set_of({alu::logical_and, alu::logical_or, alu::logical_xor});
inline constexpr std::uint64_t sums =
    set_of({alu::add, alu::subtract, alu::mult, alu::max, alu::min});
inline constexpr std::uint64_t bitvec =
    set_of({alu::bitwise_and, alu::bitwise_or, alu::bitwise_xor, alu::bitwise_not, alu::shift_left,
            alu::shift_right});
inline constexpr std::uint64_t unary = set_of(
    {alu::bypass, alu::abs, alu::square, alu::relu, alu::rsqrt, alu::reciprocal, alu::bitwise_not});
inline constexpr std::uint64_t lane_arithmetic =
    sums | comparisons | logical | set_of({alu::bypass, alu::abs, alu::reciprocal});
inline constexpr std::uint64_t gpsimd_only = set_of({alu::pow, alu::rsqrt});
inline constexpr std::uint64_t only_v4 = set_of({alu::square, alu::relu});
inline constexpr std::uint64_t integer_alu =
    sums | comparisons | bitvec | set_of({alu::shift_right_arithmetic});

inline constexpr std::uint64_t max_sbuf_elements = 64 << 10, max_psum_elements = 4 << 10;
inline constexpr std::uint32_t psum_bank_bytes = 2048;

inline bool is_x4(element t) {
    return t >= element::fp8_e4m3fn_x4 && t <= element::fp4_e2m1_x4;
}
inline bool is_computed(element t) {
    return t <= element::uint32;
}
inline bool is_fp8(element t) {
    return t >= element::fp8_e3m4 && t <= element::fp8_e5m2;
}
inline bool is_32_bit_integer(element t) {
    return t == element::int32 || t == element::uint32;
}

/// Whether a tile or a [P, 1] scalar of `partitions` may start at `partition` (spec 2.2).
inline bool may_start(unsigned partition, unsigned partitions) {
    if (partitions > 64) return partition == 0;
    if (partitions > 32) return partition % 64 == 0;
    return partition % 32 == 0;
}

/// An instruction and the core that executes it; base of each class of checks.
class instruction_checks {
protected:
    instruction_checks(decoded& d, const core_traits& core)
        : i_(d.value), kind_(*d.kind), unused_(d.unused_bits_set), core_(core) {}

    static finding illegal(reason why, operand name = operand::none) {
        return fault_of(error::illegal_instruction, why, name);
    }
    static finding bad(reason why, operand name = operand::none) {
        return fault_of(error::bad_operand, why, name);
    }
    static finding outside(operand name, std::int64_t byte) {
        return fault{error::out_of_bounds, name, static_cast<std::uint32_t>(byte) & 0xff'ffff};
    }
    static finding no_register(operand name = operand::none) {
        return fault_of(error::out_of_bounds, reason::register_number, name);
    }
    bool is(opcode o) const { return i_.opcode == o; }
    bool on(engine e) const { return core_.engine == e; }
    bool unused_bits(operand name) const {
        return (unused_ >> static_cast<unsigned>(name) & 1) != 0;
    }

    bool type_fits(element t, types allowed) const;
    unsigned compression() const { return (i_.mode >> mode::sparse_shift & 3) + 1u; }
    bool is_bitvec() const { return in(bitvec, i_.op0) || in(bitvec, i_.op1); }
    static std::int64_t alignment_of(space memory, element type) {
        const std::uint32_t size = size_of(type);
        return memory == space::psum ? std::max(4u, size) : size;
    }
    static bool aligned(const location& place, element type) {
        return place.offset % alignment_of(place.space, type) == 0;
    }

    instruction& i_;
    const row& kind_;
    const std::uint8_t unused_;
    const core_traits& core_;
};

}  // namespace trn::isa

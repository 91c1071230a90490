// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "models/neuron_isa/instructions/check_control.h"
#include "models/neuron_isa/instructions/check_shapes.h"
#include "models/neuron_isa/instructions/codec.h"
#include "models/neuron_isa/instructions/native_functions.h"

namespace trn::isa {

namespace {

/// Checks the fields and operands of an instruction on tiles.
class tile_checks : instruction_checks {
public:
    tile_checks(decoded& d, const core_traits& core,
                std::span<const std::uint32_t, register_count> registers)
        : instruction_checks(d, core), registers_(registers) {}

    finding run() {
        if (const finding f = operations()) return f;
        if (const finding f = tile(operand::dst, i_.dst, kind_.dst)) return f;
        if (const finding f = tile(operand::a, i_.a, kind_.a)) return f;
        if (const finding f = second()) return f;
        if (const finding f = scalar(operand::s0, i_.s0, kind_.s0)) return f;
        if (const finding f = scalar(operand::s1, i_.s1, kind_.s1)) return f;
        return indirection();
    }

private:
    // ---- operators and modes

    finding operations() {
        if ((unused_ & 0x80) != 0) return illegal(reason::unused_field);
        if (!operators_fit()) return illegal(reason::operation);
        if (is(opcode::activate) && !uses_relu_parameter() && i_.imm != 0)
            return illegal(reason::unused_field);
        if (is(opcode::pool_call) && find_native(i_.imm) == nullptr) return bad(reason::value);
        if (const finding f = reductions()) return f;
        if ((i_.mode & ~kind_.modes) != 0) return illegal(reason::mode);
        if (i_.has_mode(mode::negate) && in(bitvec, i_.op0)) return illegal(reason::mode);
        if (kind_.uses_tile)
            if (const finding f = pe_fields()) return f;
        if (kind_.layout == layout::tiles_pattern) return pattern();
        return std::nullopt;
    }

    /// Operators of the Vector and GPSIMD engines' two-input stages.
    std::uint64_t lane_operators() const {
        std::uint64_t set = lane_arithmetic;
        if (core_.generation == generation::v4) set |= only_v4;
        if (on(engine::gpsimd)) set |= gpsimd_only;
        return set;
    }

    bool operators_fit() const {
        const unsigned op0 = i_.op0, op1 = i_.op1;
        const std::uint64_t arithmetic = lane_operators();
        switch (kind_.operators) {
        case operators::none:
            return true;
        case operators::lane:
            return in(arithmetic, op0) || (on(engine::vector) && in(bitvec, op0));
        case operators::two_operators: {
            if (on(engine::scalar))
                return (op0 == unsigned(alu::mult) && (op1 <= unsigned(alu::add))) ||
                       (op0 == unsigned(alu::add) && op1 == unsigned(alu::bypass));
            if (on(engine::gpsimd))
                return in(arithmetic, op0) && in(arithmetic, op1) &&
                       (in(gpsimd_only, op0) || in(gpsimd_only, op1));
            const std::uint64_t bits = bitvec | 1;  // bypass counts as bitvec and as arithmetic
            return (in(arithmetic, op0) && in(arithmetic, op1)) || (in(bits, op0) && in(bits, op1));
        }
        case operators::two_arithmetic:
            return in(arithmetic, op0) && in(arithmetic, op1);
        case operators::reduction:
            return in(
                sums | logical | set_of({alu::bitwise_and, alu::bitwise_or, alu::bitwise_xor}),
                op0);
        case operators::cumulative:
            return in(arithmetic, op0) && in(sums, op1);
        case operators::comparison:
            return in(comparisons, op0);
        case operators::two_comparisons: {
            const std::uint64_t ordered = comparisons & ~set_of({alu::not_equal});
            return in(ordered, op0) && in(ordered, op1);
        }
        case operators::partition_reduction:
            return in(set_of({alu::add, alu::average, alu::max, alu::bitwise_and, alu::bitwise_or}),
                      op0);
        case operators::activation:
            return op0 < activation_count;
        case operators::activation_2:
            return op0 < activation_count && activate2_operators();
        }
        return false;
    }

    bool uses_relu_parameter() const { return i_.op0 == unsigned(activation::prelu); }

    bool activate2_operators() const {
        const auto first = static_cast<alu>(i_.imm & 0xff),
                   second = static_cast<alu>(i_.imm >> 8 & 0xff);
        if (i_.imm >> 16 != 0) return false;
        if (second == alu::bypass)
            return in(set_of({alu::mult, alu::add, alu::subtract, alu::bypass}), unsigned(first));
        return first == alu::mult && (second == alu::add || second == alu::subtract);
    }

    finding reductions() const {
        if (kind_.reduce_cmds == 0) return std::nullopt;
        if (kind_.operators == operators::cumulative)
            return i_.reduce_cmd >= 2 && i_.reduce_cmd <= 4 ? std::nullopt
                                                            : illegal(reason::operation);
        std::uint64_t allowed = kind_.reduce_ops;
        if (is(opcode::activate2))
            allowed = set_of({alu::add, alu::max, alu::min, alu::abs_max, alu::abs_min});
        if (i_.reduce_cmd == 0)
            return i_.reduce_op == 0 ? std::nullopt : illegal(reason::operation);
        if (i_.reduce_cmd > 4 || !in(kind_.reduce_cmds, i_.reduce_cmd) ||
            !in(allowed, i_.reduce_op))
            return illegal(reason::operation);
        return std::nullopt;
    }

    finding pe_fields() const {
        const bool v2 = core_.generation == generation::v2;
        if (v2 && i_.has_mode(mode::double_row | mode::sparse | mode::transpose))
            return illegal(reason::generation);
        if (core_.generation != generation::v4 && i_.has_mode(mode::mx))
            return illegal(reason::generation);
        const unsigned exclusive = i_.has_mode(mode::transpose) + i_.has_mode(mode::mx) +
                                   i_.has_mode(mode::double_row) + i_.has_mode(mode::sparse);
        if (exclusive > 1) return illegal(reason::mode);
        if (i_.has_mode(mode::transpose) && i_.has_mode(mode::accumulate))
            return illegal(reason::mode);  // spec 20.48
        const pe_tile t = pe_tile_of(i_.tile);
        if (t.rows == 0 || t.columns == 0) return illegal(reason::mode);
        if (t.row % t.rows != 0 || t.column % t.columns != 0) return bad(reason::mode);
        if (v2 && t.rows == 32 && t.columns == 32) return bad(reason::mode);
        if (i_.has_mode(mode::mx | mode::double_row) && t.columns != 128) return bad(reason::mode);
        if (!i_.has_mode(mode::sparse))
            return i_.imm == 0 ? std::nullopt : illegal(reason::unused_field);
        const bool kept = i_.imm == 4 || ((i_.imm == 2 || i_.imm == 1) && compression() != 3);
        return kept ? std::nullopt : bad(reason::value);
    }

    finding pattern() {
        if (i_.has_mode(mode::offset_register)) {
            if (i_.imm >= register_count) return no_register();
            i_.pattern.offset = static_cast<std::int32_t>(
                static_cast<std::uint32_t>(i_.pattern.offset) + registers_[i_.imm]);
        } else if (i_.imm != 0) {
            return illegal(reason::unused_field);
        }
        return std::nullopt;
    }

    // ---- tensor operands

    finding tile(operand name, tile_operand& t, const operand_rule& rule) {
        if (unused_bits(name)) return illegal(reason::unused_field, name);
        if (!t.present())
            return rule.need == need::required ? bad(reason::absent, name) : std::nullopt;
        if (t.indirect && (core_.generation != generation::v4 || name == operand::b))
            return illegal(reason::generation, name);
        if (!in_reach(name, t.place.space)) return bad(reason::space, name);
        if (!type_fits(t.type, rule.types)) return bad(reason::type, name);
        if (t.dimensions == 0 || t.dimensions > 4) return bad(reason::dimensions, name);
        for (unsigned d = 0; d < t.dimensions; ++d)
            if (t.pattern[d].count == 0) return bad(reason::count, name);
        if (t.elements() > max_sbuf_elements || counted_elements(t) > max_elements(t))
            return bad(reason::free_size, name);
        if (!partitions_fit(t, rule.types)) return bad(reason::partitions, name);
        return place(name, t);
    }

    /// Elements that a stride of 0 repeats count once in PSUM, except in products (spec 20.49).
    std::uint64_t counted_elements(const tile_operand& t) const {
        if (t.place.space != space::psum || is(opcode::multiply)) return t.elements();
        std::uint64_t count = 1;
        for (unsigned d = 0; d < t.dimensions; ++d)
            if (t.pattern[d].stride != 0 || (d == 0 && t.indirect)) count *= t.pattern[d].count;
        return count;
    }

    /// The largest free size of an operand (spec 2.3, 4.1).
    std::uint64_t max_elements(const tile_operand& t) const {
        if (t.place.space != space::psum) return max_sbuf_elements;
        if (!is(opcode::multiply)) return max_psum_elements;
        if (core_.generation != generation::v4) return 512;
        return t.type == element::fp32 ? 4096 : 8192;
    }

    bool in_reach(operand name, space s) const {
        if (s == space::reserved) return false;
        if (on(engine::gpsimd)) return s == space::sbuf;
        if (on(engine::tensor)) return (s == space::psum) == (name == operand::dst);
        if (is(opcode::quantize_mx) && name == operand::a) return s == space::sbuf;  // spec 3.9
        return true;
    }

    bool partitions_fit(const tile_operand& t, types type) const {
        if (t.partitions > max_partitions || t.place.partition + t.partitions > max_partitions)
            return false;
        const bool scales =
            type == types::scale || (type == types::scale_or_tags && i_.has_mode(mode::mx));
        if (scales) return t.place.partition % 32 % 4 == 0 && t.place.partition % 32 <= 12;
        return may_start(t.place.partition, t.partitions);
    }

    /// Adds the register to the start, then checks alignment and bounds.
    finding place(operand name, tile_operand& t) {
        const std::int64_t size = size_of(t.type);
        std::int64_t start = t.place.offset;
        if (t.offset_from_register) {
            if (t.reg >= register_count) return no_register(name);
            start += size * static_cast<std::int32_t>(registers_[t.reg]);
        }
        if (start % alignment_of(t.place.space, t.type) != 0) return bad(reason::alignment, name);
        const auto [low, high] = t.reach(t.indirect ? 1 : 0);
        if (start + low < 0) return outside(name, start + low);
        if (start + high + size > core_.partition_bytes(t.place.space))
            return outside(name, start + high);
        i_.dynamic_operands |= t.offset_from_register;
        t.place.offset = static_cast<std::uint32_t>(start);
        t.offset_from_register = false;
        t.reg = 0;
        return std::nullopt;
    }

    /// Checks operand B: a tensor operand, or the data pattern or shuffle mask in its bytes.
    finding second() {
        if (kind_.layout == layout::tiles_shuffle) {
            if (unused_bits(operand::b)) return illegal(reason::unused_field, operand::b);
            const auto wrong = [](std::uint8_t m) { return m >= 32 && m != 255; };
            return std::ranges::any_of(i_.shuffle, wrong) ? bad(reason::value, operand::b)
                                                          : std::nullopt;
        }
        if (kind_.layout == layout::tiles_pattern) {
            if (unused_bits(operand::b)) return illegal(reason::unused_field, operand::b);
            std::uint64_t values = 1;
            for (std::uint16_t count : i_.pattern.counts) values *= count;
            if (values == 0) return bad(reason::count, operand::b);
            return values == i_.dst.elements() ? std::nullopt : bad(reason::shape, operand::b);
        }
        operand_rule rule = kind_.b;
        if (is(opcode::activate2) && i_.b.present() && !uses_relu_parameter())
            return illegal(reason::unused_field, operand::b);
        if (kind_.uses_tile) {  // the mode selects scales or tags
            const bool needed =
                i_.has_mode(mode::mx) || (i_.has_mode(mode::sparse) && is(opcode::load_stationary));
            if (!needed && i_.b.present()) return illegal(reason::unused_field, operand::b);
            if (needed) rule.need = need::required;
        }
        if (const finding f = tile(operand::b, i_.b, rule)) return f;
        // Spec 2.5: A and B may not both be in PSUM; DST has no such limit (20.18).
        if (kind_.shape == shape::elementwise && i_.a.place.space == space::psum &&
            i_.b.place.space == space::psum && !is(opcode::activate2))
            return bad(reason::space, operand::b);
        return std::nullopt;
    }

    // ---- scalar operands

    need scalar_need(operand name, const operand_rule& rule) const {
        const auto need_of = [](unsigned op) {
            return in(unary, op) ? need::optional : need::required;
        };
        const bool first = name == operand::s0;
        switch (i_.opcode) {
        case opcode::tensor_scalar:
            return need_of(first ? i_.op0 : i_.op1);
        case opcode::scalar_tensor_tensor:
            return first ? need_of(i_.op0) : need::unused;
        case opcode::tensor_scalar_reduce:
        case opcode::tensor_scalar_cumulative:
            if (first) return need_of(i_.op0);
            [[fallthrough]];
        case opcode::exponential:
            if (first) return need::optional;
            return i_.reduce_cmd == unsigned(accumulator_command::load_reduce) ? need::required
                                                                               : need::unused;
        case opcode::copy_predicated:
            return first && !i_.a.present() ? need::required : need::unused;
        case opcode::activate2:
            return need_of(first ? i_.imm & 0xff : i_.imm >> 8 & 0xff);
        case opcode::activate:
            if (!first && core_.generation == generation::v2 &&
                i_.op0 == unsigned(activation::reciprocal))
                return need::unused;
            return need::optional;
        default:
            return rule.need;
        }
    }

    finding scalar(operand name, scalar_operand& s, const operand_rule& rule) {
        if (static_cast<unsigned>(s.kind) > 5) return illegal(reason::kind, name);
        if (unused_bits(name)) return illegal(reason::unused_field, name);
        // S1's bytes may hold a pattern, a mask or an address.
        if (rule.need == need::unused && kind_.layout != layout::tiles) return std::nullopt;
        const need wanted = scalar_need(name, rule);
        if (!s.present())
            return wanted == need::required ? bad(reason::absent, name) : std::nullopt;
        if (wanted == need::unused) return illegal(reason::unused_field, name);
        if (const finding f = scalar_kind_fits(name, s)) return f;
        if (s.kind == scalar_kind::tile) return scalar_tile(name, s);
        if (s.kind != scalar_kind::register_fp32 && s.kind != scalar_kind::register_i32)
            return std::nullopt;
        if (s.reg >= register_count) return no_register(name);
        s.value = registers_[s.reg];
        s.kind = s.kind == scalar_kind::register_fp32 ? scalar_kind::fp32 : scalar_kind::i32;
        s.reg = 0;
        return std::nullopt;
    }

    finding scalar_kind_fits(operand name, const scalar_operand& s) const {
        const bool is_tile = s.kind == scalar_kind::tile;
        const bool is_fp32 = s.kind == scalar_kind::fp32 || s.kind == scalar_kind::register_fp32;
        if (is(opcode::activate)) {
            if (name == operand::s1 && core_.generation == generation::v2 && !is_tile)
                return bad(reason::kind, name);  // spec 4.3
            if (name == operand::s0 && is_tile && s.type != element::fp32)
                return bad(reason::type, name);
            if (name == operand::s1 && is_tile && s.type == element::tf32)
                return bad(reason::type, name);
        }
        const bool is_operand =  // of OP0 or OP1; else the start of an accumulator (spec 20.51)
            is(opcode::tensor_scalar) || (is(opcode::tensor_scalar_reduce) && name == operand::s0);
        if (is_operand) {
            const bool integer_tile = is_tile && is_integer(s.type);
            if (is_bitvec() && (is_fp32 || (is_tile && !integer_tile)))
                return bad(is_tile ? reason::type : reason::kind, name);
        }
        const bool counts = kind_.shape == shape::local_gather ||
                            kind_.shape == shape::gather_rows ||
                            kind_.shape == shape::gather_transpose;
        if (counts && (is_tile || is_fp32)) return bad(reason::kind, name);
        return std::nullopt;
    }

    unsigned lanes() const {
        return i_.dst.present() ? i_.dst.partitions : i_.a.present() ? i_.a.partitions : 1u;
    }

    finding scalar_tile(operand name, const scalar_operand& s) const {
        if (s.place.space == space::none || s.place.space == space::reserved ||
            (on(engine::gpsimd) && s.place.space == space::psum))
            return bad(reason::space, name);
        if (!type_fits(s.type, types::computed)) return bad(reason::type, name);
        if (!may_start(s.place.partition, lanes())) return bad(reason::partitions, name);
        if (!aligned(s.place, s.type)) return bad(reason::alignment, name);
        if (s.place.offset + size_of(s.type) > core_.partition_bytes(s.place.space))
            return outside(name, s.place.offset);
        return std::nullopt;
    }

    // ---- spec 2.4

    finding indirection() const {
        if (i_.a.indirect)
            if (const finding f = indirect(operand::a, i_.a, i_.a.place.partition)) return f;
        if (!i_.dst.indirect) return std::nullopt;
        const bool reduced = kind_.shape == shape::reduction || kind_.shape == shape::column ||
                             kind_.shape == shape::bn_stats || kind_.shape == shape::bn_aggr ||
                             kind_.shape == shape::max8 || kind_.shape == shape::find_index8 ||
                             kind_.shape == shape::partition_reduce;
        if (reduced || (on(engine::scalar) && i_.dst.place.space == space::psum))
            return bad(reason::space, operand::dst);
        // For a matmul, the Tensor engine compares it with the stationary's partition.
        unsigned start = i_.dst.index.partition;
        if (!on(engine::tensor) && i_.a.present() && i_.a.place.space == space::sbuf &&
            !i_.a.indirect)
            start = i_.a.place.partition;
        else if (!on(engine::tensor) && i_.a.indirect && i_.a.place.space == space::psum)
            start = i_.a.index.partition;
        return indirect(operand::dst, i_.dst, start);
    }

    finding indirect(operand name, const tile_operand& t, unsigned start) const {
        const bool on_tensor = on(engine::tensor);
        if (t.dimensions != 1) return bad(reason::dimensions, name);
        const bool moving = is(opcode::multiply) && name == operand::a;
        if (on_tensor && (i_.tile != 0 || (moving && i_.has_mode(mode::transpose))))
            return bad(reason::mode, name);
        if (on_tensor && name == operand::a && t.type != element::fp16 && t.type != element::bf16 &&
            !is_fp8(t.type))
            return bad(reason::type, name);
        // Indices are read as operand A is; neither Tensor nor GPSIMD reads PSUM.
        if (t.index.space == space::none || !in_reach(operand::a, t.index.space))
            return bad(reason::space, name);
        if (t.index.partition % 32 != 0 || t.index.partition != start)
            return bad(reason::partitions, name);
        if (t.index.offset % 4 != 0) return bad(reason::alignment, name);
        const std::uint32_t group = on_tensor ? 32 : 16;
        const std::uint32_t columns = (t.pattern[0].count + group - 1) / group;
        if (t.index.offset + 4 * columns > core_.partition_bytes(t.index.space))
            return outside(name, t.index.offset);
        return std::nullopt;
    }

    std::span<const std::uint32_t, register_count> registers_;
};

}  // namespace

bool exists(element type, generation g) {
    if (static_cast<unsigned>(type) >= numerics::all_element_kinds) return false;
    if (type == element::fp8_e4m3fn || type == element::e8m0 || is_x4(type))
        return g == generation::v4;
    return type < element::int64 || g != generation::v2;
}

finding check(decoded& d, const core_traits& core,
              std::span<const std::uint32_t, register_count> registers) {
    if (!d.kind->is_tiles()) return check_control(d, core);
    if (const finding f = tile_checks(d, core, registers).run()) return f;
    return check_shapes(d, core);
}

bool reads_registers(const instruction& i) {
    const auto scalar = [](const scalar_operand& s) {
        return s.kind == scalar_kind::register_fp32 || s.kind == scalar_kind::register_i32;
    };
    return i.dst.offset_from_register || i.a.offset_from_register || i.b.offset_from_register ||
           scalar(i.s0) || scalar(i.s1) || i.has_mode(mode::offset_register);
}

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <tuple>

#include "models/instructions/codec.h"
#include "models/instructions/native_functions.h"

namespace trn::isa {

namespace {

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

constexpr std::uint64_t comparisons =
    set_of({alu::is_equal, alu::not_equal, alu::is_ge, alu::is_gt, alu::is_le, alu::is_lt});
constexpr std::uint64_t logical = set_of({alu::logical_and, alu::logical_or, alu::logical_xor});
constexpr std::uint64_t sums = set_of({alu::add, alu::subtract, alu::mult, alu::max, alu::min});
constexpr std::uint64_t bitvec = set_of({alu::bitwise_and, alu::bitwise_or, alu::bitwise_xor,
                                         alu::bitwise_not, alu::shift_left, alu::shift_right});
constexpr std::uint64_t unary = set_of(
    {alu::bypass, alu::abs, alu::square, alu::relu, alu::rsqrt, alu::reciprocal, alu::bitwise_not});
constexpr std::uint64_t lane_arithmetic =
    sums | comparisons | logical | set_of({alu::bypass, alu::abs, alu::reciprocal});
constexpr std::uint64_t gpsimd_only = set_of({alu::pow, alu::rsqrt});
constexpr std::uint64_t only_v4 = set_of({alu::square, alu::relu});
constexpr std::uint64_t integer_alu =
    sums | comparisons | bitvec | set_of({alu::shift_right_arithmetic});

constexpr std::uint64_t max_sbuf_elements = 64 << 10, max_psum_elements = 4 << 10;
constexpr std::uint32_t psum_bank_bytes = 2048;

bool is_x4(element t) {
    return t >= element::fp8_e4m3fn_x4 && t <= element::fp4_e2m1_x4;
}
bool is_computed(element t) {
    return t <= element::uint32;
}
bool is_fp8(element t) {
    return t >= element::fp8_e3m4 && t <= element::fp8_e5m2;
}
bool is_32_bit_integer(element t) {
    return t == element::int32 || t == element::uint32;
}

/// Spec 2.2, for tiles and [P, 1] scalars.
bool may_start(unsigned partition, unsigned partitions) {
    if (partitions > 64) return partition == 0;
    if (partitions > 32) return partition % 64 == 0;
    return partition % 32 == 0;
}

/// All checks of one instruction.
class checker {
public:
    checker(decoded& d, const core_traits& core,
            std::span<const std::uint32_t, register_count> registers)
        : i_(d.what),
          kind_(*d.kind),
          unused_(d.unused_bits_set),
          core_(core),
          registers_(registers) {}

    finding tiles() {
        if (const finding f = operations()) return f;
        if (const finding f = tile(operand::dst, i_.dst, kind_.dst)) return f;
        if (const finding f = tile(operand::a, i_.a, kind_.a)) return f;
        if (const finding f = second()) return f;
        if (const finding f = scalar(operand::s0, i_.s0, kind_.s0)) return f;
        if (const finding f = scalar(operand::s1, i_.s1, kind_.s1)) return f;
        if (const finding f = indirection()) return f;
        return shapes();
    }

    finding control() {
        if (unused_ != 0) return illegal(reason::unused_field);
        switch (kind_.layout) {
        case layout::registers:
            return register_fields_of(std::get<register_fields>(i_.control));
        case layout::sync:
            return sync(std::get<sync_list>(i_.control));
        case layout::writes:
            return writes(std::get<write_list>(i_.control));
        case layout::doorbells:
            return doorbells(std::get<doorbell_sets>(i_.control));
        default:
            return dge(std::get<dge_copy_fields>(i_.control));
        }
    }

private:
    static finding illegal(reason why, operand which = operand::none) {
        return fault_of(error::illegal_instruction, why, which);
    }
    static finding bad(reason why, operand which = operand::none) {
        return fault_of(error::bad_operand, why, which);
    }
    static finding outside(operand which, std::int64_t byte) {
        return fault{error::out_of_bounds, which, static_cast<std::uint32_t>(byte) & 0xff'ffff};
    }
    static finding no_register(operand which = operand::none) {
        return fault_of(error::out_of_bounds, reason::register_number, which);
    }
    bool is(opcode o) const { return i_.opcode == o; }
    bool on(engine e) const { return core_.engine == e; }
    bool unused_bits(operand which) const {
        return (unused_ >> static_cast<unsigned>(which) & 1) != 0;
    }

    // ---- control instructions

    finding register_fields_of(register_fields& f) const {
        if (f.immediate > 1) return illegal(reason::reserved_bits);
        switch (i_.opcode) {
        case opcode::reg_alu:
            if (!in(integer_alu, static_cast<unsigned>(f.selector)))
                return illegal(reason::operation);
            break;
        case opcode::branch:
            if (f.selector > 6) return illegal(reason::operation);
            if (f.selector == 0 && (f.ra | f.rb | f.imm | f.immediate) != 0)
                return illegal(reason::unused_field);
            break;
        case opcode::rank:
            if (f.selector > 5) return illegal(reason::operation);
            break;
        default:
            break;
        }
        for (const field& one : kind_.fields)
            if (one.what == field::kind::reg && f.*one.member >= register_count)
                return no_register();
        if (is(opcode::reg_load) || is(opcode::reg_store)) return element_access(f);
        if (is(opcode::loop) && static_cast<std::int32_t>(f.step) <= 0) return bad(reason::value);
        if (is(opcode::load_table) && f.imm > 5) return bad(reason::value);
        return std::nullopt;
    }

    finding element_access(const register_fields& f) const {
        const auto type = static_cast<element>(f.selector);
        if (f.selector >= numerics::element_kinds || !exists(type, core_.generation))
            return bad(reason::type);
        if (f.where.space == space::reserved) return bad(reason::space);
        if (f.where == location{}) return std::nullopt;
        if (f.where.space == space::none || f.address != 0) return illegal(reason::unused_field);
        if (!aligned(f.where, type)) return bad(reason::alignment);
        if (f.where.offset + size_of(type) > core_.partition_bytes(f.where.space))
            return outside(operand::none, f.where.offset);
        return std::nullopt;
    }

    static finding sync(const sync_list& list) {
        bool ended = false;
        for (const sync_entry& e : list) {
            ended |= e.mode == 0;
            if (ended && e != sync_entry{}) return illegal(reason::unused_field);
            if (ended) continue;
            const unsigned action = e.mode & ~sync_entry::update;
            if ((e.mode & sync_entry::update) == 0) {
                if (action > static_cast<unsigned>(wait_mode::ge_subtract))
                    return illegal(reason::wait_mode);
            } else if (action == 0 || action > static_cast<unsigned>(update_mode::event_clear)) {
                return illegal(reason::update_mode);
            }
            if (e.value != 0 && is_event(e)) return illegal(reason::unused_field);
        }
        return std::nullopt;
    }
    static bool is_event(const sync_entry& e) {
        const unsigned action = e.mode & ~sync_entry::update;
        if ((e.mode & sync_entry::update) == 0)
            return action == unsigned(wait_mode::event_set) ||
                   action == unsigned(wait_mode::event_clear);
        return action == unsigned(update_mode::event_set) ||
               action == unsigned(update_mode::event_clear);
    }

    static finding writes(const write_list& list) {
        bool ended = false;
        for (const posted_write& w : list) {
            ended |= w.size == 0;
            if (ended && w != posted_write{}) return illegal(reason::unused_field);
            if (ended) continue;
            if ((w.reg_data & 0x40) != 0 || (w.reg_data < 0x80 && w.reg_data != 0) ||
                (w.reg_data >= 0x80 && w.data != 0))
                return illegal(reason::unused_field);
            if (w.size > 8 || !std::has_single_bit(w.size)) return bad(reason::value);
        }
        return std::nullopt;
    }

    static finding doorbells(const doorbell_sets& sets) {
        for (const doorbell_set& s : sets) {
            if (s.engines == 0 && s != doorbell_set{}) return illegal(reason::unused_field);
            if (s.queue > 15) return bad(reason::value);
        }
        return std::nullopt;
    }

    finding dge(const dge_copy_fields& f) const {
        if (f.flags >> 4 != 0) return illegal(reason::reserved_bits);
        if (f.priority != 0 && core_.generation != generation::v4)
            return illegal(reason::generation);
        if (f.priority > 3 || f.queue > 15 || f.piece_bytes == 0 || f.engines == 0)
            return bad(reason::value);
        std::uint64_t pieces[2] = {1, 1};
        for (const auto* side : {&f.source, &f.destination}) {
            if ((side->reg & 0x40) != 0 || (side->reg < 0x80 && (side->reg | side->reg_unit) != 0))
                return illegal(reason::unused_field);
            for (const auto& d : side->pattern) pieces[side == &f.destination] *= d.count;
        }
        if (f.limit != 0 && f.source.reg == 0 && f.destination.reg == 0)
            return illegal(reason::unused_field);
        if (pieces[0] == 0 || pieces[1] == 0) return bad(reason::count);
        if (pieces[0] != pieces[1]) return bad(reason::shape);
        return dge_pieces(f, pieces[0]);
    }

    /// What the descriptor generators can do (doc/dma_compute.md).
    static finding dge_pieces(const dge_copy_fields& f, std::uint64_t pieces) {
        constexpr std::uint64_t max_share = 16384, max_rows = 64, max_matrix = 65536;
        const bool transposes = (f.flags & dge_copy_fields::transpose) != 0;
        const bool accumulates = (f.flags & dge_copy_fields::accumulate) != 0;
        const bool bf16 = (f.flags & dge_copy_fields::bf16) != 0;
        if ((transposes && accumulates) || (bf16 && !accumulates)) return illegal(reason::mode);
        if (accumulates && f.piece_bytes % (bf16 ? 2 : 4) != 0) return bad(reason::value);
        std::uint64_t rows = 1;
        if (transposes) {
            rows = f.source.pattern[0].count;
            if (rows != f.destination.pattern[0].count) return bad(reason::shape);
            if (rows > max_rows || rows * f.piece_bytes > max_matrix || f.piece_bytes % 2 != 0)
                return bad(reason::value);
        }
        const std::uint64_t units = pieces / rows, sharers = std::popcount(f.engines);
        const std::uint64_t share = units / sharers + (units % sharers != 0);
        return share * rows > max_share ? bad(reason::count) : std::nullopt;
    }

    // ---- operators and modes

    finding operations() {
        if ((unused_ & 0x80) != 0) return illegal(reason::unused_field);
        if (!operators_fit()) return illegal(reason::operation);
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
            const std::uint64_t bits = bitvec | 1;  // bypass is of both kinds
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
    unsigned compression() const { return (i_.mode >> mode::sparse_shift & 3) + 1u; }

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

    finding tile(operand which, tile_operand& t, const operand_rule& rule) {
        if (unused_bits(which)) return illegal(reason::unused_field, which);
        if (!t.present())
            return rule.need == need::required ? bad(reason::absent, which) : std::nullopt;
        if (t.indirect && (core_.generation != generation::v4 || which == operand::b))
            return illegal(reason::generation, which);
        if (!in_reach(which, t.where.space)) return bad(reason::space, which);
        if (!type_fits(t.type, rule.types)) return bad(reason::type, which);
        if (t.dimensions == 0 || t.dimensions > 4) return bad(reason::dimensions, which);
        for (unsigned d = 0; d < t.dimensions; ++d)
            if (t.pattern[d].count == 0) return bad(reason::count, which);
        if (t.elements() > max_elements(t)) return bad(reason::free_size, which);
        if (!partitions_fit(t, rule.types)) return bad(reason::partitions, which);
        if (!aligned(t.where, t.type)) return bad(reason::alignment, which);
        return bounds(which, t);
    }

    /// The free size of one operand (spec 2.3, 4.1).
    std::uint64_t max_elements(const tile_operand& t) const {
        if (t.where.space != space::psum) return max_sbuf_elements;
        if (!is(opcode::multiply)) return max_psum_elements;
        if (core_.generation != generation::v4) return 512;
        return t.type == element::fp32 ? 4096 : 8192;
    }

    bool in_reach(operand which, space s) const {
        if (s == space::reserved) return false;
        if (on(engine::gpsimd)) return s == space::sbuf;
        if (on(engine::tensor)) return (s == space::psum) == (which == operand::dst);
        return true;
    }

    bool type_fits(element t, types allowed) const {
        if (!exists(t, core_.generation)) return false;
        const bool gpsimd_e3m4 = on(engine::gpsimd) && t == element::fp8_e3m4;
        switch (allowed) {
        case types::computed:
            return is_computed(t) && !gpsimd_e3m4;
        case types::moved:
            if (is(opcode::memset)) return is_x4(t) || (is_computed(t) && !gpsimd_e3m4);
            return !gpsimd_e3m4;
        case types::matmul:
            if (i_.has_mode(mode::mx)) return is_x4(t);
            if (i_.has_mode(mode::double_row)) return is_fp8(t) && t != element::fp8_e3m4;
            if (i_.has_mode(mode::sparse))
                return t == element::bf16 || t == element::fp16 || t == element::tf32 ||
                       (core_.generation == generation::v3 && is_fp8(t));
            return t <= element::fp8_e5m2;
        case types::psum:
            if (i_.has_mode(mode::transpose))  // of the stationary's type, FP8 as UINT16
                return t <= element::fp16 || t == element::uint16;
            return t == element::fp32 || (t == element::bf16 && core_.generation == generation::v4);
        case types::predicate:
            return t == element::uint8 || t == element::uint16 || t == element::uint32;
        case types::predicate_16:
            return t >= element::int8 && t <= element::uint16;
        case types::index:
            return t == element::uint16 || t == element::uint32;
        case types::word:
            return t == element::uint32;
        case types::index_32:
            return is_32_bit_integer(t);
        case types::integer:
            return t >= element::int8 && t <= element::uint32;
        case types::words_32:
            return t <= element::tf32 || is_32_bit_integer(t);
        case types::mx_source:
            return t == element::fp16 || t == element::bf16;
        case types::packed:
            return t == element::fp8_e4m3fn_x4 || t == element::fp8_e5m2_x4;
        case types::scale:
            return t == element::e8m0 || t == element::uint8;
        case types::tags:
            return t == element::uint16;
        case types::two_bytes:
            return size_of(t) == 2;
        case types::segment:
            return t == element::fp32 || t == element::int32;
        case types::bf16:
            return t == element::bf16;
        case types::int32:
            return t == element::int32;
        case types::scale_or_tags:
            return i_.has_mode(mode::sparse) ? t == element::uint16
                                             : t == element::e8m0 || t == element::uint8;
        }
        return false;
    }

    bool partitions_fit(const tile_operand& t, types type) const {
        if (t.partitions > max_partitions || t.where.partition + t.partitions > max_partitions)
            return false;
        const bool scales =
            type == types::scale || (type == types::scale_or_tags && i_.has_mode(mode::mx));
        if (scales) return t.where.partition % 32 % 4 == 0 && t.where.partition % 32 <= 12;
        return may_start(t.where.partition, t.partitions);
    }

    static bool aligned(const location& where, element type) {
        const std::uint32_t size = size_of(type);
        return where.offset % (where.space == space::psum ? std::max(4u, size) : size) == 0;
    }

    finding bounds(operand which, tile_operand& t) {
        const std::int64_t size = size_of(t.type);
        std::int64_t start = t.where.offset;
        if (t.offset_from_register) {
            if (t.reg >= register_count) return no_register(which);
            start += size * static_cast<std::int32_t>(registers_[t.reg]);
        }
        std::int64_t low = start, high = start;
        for (unsigned d = t.indirect ? 1 : 0; d < t.dimensions; ++d) {
            const std::int64_t reach = size * t.pattern[d].stride * (t.pattern[d].count - 1);
            (reach < 0 ? low : high) += reach;
        }
        if (low < 0) return outside(which, low);
        if (high + size > core_.partition_bytes(t.where.space)) return outside(which, high);
        i_.dynamic_operands |= t.offset_from_register;
        t.where.offset = static_cast<std::uint32_t>(start);
        t.offset_from_register = false;
        t.reg = 0;
        return std::nullopt;
    }

    /// B: a tensor operand, or what the row's layout puts in its place.
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
        if (kind_.uses_tile) {  // scales or tags, as the mode says
            const bool needed =
                i_.has_mode(mode::mx) || (i_.has_mode(mode::sparse) && is(opcode::load_stationary));
            if (!needed && i_.b.present()) return illegal(reason::unused_field, operand::b);
            if (needed) rule.need = need::required;
        }
        if (const finding f = tile(operand::b, i_.b, rule)) return f;
        // Spec 2.5: two tile operands may not both be in PSUM; DST is free (20.18).
        if (kind_.shape == shape::elementwise && i_.a.where.space == space::psum &&
            i_.b.where.space == space::psum && !is(opcode::activate2))
            return bad(reason::space, operand::b);
        return std::nullopt;
    }

    // ---- scalar operands

    need scalar_need(operand which, const operand_rule& rule) const {
        const auto of = [](unsigned op) { return in(unary, op) ? need::optional : need::required; };
        const bool first = which == operand::s0;
        switch (i_.opcode) {
        case opcode::tensor_scalar:
            return of(first ? i_.op0 : i_.op1);
        case opcode::scalar_tensor_tensor:
            return first ? of(i_.op0) : need::unused;
        case opcode::tensor_scalar_reduce:
        case opcode::tensor_scalar_cumulative:
            if (first) return of(i_.op0);
            [[fallthrough]];
        case opcode::exponential:
            if (first) return need::optional;
            return i_.reduce_cmd == unsigned(accumulator_command::load_reduce) ? need::required
                                                                               : need::unused;
        case opcode::copy_predicated:
            return first && !i_.a.present() ? need::required : need::unused;
        case opcode::activate2:
            return of(first ? i_.imm & 0xff : i_.imm >> 8 & 0xff);
        case opcode::activate:
            if (!first && core_.generation == generation::v2 &&
                i_.op0 == unsigned(activation::reciprocal))
                return need::unused;
            return need::optional;
        default:
            return rule.need;
        }
    }

    finding scalar(operand which, scalar_operand& s, const operand_rule& rule) {
        if (rule.need == need::unused && kind_.layout != layout::tiles) return std::nullopt;
        if (static_cast<unsigned>(s.kind) > 5) return illegal(reason::kind, which);
        if (unused_bits(which)) return illegal(reason::unused_field, which);
        const need wanted = scalar_need(which, rule);
        if (!s.present())
            return wanted == need::required ? bad(reason::absent, which) : std::nullopt;
        if (wanted == need::unused) return illegal(reason::unused_field, which);
        if (const finding f = scalar_kind_fits(which, s)) return f;
        if (s.kind == scalar_kind::tile) return scalar_tile(which, s);
        if (s.kind != scalar_kind::register_fp32 && s.kind != scalar_kind::register_i32)
            return std::nullopt;
        if (s.reg >= register_count) return no_register(which);
        s.value = registers_[s.reg];
        s.kind = s.kind == scalar_kind::register_fp32 ? scalar_kind::fp32 : scalar_kind::i32;
        s.reg = 0;
        return std::nullopt;
    }

    bool is_bitvec() const { return in(bitvec, i_.op0) || in(bitvec, i_.op1); }

    finding scalar_kind_fits(operand which, const scalar_operand& s) const {
        const bool is_tile = s.kind == scalar_kind::tile;
        const bool is_fp32 = s.kind == scalar_kind::fp32 || s.kind == scalar_kind::register_fp32;
        if (is(opcode::activate)) {
            if (which == operand::s1 && core_.generation == generation::v2 && !is_tile)
                return bad(reason::kind, which);  // spec 4.3
            if (which == operand::s0 && is_tile && s.type != element::fp32)
                return bad(reason::type, which);
            if (which == operand::s1 && is_tile && s.type == element::tf32)
                return bad(reason::type, which);
        }
        if (is(opcode::tensor_scalar) || is(opcode::tensor_scalar_reduce)) {
            const bool integer_tile = is_tile && is_integer(s.type);
            if (is_bitvec() && (is_fp32 || (is_tile && !integer_tile)))
                return bad(is_tile ? reason::type : reason::kind, which);
        }
        const bool counts = kind_.shape == shape::local_gather ||
                            kind_.shape == shape::gather_rows ||
                            kind_.shape == shape::gather_transpose;
        if (counts && (is_tile || is_fp32)) return bad(reason::kind, which);
        return std::nullopt;
    }

    unsigned lanes() const {
        return i_.dst.present() ? i_.dst.partitions : i_.a.present() ? i_.a.partitions : 1u;
    }

    finding scalar_tile(operand which, const scalar_operand& s) const {
        if (s.where.space == space::none || s.where.space == space::reserved ||
            (on(engine::gpsimd) && s.where.space == space::psum))
            return bad(reason::space, which);
        if (!is_computed(s.type) || !exists(s.type, core_.generation))
            return bad(reason::type, which);
        if (!may_start(s.where.partition, lanes())) return bad(reason::partitions, which);
        if (!aligned(s.where, s.type)) return bad(reason::alignment, which);
        if (s.where.offset + size_of(s.type) > core_.partition_bytes(s.where.space))
            return outside(which, s.where.offset);
        return std::nullopt;
    }

    // ---- spec 2.4

    finding indirection() const {
        if (i_.a.indirect)
            if (const finding f = indirect(operand::a, i_.a, i_.a.where.partition)) return f;
        if (!i_.dst.indirect) return std::nullopt;
        const bool reduced = kind_.shape == shape::reduction || kind_.shape == shape::column ||
                             kind_.shape == shape::bn_stats || kind_.shape == shape::bn_aggr ||
                             kind_.shape == shape::max8 || kind_.shape == shape::find_index8;
        if (reduced || (on(engine::scalar) && i_.dst.where.space == space::psum))
            return bad(reason::space, operand::dst);
        unsigned start = i_.dst.index.partition;  // of a matmul: Tensor compares its stationary
        if (!on(engine::tensor) && i_.a.present() && i_.a.where.space == space::sbuf &&
            !i_.a.indirect)
            start = i_.a.where.partition;
        else if (!on(engine::tensor) && i_.a.indirect && i_.a.where.space == space::psum)
            start = i_.a.index.partition;
        return indirect(operand::dst, i_.dst, start);
    }

    finding indirect(operand which, const tile_operand& t, unsigned start) const {
        const bool on_tensor = on(engine::tensor);
        if (t.dimensions != 1) return bad(reason::dimensions, which);
        const bool moving = is(opcode::multiply) && which == operand::a;
        if (on_tensor && (i_.tile != 0 || (moving && i_.has_mode(mode::transpose))))
            return bad(reason::mode, which);
        if (on_tensor && which == operand::a && t.type != element::fp16 &&
            t.type != element::bf16 && !is_fp8(t.type))
            return bad(reason::type, which);
        if (t.index.space != space::sbuf && t.index.space != space::psum)
            return bad(reason::space, which);
        if (t.index.partition % 32 != 0 || t.index.partition != start)
            return bad(reason::partitions, which);
        if (t.index.offset % 4 != 0) return bad(reason::alignment, which);
        const std::uint32_t group = on_tensor ? 32 : 16;
        const std::uint32_t columns = (t.pattern[0].count + group - 1) / group;
        if (t.index.offset + 4 * columns > core_.partition_bytes(t.index.space))
            return outside(which, t.index.offset);
        return std::nullopt;
    }

    // ---- shapes

    static bool same_shape(const tile_operand& x, const tile_operand& y) {
        return x.partitions == y.partitions && x.elements() == y.elements();
    }
    static bool has(const tile_operand& t, unsigned partitions, std::uint64_t elements) {
        return t.partitions == partitions && t.elements() == elements;
    }
    /// Spec 20.2: for data of `partitions`; P/8 of them where that is less than a quadrant.
    static bool scales_fit(const tile_operand& scales, unsigned partitions, std::uint64_t columns) {
        return has(scales, 32 * ((partitions + 31) / 32 - 1) + 4, columns) ||
               (partitions <= 32 && has(scales, (partitions + 7) / 8, columns));
    }

    finding shapes() const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        const auto fits = [](bool ok, operand which) {
            return ok ? std::nullopt : bad(reason::shape, which);
        };
        switch (kind_.shape) {
        case shape::none:
            return std::nullopt;
        case shape::native:
            return native_operands();
        case shape::elementwise:
            return elementwise();
        case shape::dst_only:
            if (is(opcode::memset) && is_x4(dst.type) && i_.imm != 0)
                return bad(reason::value, operand::dst);
            return std::nullopt;
        case shape::reduction:
            return reduction();
        case shape::column:
            return fits(dst.elements() == 1, operand::dst);
        case shape::transpose_32: {
            if (a.type != dst.type) return bad(reason::type, operand::a);
            const bool blocks = a.partitions % 32 == 0 && a.elements() % 32 == 0;
            const bool one = a.partitions <= 32 && a.elements() <= 32;
            return fits((blocks && same_shape(a, dst)) ||
                            (one && has(dst, static_cast<unsigned>(a.elements()), a.partitions)),
                        operand::a);
        }
        case shape::shuffle:
            if (a.type != dst.type) return bad(reason::type, operand::a);
            return fits(same_shape(a, dst), operand::a);
        case shape::bn_stats:
            if (a.elements() > 512) return bad(reason::count, operand::a);
            return fits(has(dst, a.partitions, 6), operand::dst);
        case shape::bn_aggr:
            if (a.elements() % 3 != 0) return bad(reason::count, operand::a);
            return fits(has(dst, a.partitions, 2), operand::dst);
        case shape::max8:
            if (a.elements() < 8 || a.elements() > 16'384) return bad(reason::count, operand::a);
            return fits(has(dst, a.partitions, 8), operand::dst);
        case shape::match_load:
            return fits(a.elements() == 8, operand::a);
        case shape::find_index8:
            return fits(has(dst, a.partitions, 8), operand::dst);
        case shape::match_replace8:
            if (!same_shape(a, dst)) return bad(reason::shape, operand::a);
            return fits(!b.present() || has(b, a.partitions, 8), operand::b);
        case shape::one:
            return fits(has(a, 1, 1), operand::a);
        case shape::rng_state: {
            const operand which = is(opcode::rand_set_state) ? operand::a : operand::dst;
            const tile_operand& t = which == operand::a ? a : dst;
            return fits(t.elements() == (on(engine::gpsimd) ? 6u : 24u), which);
        }
        case shape::quantize_mx:
            if (dst.partitions % 32 != 0) return bad(reason::partitions, operand::dst);
            if (!has(a, dst.partitions, 4 * dst.elements())) return bad(reason::shape, operand::a);
            return fits(scales_fit(b, dst.partitions, dst.elements()), operand::b);
        case shape::stationary:
            return stationary();
        case shape::multiply:
            return multiply();
        case shape::local_gather:
            return local_gather();
        case shape::gather_n:
            if (a.type != dst.type) return bad(reason::type, operand::a);
            if (a.partitions != dst.partitions) return bad(reason::shape, operand::a);
            return fits(same_shape(b, dst), operand::b);
        case shape::partition_reduce:
            return fits(has(dst, 1, a.elements()), operand::dst);
        case shape::sequence_bounds:
            if (a.partitions != 1) return bad(reason::shape, operand::a);
            return fits(has(dst, 1, 2 * a.elements()), operand::dst);
        case shape::nonzero_count:
            return fits(has(dst, a.partitions, a.elements() + 1), operand::dst);
        case shape::topk:
            if (a.partitions % 16 != 0) return bad(reason::partitions, operand::a);
            if (i_.imm < 8 || i_.imm >= 65'536) return bad(reason::value);
            if (16 * a.elements() < i_.imm) return bad(reason::shape, operand::a);
            if (dst.partitions != a.partitions || dst.elements() > i_.imm)
                return bad(reason::shape, operand::dst);
            return fits(same_shape(b, dst), operand::b);
        case shape::gather_rows: {
            const bool gather = is(opcode::dma_gather);
            const tile_operand& t = gather ? dst : a;
            if (i_.imm == 0) return bad(reason::value);
            if (t.indirect || b.indirect) return bad(reason::mode);  // DMA sees addresses
            if (!has(t, b.partitions, b.elements() * i_.imm / size_of(t.type)) ||
                i_.imm % size_of(t.type) != 0)
                return bad(reason::shape, gather ? operand::dst : operand::a);
            return std::nullopt;
        }
        case shape::gather_transpose: {
            const std::uint64_t rows = b.partitions * b.elements();
            if (rows < 16 || rows > 128 || rows % 16 != 0) return bad(reason::count, operand::b);
            if (i_.imm == 0 || i_.imm % 2 != 0 || i_.imm > 256) return bad(reason::value);
            if (dst.indirect || b.indirect) return bad(reason::mode);
            if (dst.dimensions != 1 || dst.pattern[0].stride != 1)
                return bad(reason::dimensions, operand::dst);
            return fits(has(dst, i_.imm / 2, rows), operand::dst);
        }
        }
        return std::nullopt;
    }

    /// Operands of POOL_CALL, which passed the checks of all tiles.
    finding native_operands() const {
        const native_function& f = *find_native(i_.imm);
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        for (const auto& [t, rule, which] : {std::tuple{&dst, &f.dst, operand::dst},
                                             {&a, &f.a, operand::a},
                                             {&b, &f.b, operand::b}}) {
            if (!t->present() && rule->need == need::required) return bad(reason::absent, which);
            if (!t->present()) continue;
            if (rule->need == need::unused) return illegal(reason::unused_field, which);
            if (!type_fits(t->type, rule->types)) return bad(reason::type, which);
            if (t->partitions != a.partitions) return bad(reason::shape, which);
        }
        if (i_.s0.present() && f.s0 == need::unused)
            return illegal(reason::unused_field, operand::s0);
        if (i_.s1.present() && f.s1 == need::unused)
            return illegal(reason::unused_field, operand::s1);
        if (f.equal_types && a.type != dst.type) return bad(reason::type, operand::a);
        return native_shapes(f.shape);
    }

    finding native_shapes(native_shape wanted) const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        const bool same = dst.elements() == a.elements();
        switch (wanted) {
        case native_shape::elementwise:
            if (!same) return bad(reason::shape, operand::a);
            if (b.present() && b.elements() != a.elements()) return bad(reason::shape, operand::b);
            break;
        case native_shape::one_result:
            if (dst.elements() != 1) return bad(reason::shape, operand::dst);
            break;
        case native_shape::one_index:
            if (a.elements() != 1) return bad(reason::shape, operand::a);
            break;
        case native_shape::with_count:
            if (!same) return bad(reason::shape, operand::a);
            if (b.elements() != 1) return bad(reason::shape, operand::b);
            break;
        case native_shape::free:
            break;
        }
        return std::nullopt;
    }

    finding elementwise() const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        const bool moves = kind_.dst.types == types::moved;
        if (a.present() && moves && a.type != dst.type &&
            (is(opcode::copy_predicated) || !is_computed(a.type) || !is_computed(dst.type)))
            return bad(reason::type, operand::a);
        if (is(opcode::tensor_scalar_cumulative))
            for (const auto& [t, which] : {std::pair{&dst, operand::dst}, {&a, operand::a}})
                if (is_32_bit_integer(t->type)) return bad(reason::type, which);
        if (kind_.operators != operators::activation &&
            kind_.operators != operators::activation_2 && is_bitvec())
            if (const finding f = bitvec_types()) return f;
        if (a.present() && !same_shape(a, dst)) return bad(reason::shape, operand::a);
        if (is(opcode::activate2))
            return !b.present() || has(b, dst.partitions, 1) ? std::nullopt
                                                             : bad(reason::shape, operand::b);
        if (b.present() && !same_shape(b, dst)) return bad(reason::shape, operand::b);
        return std::nullopt;
    }

    /// Spec 3.2: bit patterns of integers of equal size.
    finding bitvec_types() const {
        if (!is_integer(i_.dst.type)) return bad(reason::type, operand::dst);
        for (const auto& [t, which] : {std::pair{&i_.a, operand::a}, {&i_.b, operand::b}})
            if (t->present() && (!is_integer(t->type) || size_of(t->type) != size_of(i_.dst.type)))
                return bad(reason::type, which);
        return std::nullopt;
    }

    finding reduction() const {
        const tile_operand &dst = i_.dst, &a = i_.a;
        if (i_.subdim == 0 || i_.subdim > a.dimensions) return bad(reason::dimensions, operand::a);
        if (is_bitvec())
            if (const finding f = bitvec_types()) return f;
        std::uint64_t results = 1;
        for (unsigned d = i_.subdim; d < a.dimensions; ++d) results *= a.pattern[d].count;
        return has(dst, a.partitions, results) ? std::nullopt : bad(reason::shape, operand::dst);
    }

    /// The slowest dimension of a double row is its two rows.
    static bool is_double_row(const tile_operand& t) {
        return t.dimensions >= 2 && t.pattern[t.dimensions - 1u].count == 2;
    }

    /// Rules that the stationary and the moving operand share (spec 4.1, 20.29).
    finding pe_rows() const {
        const pe_tile t = pe_tile_of(i_.tile);
        const tile_operand& a = i_.a;
        if (a.partitions > t.rows || (t.rows != 128 && a.where.partition != t.row))
            return bad(reason::partitions, operand::a);
        if (i_.has_mode(mode::double_row) && !is_double_row(a))
            return bad(reason::shape, operand::a);
        if (i_.has_mode(mode::mx) && a.partitions % 32 != 0)
            return bad(reason::partitions, operand::a);
        return std::nullopt;
    }

    finding stationary() const {
        const tile_operand &a = i_.a, &b = i_.b;
        if (const finding f = pe_rows()) return f;
        const std::uint64_t columns = a.elements() / (i_.has_mode(mode::double_row) ? 2 : 1);
        if (columns > pe_tile_of(i_.tile).columns) return bad(reason::count, operand::a);
        if (i_.has_mode(mode::mx)) {
            if (columns % 2 != 0) return bad(reason::count, operand::a);
            if (!scales_fit(b, a.partitions, columns)) return bad(reason::shape, operand::b);
        }
        if (i_.has_mode(mode::sparse) && (columns % 4 != 0 || !has(b, a.partitions, columns / 4)))
            return bad(reason::shape, operand::b);
        return std::nullopt;
    }

    finding multiply() const {
        const tile_operand &dst = i_.dst, &a = i_.a;
        const bool v4 = core_.generation == generation::v4;
        const pe_tile t = pe_tile_of(i_.tile);
        if (dst.partitions > t.columns || dst.where.partition != t.column)
            return bad(reason::partitions, operand::dst);
        const std::uint64_t n = dst.elements();
        if (!v4 && !in_one_bank(dst)) return bad(reason::free_size, operand::dst);
        if (const finding f = pe_rows()) return f;
        std::uint64_t moving = n;
        if (i_.has_mode(mode::double_row)) moving *= 2;
        if (i_.has_mode(mode::sparse)) moving *= compression();
        if (a.elements() != moving) return bad(reason::shape, operand::a);
        if (i_.has_mode(mode::mx) && !scales_fit(i_.b, a.partitions, n))
            return bad(reason::shape, operand::b);
        return std::nullopt;
    }

    static bool in_one_bank(const tile_operand& t) {
        std::int64_t low = t.where.offset, high = t.where.offset;
        for (unsigned d = 0; d < t.dimensions; ++d) {
            const std::int64_t reach =
                std::int64_t{size_of(t.type)} * t.pattern[d].stride * (t.pattern[d].count - 1);
            (reach < 0 ? low : high) += reach;
        }
        return low / psum_bank_bytes == (high + size_of(t.type) - 1) / psum_bank_bytes;
    }

    finding local_gather() const {
        const tile_operand &dst = i_.dst, &a = i_.a, &b = i_.b;
        if (a.type != dst.type) return bad(reason::type, operand::a);
        if (a.partitions % 16 != 0) return bad(reason::partitions, operand::a);
        if (i_.imm > 32 || !std::has_single_bit(i_.imm)) return bad(reason::value);
        const std::uint64_t indices = i_.s0.value;
        if (indices == 0 || indices > 4096) return bad(reason::count, operand::s0);
        if (b.partitions != a.partitions || 16 * b.elements() < indices)
            return bad(reason::shape, operand::b);
        return has(dst, a.partitions, indices * i_.imm) ? std::nullopt
                                                        : bad(reason::shape, operand::dst);
    }

    instruction& i_;
    const row& kind_;
    const std::uint8_t unused_;
    const core_traits& core_;
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
    checker all(d, core, registers);
    return d.kind->is_tiles() ? all.tiles() : all.control();
}

bool reads_registers(const instruction& i) {
    const auto scalar = [](const scalar_operand& s) {
        return s.kind == scalar_kind::register_fp32 || s.kind == scalar_kind::register_i32;
    };
    return i.dst.offset_from_register || i.a.offset_from_register || i.b.offset_from_register ||
           scalar(i.s0) || scalar(i.s1) || i.has_mode(mode::offset_register);
}

}  // namespace trn::isa

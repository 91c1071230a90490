// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/instructions/codec.h"

#include <algorithm>

namespace trn::isa {

namespace {

using input = std::span<const std::uint8_t>;

// Byte positions of spec 7.1 and 7.2.
constexpr unsigned wait_at = 4, update_at = 6, wait_value_at = 8, update_value_at = 12;
constexpr unsigned control_at = 16;
constexpr unsigned op0_at = 16, op1_at = 17, reduce_op_at = 18, reduce_cmd_at = 19, mode_at = 20,
                   subdim_at = 22, tile_at = 23, imm_at = 24, s0_at = 28, dst_at = 36, a_at = 64,
                   b_at = 92, s1_at = 120;
constexpr unsigned tile_bytes = 28, scalar_bytes = 8;
constexpr unsigned dge_side_at[] = {24, 64}, dge_limit_at = 104;

/// The field functions below take a reader, which fills members from bytes, or a writer, which
/// fills bytes from members.
class reader {
public:
    explicit reader(input source) : source_(source) {}

    template <typename T>
    void integer(unsigned offset, T& value, unsigned size = sizeof(T)) const {
        std::uint64_t word = 0;
        for (unsigned i = 0; i < size; ++i) word |= std::uint64_t{source_[offset + i]} << 8 * i;
        value = static_cast<T>(word);
    }
    void sign_extended(unsigned offset, std::uint64_t& value) const {
        std::int32_t word;
        integer(offset, word);
        value = static_cast<std::uint64_t>(std::int64_t{word});
    }
    void place(unsigned offset, location& value) const {
        std::uint32_t word;
        integer(offset, word);
        value = {static_cast<space>(word >> 30), static_cast<std::uint8_t>(word >> 23 & 0x7f),
                 word & 0x3ffff};
    }
    void tile(unsigned offset, tile_operand& value) const {
        place(offset, value.place);
        if (!value.present()) return;
        integer(offset + 4, value.type, 1);
        const std::uint8_t form = source_[offset + 5];
        value.dimensions = form & 7;
        value.indirect = (form >> 3 & 1) != 0;
        value.offset_from_register = (form >> 4 & 1) != 0;
        value.partitions = static_cast<std::uint16_t>(source_[offset + 6] + 1);
        if (value.offset_from_register) value.reg = source_[offset + 7];
        const unsigned used = value.dimensions == 0 ? 4 : std::min<unsigned>(value.dimensions, 4);
        for (unsigned i = 0; i < used; ++i) {
            integer(offset + 8 + 4 * i, value.pattern[i].stride);
            integer(offset + 10 + 4 * i, value.pattern[i].count);
        }
        if (value.indirect) place(offset + 24, value.index);
    }
    void scalar(unsigned offset, scalar_operand& value) const {
        integer(offset, value.kind, 1);
        switch (value.kind) {
        case scalar_kind::none:
            return;
        case scalar_kind::fp32:
        case scalar_kind::i32:
            return integer(offset + 4, value.value);
        case scalar_kind::tile:
            integer(offset + 1, value.type, 1);
            return place(offset + 4, value.place);
        case scalar_kind::register_fp32:
        case scalar_kind::register_i32:
            return integer(offset + 2, value.reg);
        }
    }

private:
    input source_;
};

class writer {
public:
    explicit writer(bytes& result) : result_(result) {}

    template <typename T>
    void integer(unsigned offset, const T& value, unsigned size = sizeof(T)) const {
        const auto word = static_cast<std::uint64_t>(value);
        for (unsigned i = 0; i < size; ++i)
            result_[offset + i] = static_cast<std::uint8_t>(word >> 8 * i);
    }
    void sign_extended(unsigned offset, const std::uint64_t& value) const {
        integer(offset, value, 4);
    }
    void place(unsigned offset, const location& value) const {
        integer(offset, std::uint32_t{static_cast<std::uint32_t>(value.space)} << 30 |
                            std::uint32_t{value.partition & 0x7fu} << 23 |
                            (value.offset & 0x3ffff));
    }
    void tile(unsigned offset, const tile_operand& value) const {
        if (!value.present()) return;
        place(offset, value.place);
        integer(offset + 4, value.type, 1);
        result_[offset + 5] = static_cast<std::uint8_t>(
            (value.dimensions & 7) | value.indirect << 3 | value.offset_from_register << 4);
        result_[offset + 6] = static_cast<std::uint8_t>(value.partitions - 1);
        result_[offset + 7] = value.reg;
        for (unsigned i = 0; i < value.pattern.size(); ++i) {
            integer(offset + 8 + 4 * i, value.pattern[i].stride);
            integer(offset + 10 + 4 * i, value.pattern[i].count);
        }
        place(offset + 24, value.index);
    }
    void scalar(unsigned offset, const scalar_operand& value) const {
        integer(offset, value.kind, 1);
        integer(offset + 1, value.type, 1);
        result_[offset + 2] = value.reg;
        if (value.kind == scalar_kind::tile) return place(offset + 4, value.place);
        integer(offset + 4, value.value);
    }

private:
    bytes& result_;
};

bool uses_op1(operators o) {
    return o == operators::two_operators || o == operators::two_arithmetic ||
           o == operators::cumulative || o == operators::two_comparisons;
}

template <typename Io, typename Fields>
void registers(const Io& io, const row& kind, Fields& f) {
    for (const field& entry : kind.fields)
        if (entry.content == field::kind::number && entry.member == &register_fields::immediate)
            io.integer(entry.byte, f.immediate, 1);
    for (const field& entry : kind.fields) {
        if (entry.used == field::use::with_flag && f.immediate != 1) continue;
        if (entry.used == field::use::without_flag && f.immediate == 1) continue;
        if (entry.content == field::kind::place)
            io.place(entry.byte, f.place);
        else if (entry.content == field::kind::i32)
            io.sign_extended(entry.byte, f.*entry.member);
        else
            io.integer(entry.byte, f.*entry.member, entry.bytes());
    }
}

template <typename Io, typename List>
void sync(const Io& io, List& list) {
    for (unsigned i = 0; i < list.size(); ++i) {
        const unsigned offset = control_at + 8 * i;
        io.integer(offset, list[i].mode);
        if (list[i].mode == 0) return;  // ends the list: later bytes are unused
        io.integer(offset + 1, list[i].index);
        io.integer(offset + 4, list[i].value);
    }
}

template <typename Io, typename List>
void writes(const Io& io, List& list) {
    for (unsigned i = 0; i < list.size(); ++i) {
        const unsigned offset = control_at + 16 * i;
        io.integer(offset + 12, list[i].size);
        if (list[i].size == 0) return;
        io.integer(offset, list[i].address);
        io.integer(offset + 8, list[i].data);
        io.integer(offset + 13, list[i].reg_data);
    }
}

template <typename Io, typename Sets>
void doorbells(const Io& io, Sets& sets) {
    for (unsigned i = 0; i < sets.size(); ++i) {
        const unsigned offset = control_at + 8 * i;
        io.integer(offset, sets[i].engines);
        if (sets[i].engines == 0) return;
        io.integer(offset + 2, sets[i].queue);
        io.integer(offset + 4, sets[i].m2s_count);
        io.integer(offset + 6, sets[i].s2m_count);
    }
}

template <typename Io, typename Side>
void dge_side(const Io& io, unsigned offset, Side& s) {
    io.integer(offset, s.base);
    io.integer(offset + 8, s.reg);
    io.integer(offset + 12, s.reg_unit);
    for (unsigned i = 0; i < s.pattern.size(); ++i) {
        io.integer(offset + 16 + 6 * i, s.pattern[i].stride);
        io.integer(offset + 20 + 6 * i, s.pattern[i].count);
    }
}

template <typename Io, typename Dge>
void dge(const Io& io, Dge& f) {
    io.integer(16, f.engines);
    io.integer(18, f.queue);
    io.integer(19, f.semaphore);
    io.integer(20, f.piece_bytes);
    io.integer(22, f.flags);
    io.integer(23, f.priority);
    dge_side(io, dge_side_at[0], f.source);
    dge_side(io, dge_side_at[1], f.destination);
    io.integer(dge_limit_at, f.limit);
}

template <typename Io, typename Instruction>
void tiles(const Io& io, const row& kind, Instruction& i) {
    if (kind.operators != operators::none) io.integer(op0_at, i.op0);
    if (uses_op1(kind.operators)) io.integer(op1_at, i.op1);
    if (kind.reduce_cmds != 0) {
        if (kind.operators != operators::cumulative) io.integer(reduce_op_at, i.reduce_op);
        io.integer(reduce_cmd_at, i.reduce_cmd);
    }
    if (kind.modes != 0) io.integer(mode_at, i.mode);
    if (kind.uses_subdim) io.integer(subdim_at, i.subdim);
    if (kind.uses_tile) io.integer(tile_at, i.tile);
    if (kind.imm != immediate::none) io.integer(imm_at, i.imm);
    if (kind.s0.need != need::unused) io.scalar(s0_at, i.s0);
    if (kind.dst.need != need::unused) io.tile(dst_at, i.dst);
    if (kind.a.need != need::unused) io.tile(a_at, i.a);
    if (kind.b.need != need::unused) io.tile(b_at, i.b);
    if (kind.s1.need != need::unused) io.scalar(s1_at, i.s1);
    if (kind.layout == layout::tiles_table) io.integer(s1_at, i.table_base);
    if (kind.layout == layout::tiles_shuffle)
        for (unsigned m = 0; m < i.shuffle.size(); ++m) io.integer(b_at + m, i.shuffle[m]);
    if (kind.layout == layout::tiles_pattern) {
        io.integer(b_at, i.pattern.offset);
        io.integer(b_at + 4, i.pattern.multiplier);
        for (unsigned d = 0; d < i.pattern.steps.size(); ++d) {
            io.integer(b_at + 8 + 4 * d, i.pattern.steps[d]);
            io.integer(s1_at + 2 * d, i.pattern.counts[d]);
        }
    }
}

template <typename T, typename Instruction>
auto& chosen(Instruction& i) {
    if constexpr (std::is_const_v<Instruction>) {
        return std::get<T>(i.control);
    } else {
        return i.control.template emplace<T>();
    }
}

template <typename Io, typename Instruction>
void all_fields(const Io& io, const row& kind, Instruction& i) {
    io.integer(0, i.opcode);
    io.integer(2, i.flags);
    io.integer(wait_at, i.wait.mode);
    io.integer(wait_at + 1, i.wait.index);
    io.integer(wait_value_at, i.wait.value);
    io.integer(update_at, i.update.mode);
    io.integer(update_at + 1, i.update.index);
    io.integer(update_value_at, i.update.value);
    switch (kind.layout) {
    case layout::registers:
        return registers(io, kind, chosen<register_fields>(i));
    case layout::sync:
        return sync(io, chosen<sync_list>(i));
    case layout::writes:
        return writes(io, chosen<write_list>(i));
    case layout::doorbells:
        return doorbells(io, chosen<doorbell_sets>(i));
    case layout::dge:
        return dge(io, chosen<dge_copy_fields>(i));
    default:
        return tiles(io, kind, i);
    }
}

constexpr std::uint8_t no_operand_bit = 1 << 7;

/// Bit of the operand that has byte `offset` of a data-path instruction.
std::uint8_t operand_bit(const row& kind, std::size_t offset) {
    const auto within = [offset](unsigned first, unsigned size) { return offset - first < size; };
    const auto bit = [](operand o) { return static_cast<std::uint8_t>(1u << unsigned(o)); };
    if (!kind.is_tiles()) return no_operand_bit;
    if (within(dst_at, tile_bytes)) return bit(operand::dst);
    if (within(a_at, tile_bytes)) return bit(operand::a);
    if (within(b_at, tile_bytes)) return bit(operand::b);
    if (within(s0_at, scalar_bytes)) return bit(operand::s0);
    if (within(s1_at, scalar_bytes)) return bit(operand::s1);
    return no_operand_bit;
}

std::uint64_t value_of(input source, unsigned offset, unsigned size) {
    std::uint64_t value = 0;
    reader(source).integer(offset, value, size);
    return value;
}

}  // namespace

wait_condition wait_of(input header) {
    return {header[wait_at], header[wait_at + 1],
            static_cast<std::int32_t>(value_of(header, wait_value_at, 4))};
}

semaphore_update update_of(input header) {
    return {header[update_at], header[update_at + 1],
            static_cast<std::int32_t>(value_of(header, update_value_at, 4))};
}

std::optional<fault> check_header(input header, engine e, generation g) {
    const auto illegal = [](reason why) { return fault_of(error::illegal_instruction, why); };
    const std::uint8_t flags = header[2];
    if (header[3] != 1) return illegal(reason::format);
    if (flags >> 5 != 0) return illegal(reason::reserved_bits);
    const wait_condition wait = wait_of(header);
    const semaphore_update update = update_of(header);
    if (wait.mode > static_cast<unsigned>(wait_mode::ge_subtract))
        return illegal(reason::wait_mode);
    const unsigned action = update.mode & ~at_issue;
    if (action > static_cast<unsigned>(update_mode::event_clear) || update.mode == at_issue)
        return illegal(reason::update_mode);
    const bool wait_reg = (flags & flag::wait_reg) != 0;
    const bool update_reg = (flags & flag::update_reg) != 0;
    if ((wait.mode == 0 && (wait.index != 0 || wait.value != 0 || wait_reg)) ||
        (update.mode == 0 && (update.index != 0 || update.value != 0 || update_reg)))
        return illegal(reason::unused_field);
    const bool event_wait = wait.mode == static_cast<unsigned>(wait_mode::event_set) ||
                            wait.mode == static_cast<unsigned>(wait_mode::event_clear);
    const bool event_update = action >= static_cast<unsigned>(update_mode::event_set);
    if ((event_wait && (wait.value != 0 || wait_reg)) ||
        (event_update && (update.value != 0 || update_reg)))
        return illegal(reason::unused_field);
    if ((wait_reg && static_cast<std::uint32_t>(wait.value) >= register_count) ||
        (update_reg && static_cast<std::uint32_t>(update.value) >= register_count))
        return fault_of(error::out_of_bounds, reason::register_number);

    const row* kind = find(static_cast<opcode>(value_of(header, 0, 2)));
    if (kind == nullptr) return illegal(reason::opcode);
    const unsigned engines = kind->engines[0] | kind->engines[1] | kind->engines[2];
    if ((engines >> static_cast<unsigned>(e) & 1) == 0) return illegal(reason::engine);
    if (!kind->runs_on(e, g)) return illegal(reason::generation);
    if (kind->is_long() != ((flags & flag::long_form) != 0)) return illegal(reason::length);
    return std::nullopt;
}

decoded decode(input word) {
    decoded d;
    d.kind = find(static_cast<opcode>(value_of(word, 0, 2)));
    all_fields(reader(word), *d.kind, d.value);
    const bytes again = encode(d.value);
    const std::size_t size = d.kind->is_long() ? 2 * word_bytes : word_bytes;
    for (std::size_t offset = 16; offset < size; ++offset)
        if (word[offset] != again[offset]) d.unused_bits_set |= operand_bit(*d.kind, offset);
    return d;
}

bytes encode(const instruction& i) {
    bytes result{};
    result[3] = 1;  // FORMAT
    all_fields(writer(result), *find(i.opcode), i);
    return result;
}

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/instruction_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <tuple>

#include "models/neuron_isa/assembler/words.h"

namespace trn::isa {

instruction instruction_reader::read() {
    header();
    const row& kind = mnemonic();
    if (kind.is_long()) i_.flags |= flag::long_form;
    i_.opcode = kind.opcode;
    switch (kind.layout) {
    case layout::registers:
        registers(kind);
        break;
    case layout::sync:
        sync();
        break;
    case layout::writes:
        writes();
        break;
    case layout::doorbells:
        doorbells();
        break;
    case layout::dge:
        dge();
        break;
    default:
        tiles(kind);
        break;
    }
    in_.expect_end();
    return i_;
}

extent instruction_reader::place_of(std::string_view key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? name_ : found->second;
}

void instruction_reader::once(std::size_t start, std::string_view key) {
    in_.once(given_, start, key);
}

void instruction_reader::header() {
    for (;;) {
        const std::size_t start = in_.position();
        if (in_.accept("@break")) {
            once(start, "@break");
            i_.flags |= flag::stop;
        } else if (in_.accept("@notify")) {
            once(start, "@notify");
            i_.flags |= flag::notify;
        } else if (in_.accept("wait ")) {
            once(start, "wait");  // further waits: EVENT_SEMAPHORE (spec 6)
            i_.wait = operands_.wait(&i_.flags);
        } else if (in_.accept("update ")) {
            once(start, "update");
            i_.update = operands_.update(&i_.flags);
        } else {
            return;
        }
    }
}

const row& instruction_reader::mnemonic() {
    const std::size_t start = in_.position();
    const std::string_view given = in_.word("an instruction");
    name_ = in_.since(start);
    if (const row* found = find(given)) return *found;
    std::vector<std::string_view> known;
    for (const row& kind : table()) known.push_back(kind.mnemonic);
    in_.unknown(start, given, "an instruction or a directive", known);
}

void instruction_reader::registers(const row& kind) {
    auto& f = i_.control.emplace<register_fields>();
    std::uint64_t given = 0;
    while (in_.at_word()) {
        const std::size_t start = in_.position();
        const std::string_view key = in_.word("a field");
        const auto found = std::ranges::find(kind.fields, key, &field::name);
        if (found == kind.fields.end()) unknown_key(start, key, field_names(kind));
        once(start, key);
        for (std::size_t n = 0; n < kind.fields.size(); ++n)
            if ((given >> n & 1) != 0 && found->excludes(kind.fields[n]))
                in_.fail(mistake::unused_key, start,
                         fmt::format("{} takes either {}= or {}=", kind.mnemonic,
                                     kind.fields[n].name, key));
        in_.expect("=");
        given |= 1ull << (found - kind.fields.begin());
        if (found->used != field::use::always) f.immediate = found->used == field::use::with_flag;
        value(kind, *found, f);
    }
    for (std::size_t n = 0; n < kind.fields.size(); ++n) {
        const field& row_field = kind.fields[n];
        const bool needed = row_field.name == "target" ||
                            (row_field.content == field::kind::reg &&
                             row_field.used == field::use::always && kind.opcode != opcode::branch);
        if (needed && (given >> n & 1) == 0)
            in_.fail(mistake::missing_key, in_.position(),
                     fmt::format("{} needs {}=", kind.mnemonic, row_field.name));
    }
}

std::vector<std::string_view> instruction_reader::field_names(const row& kind) {
    std::vector<std::string_view> names;
    for (const field& row_field : kind.fields)
        if (!row_field.name.empty()) names.push_back(row_field.name);
    return names;
}

void instruction_reader::unknown_key(std::size_t start, std::string_view key,
                                     std::span<const std::string_view> known) const {
    in_.fail(mistake::unknown_key, start,
             fmt::format("{} has no '{}'", find(i_.opcode)->mnemonic, key), suggest(key, known));
}

void instruction_reader::value(const row& kind, const field& row_field, register_fields& f) {
    switch (row_field.content) {
    case field::kind::reg:
        f.*row_field.member = in_.reg();
        return;
    case field::kind::type:
        f.*row_field.member = static_cast<std::uint64_t>(in_.element_type());
        return;
    case field::kind::u32:
        f.*row_field.member = in_.bits32();
        return;
    case field::kind::i32:
        if (row_field.name == "target" && in_.at_word()) return label();
        f.*row_field.member =
            static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(in_.bits32())});
        return;
    case field::kind::address:
        f.*row_field.member = address(row_field.byte);
        return;
    case field::kind::place:
        f.place = operands_.address();
        return;
    case field::kind::number:
        if (in_.at_number())
            f.*row_field.member = in_.number<std::uint8_t>();
        else if (kind.opcode == opcode::branch)
            f.*row_field.member = in_.choice(condition_words, "a condition");
        else if (kind.opcode == opcode::rank)
            f.*row_field.member = in_.choice(rank_words, "something that rank reads");
        else
            f.*row_field.member = operands_.alu_operator();
        return;
    }
}

void instruction_reader::label() {
    const std::size_t start = in_.position();
    target_ = {std::string(in_.word("a label")), start};
}

void instruction_reader::sync() {
    auto& list = i_.control.emplace<sync_list>();
    std::size_t n = 0;
    while (!in_.at_end()) {
        const std::size_t start = in_.position();
        if (n == list.size())
            in_.fail(mistake::out_of_range, start, "event_semaphore has at most 6 entries");
        if (in_.accept("wait ")) {
            const wait_condition w = operands_.wait(nullptr);
            list[n++] = {w.mode, w.index, w.value};
        } else if (in_.accept("update ")) {
            const semaphore_update u = operands_.update(nullptr);
            list[n++] = {static_cast<std::uint8_t>(u.mode | sync_entry::update), u.index, u.value};
        } else {
            in_.fail(mistake::wrong_shape, start, "expected 'wait' or 'update'");
        }
    }
}

std::uint64_t instruction_reader::address(unsigned byte) {
    if (!in_.accept("@")) return in_.bits64();
    relocation r = names_.read_address(in_);
    r.word = byte / word_bytes;
    r.byte = byte % word_bytes;
    relocations_.push_back(r);
    return 0;
}

void instruction_reader::writes() {
    auto& list = i_.control.emplace<write_list>();
    std::size_t n = 0;
    while (!in_.at_end()) {
        if (n == list.size())
            in_.fail(mistake::out_of_range, in_.position(), "write has at most 3 writes");
        posted_write& w = list[n++];
        w.address = address(static_cast<unsigned>(16 * n));
        in_.expect(".");
        w.size = static_cast<std::uint8_t>(in_.number(1, 255));
        in_.expect("=");
        if (in_.at_register())
            w.reg_data = static_cast<std::uint8_t>(0x80 | in_.reg());
        else
            w.data = in_.bits32();
    }
}

void instruction_reader::doorbells() {
    auto& sets = i_.control.emplace<doorbell_sets>();
    static constexpr std::string_view keys[] = {"engines", "queue", "m2s", "s2m"};
    unsigned n = 0;
    while (!in_.at_end()) {
        const std::size_t start = in_.position();
        const cursor before = in_;
        const std::string_view key = in_.word("a field or the name of a transfer");
        const auto found = std::ranges::find(keys, key);
        if (found == std::end(keys)) {
            in_ = before;
            start_transfer(sets, n, start);
            continue;
        }
        if (found == keys) given_.clear();  // of the set before
        once(start, key);
        in_.expect("=");
        if (found == keys && ++n > sets.size())
            in_.fail(mistake::out_of_range, start, "dma_start has at most 2 sets of doorbells");
        if (n == 0) in_.fail(mistake::missing_key, start, "a set begins with engines=");
        doorbell_set& s = sets[n - 1];
        switch (found - keys) {
        case 0:
            s.engines = in_.number<std::uint16_t>();
            break;
        case 1:
            s.queue = static_cast<std::uint8_t>(names_.read_queue(in_, 255));
            break;
        case 2:
            s.m2s_count = in_.number<std::uint16_t>();
            break;
        default:
            s.s2m_count = in_.number<std::uint16_t>();
            break;
        }
    }
}

void instruction_reader::start_transfer(doorbell_sets& sets, unsigned& n, std::size_t start) {
    const transfer& t = names_.read_transfer_name(in_);
    if (t.core != names_.core)
        in_.fail(mistake::refused_by_model, start,
                 fmt::format("'{}' is done by the DMA engines of core {}: only that core can "
                             "start it",
                             t.name, t.core));
    transfers_.push_back(&t);
    const auto count = static_cast<unsigned>(std::popcount(t.engines));
    std::map<std::uint16_t, std::uint16_t> engines_of;  // engines by their number of descriptors
    for (unsigned e = 0, k = 0; e < dma_engines_of_core; ++e)
        if ((t.engines >> e & 1) != 0) {
            auto& map = engines_of[static_cast<std::uint16_t>(t.descriptors_of(k++, count))];
            map = static_cast<std::uint16_t>(map | 1u << e);
        }
    for (const auto& [descriptors, engines] : engines_of) {
        if (descriptors == 0) continue;
        if (n == sets.size())
            in_.fail(mistake::out_of_range, start,
                     "dma_start has 2 sets of doorbells: start the transfers one by one");
        sets[n++] = {engines, static_cast<std::uint8_t>(t.queue), descriptors, descriptors};
    }
}

dge_copy_fields::side instruction_reader::dge_side(unsigned byte) {
    dge_copy_fields::side s;
    s.base = address(byte);
    if (in_.accept("+")) {
        s.reg = static_cast<std::uint8_t>(0x80 | in_.reg());
        in_.expect("*");
        s.reg_unit = in_.number<std::uint32_t>();
    }
    in_.expect("[");
    std::size_t d = 0;
    do {
        if (d == s.pattern.size())
            in_.fail(mistake::wrong_shape, in_.position(), "at most 4 dimensions");
        s.pattern[d].count = in_.number<std::uint16_t>();
        in_.expect(":");
        s.pattern[d++].stride = in_.number<std::int32_t>();
    } while (in_.accept(","));
    for (; d < s.pattern.size(); ++d) s.pattern[d].count = 1;
    in_.expect("]");
    return s;
}

void instruction_reader::dge() {
    auto& f = i_.control.emplace<dge_copy_fields>();
    static constexpr std::string_view keys[] = {"engines",  "queue",     "semaphore",   "piece",
                                                "priority", "source",    "destination", "limit",
                                                "oob_skip", "transpose", "accumulate",  "bf16"};
    while (!in_.at_end()) {
        const std::size_t start = in_.position();
        const std::string_view key = in_.word("a field");
        const auto found = std::ranges::find(keys, key);
        if (found == std::end(keys)) unknown_key(start, key, keys);
        once(start, key);
        const auto n = found - keys;
        if (n < 8) in_.expect("=");
        switch (n) {
        case 0:
            f.engines = in_.number<std::uint16_t>();
            break;
        case 1:
            f.queue = static_cast<std::uint8_t>(names_.read_queue(in_, 255));
            break;
        case 2:
            f.semaphore = in_.number<std::uint8_t>();
            break;
        case 3:
            f.piece_bytes = in_.number<std::uint16_t>();
            break;
        case 4:
            f.priority = in_.number<std::uint8_t>();
            break;
        case 5:
            f.source = dge_side(24);
            break;
        case 6:
            f.destination = dge_side(64);
            break;
        case 7:
            f.limit = in_.bits64();
            break;
        default:
            f.flags = static_cast<std::uint8_t>(f.flags | 1 << (n - 8));
            break;
        }
    }
}

std::vector<std::string_view> instruction_reader::tile_keys(const row& kind) {
    std::vector<std::string_view> keys;
    const auto key = [&](bool used, std::string_view name) {
        if (used) keys.push_back(name);
    };
    key(kind.operators != operators::none, "op0");
    key(has_second_operator(kind), "op1");
    key(kind.reduce_cmds != 0 && kind.operators != operators::cumulative, "reduce");
    key(kind.reduce_cmds != 0, "cmd");
    key(kind.uses_subdim, "subdim");
    key(kind.uses_tile, "tile");
    key(kind.imm != immediate::none, "imm");
    key(kind.dst.need != need::unused, "dst");
    key(kind.a.need != need::unused, "a");
    key(kind.b.need != need::unused, "b");
    key(kind.s0.need != need::unused, "s0");
    key(kind.s1.need != need::unused, "s1");
    key(kind.layout == layout::tiles_table, "table");
    key(kind.layout == layout::tiles_shuffle, "mask");
    key(kind.layout == layout::tiles_pattern, "pattern");
    key((kind.modes & mode::sparse) != 0, "sparse");
    for (const mode_word& m : mode_words) key((kind.modes & m.bit) != 0, m.word);
    return keys;
}

void instruction_reader::tiles(const row& kind) {
    const auto keys = tile_keys(kind);
    while (!in_.at_end()) {
        const std::size_t start = in_.position();
        const std::string_view key = in_.word("an operand");
        if (std::ranges::find(keys, key) == keys.end()) unknown_key(start, key, keys);
        once(start, key);
        const auto mode_bit = std::ranges::find(mode_words, key, &mode_word::word);
        if (mode_bit != std::end(mode_words)) {
            i_.mode |= mode_bit->bit;
            continue;
        }
        in_.expect("=");
        tile_field(kind, key);
        places_[key] = in_.since(start);
    }
    for (const auto& [rule, present, name] : {std::tuple{&kind.dst, i_.dst.present(), "dst"},
                                              {&kind.a, i_.a.present(), "a"},
                                              {&kind.b, i_.b.present(), "b"}})
        if (rule->need == need::required && !present)
            in_.fail(mistake::missing_key, in_.position(),
                     fmt::format("{} needs {}=", kind.mnemonic, name));
    fix_immediate(kind);
}

void instruction_reader::tile_field(const row& kind, std::string_view key) {
    if (key == "op0") i_.op0 = has_function(kind) ? operands_.function() : operands_.alu_operator();
    if (key == "op1") i_.op1 = operands_.alu_operator();
    if (key == "reduce") i_.reduce_op = operands_.alu_operator();
    if (key == "cmd")
        i_.reduce_cmd = static_cast<std::uint8_t>(
            in_.at_number() ? in_.number(0, 255)
                            : in_.choice(command_words, "an accumulator command"));
    if (key == "subdim") i_.subdim = in_.number<std::uint8_t>();
    if (key == "tile") i_.tile = operands_.pe_tile_bits();
    if (key == "imm") remember_immediate();
    if (key == "dst") i_.dst = operands_.tile();
    if (key == "a") i_.a = operands_.tile();
    if (key == "b") i_.b = operands_.tile();
    if (key == "s0") i_.s0 = operands_.scalar();
    if (key == "s1") i_.s1 = operands_.scalar();
    if (key == "table") i_.table_base = address(120);
    if (key == "mask") mask();
    if (key == "pattern") pattern();
    if (key == "sparse")
        i_.mode =
            static_cast<std::uint16_t>(i_.mode | (in_.number(2, 4) - 1) << mode::sparse_shift);
}

void instruction_reader::remember_immediate() {
    immediate_ = in_;
    in_.fp32_bits();  // reads the longest form
}

void instruction_reader::fix_immediate(const row& kind) {
    if (!immediate_) return;
    const bool real = has_real_immediate(kind, i_);
    i_.imm = real ? immediate_->fp32_bits() : immediate_->bits32();
    if (!real && immediate_->accept("."))
        immediate_->fail(mistake::not_whole, immediate_->position(), "expected a whole number");
}

void instruction_reader::mask() {
    in_.expect("[");
    for (std::size_t n = 0; n < i_.shuffle.size(); ++n) {
        if (n != 0) in_.expect(",");
        i_.shuffle[n] = in_.number<std::uint8_t>();
    }
    in_.expect("]");
}

void instruction_reader::pattern() {
    data_pattern& p = i_.pattern;
    in_.expect("(");
    p.offset = in_.number<std::int32_t>();
    in_.expect(",");
    p.multiplier = in_.number<std::int32_t>();
    in_.expect(")");
    in_.expect("[");
    std::size_t d = 0;
    do {
        if (d == p.steps.size())
            in_.fail(mistake::wrong_shape, in_.position(), "at most 4 dimensions");
        p.counts[d] = in_.number<std::uint16_t>();
        in_.expect(":");
        p.steps[d++] = in_.number<std::int32_t>();
    } while (in_.accept(","));
    for (; d < p.counts.size(); ++d) p.counts[d] = 1;
    in_.expect("]");
}

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#include "models/assembler/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "models/assembler/collective_queues.h"
#include "models/assembler/cursor.h"
#include "models/assembler/directives.h"
#include "models/assembler/preprocessor.h"
#include "models/assembler/words.h"
#include "models/instructions/codec.h"
#include "platform/framework/config/diagnostics.h"

namespace trn::isa {

namespace {

constexpr std::size_t max_words_of_stream = 1 << 20;

/// A branch whose target is a label.
struct label_use {
    std::string label;
    std::size_t pc;
    std::size_t column, length;
    int line;
};

class line_reader {
public:
    line_reader(cursor& in, std::vector<label_use>& uses, std::size_t pc, int line,
                program_names& names)
        : in_(in), uses_(uses), pc_(pc), line_(line), names_(names) {}

    /// Addresses that the loader fills in; `word` counts from the instruction.
    const std::vector<relocation>& relocations() const { return relocations_; }
    /// The transfers that a dma_start names.
    const std::vector<const transfer*>& transfers() const { return transfers_; }

    instruction read() {
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
        if (!in_.at_end()) in_.fail(mistake::wrong_shape, in_.position(), "nothing expected here");
        return i_;
    }

private:
    void header() {
        for (;;) {
            if (in_.accept("@break"))
                i_.flags |= flag::stop;
            else if (in_.accept("@notify"))
                i_.flags |= flag::notify;
            else if (in_.accept("wait "))
                i_.wait = wait(&i_.flags);
            else if (in_.accept("update "))
                i_.update = update(&i_.flags);
            else
                return;
        }
    }

    const row& mnemonic() {
        const std::size_t start = in_.position();
        const std::string_view given = in_.word("an instruction");
        if (const row* found = find(given)) return *found;
        std::vector<std::string_view> known;
        for (const row& one : table()) known.push_back(one.mnemonic);
        in_.unknown(start, given, "an instruction or a directive", known);
    }

    /// S[n] or E[n]. \returns whether it is an event
    bool semaphore(std::uint8_t& index) {
        const std::size_t start = in_.position();
        const bool event = in_.accept("E[");
        if (!event && !in_.accept("S["))
            in_.fail(mistake::wrong_shape, start, "expected a semaphore S[n] or an event E[n]");
        index = in_.number<std::uint8_t>();
        in_.expect("]");
        return event;
    }

    /// A value, or a register where `flags` has a bit for it.
    std::int32_t amount(std::uint8_t* flags, std::uint8_t bit) {
        if (flags == nullptr || !in_.at_register()) return in_.number<std::int32_t>();
        *flags |= bit;
        return in_.reg();
    }

    wait_condition wait(std::uint8_t* flags) {
        wait_condition w;
        if (semaphore(w.index)) {
            in_.expect("==");
            w.mode = static_cast<std::uint8_t>(in_.number(0, 1) == 1 ? wait_mode::event_set
                                                                     : wait_mode::event_clear);
            return w;
        }
        const auto sign = std::ranges::find_if(wait_signs, [&](auto s) { return in_.accept(s); });
        if (sign == std::end(wait_signs))
            in_.fail(mistake::wrong_shape, in_.position(), "expected >=, ==, <= or !=");
        w.mode = static_cast<std::uint8_t>(sign - std::begin(wait_signs) + 1);
        w.value = amount(flags, flag::wait_reg);
        if (in_.accept(":subtract")) {
            if (w.mode != static_cast<unsigned>(wait_mode::ge))
                in_.fail(mistake::wrong_shape, in_.position(), ":subtract needs >=");
            w.mode = static_cast<std::uint8_t>(wait_mode::ge_subtract);
        }
        return w;
    }

    semaphore_update update(std::uint8_t* flags) {
        semaphore_update u;
        if (semaphore(u.index)) {
            in_.expect("=");
            u.mode = static_cast<std::uint8_t>(in_.number(0, 1) == 1 ? update_mode::event_set
                                                                     : update_mode::event_clear);
        } else {
            const auto sign =
                std::ranges::find_if(update_signs, [&](auto s) { return in_.accept(s); });
            if (sign == std::end(update_signs))
                in_.fail(mistake::wrong_shape, in_.position(), "expected +=, -= or =");
            u.mode = static_cast<std::uint8_t>(sign - std::begin(update_signs) + 1);
            u.value = amount(flags, flag::update_reg);
        }
        if (flags != nullptr && in_.accept(":at_issue"))
            u.mode = static_cast<std::uint8_t>(u.mode | at_issue);
        return u;
    }

    std::uint8_t alu_operator() {
        const std::size_t start = in_.position();
        if (in_.at_number()) return in_.number<std::uint8_t>();
        const std::string_view given = in_.word("an operator");
        std::vector<std::string_view> known;
        for (unsigned code = 0; code <= unsigned(alu::shift_right_arithmetic); ++code) {
            const std::string_view name = name_of(static_cast<alu>(code));
            if (name.empty()) continue;
            if (name == given) return static_cast<std::uint8_t>(code);
            known.push_back(name);
        }
        in_.unknown(start, given, "an operator", known);
    }

    std::uint8_t function() {
        const std::size_t start = in_.position();
        const std::string_view given = in_.word("an activation function");
        std::vector<std::string_view> known;
        for (unsigned code = 0; code < activation_count; ++code) {
            known.push_back(name_of(static_cast<activation>(code)));
            if (known.back() == given) return static_cast<std::uint8_t>(code);
        }
        in_.unknown(start, given, "an activation function", known);
    }

    space memory() {
        const std::size_t start = in_.position();
        const std::string_view given = in_.word("sbuf or psum");
        if (given == "sbuf") return space::sbuf;
        if (given == "psum") return space::psum;
        static constexpr std::string_view known[] = {"sbuf", "psum"};
        in_.unknown(start, given, "a memory of the core", known);
    }

    std::uint8_t partition() { return static_cast<std::uint8_t>(in_.number(0, 127)); }
    std::uint32_t offset() { return static_cast<std::uint32_t>(in_.number(0, 0x3ffff)); }

    /// "sbuf[0, 64]"
    location where() {
        location l;
        l.space = memory();
        in_.expect("[");
        l.partition = partition();
        in_.expect(",");
        l.offset = offset();
        in_.expect("]");
        return l;
    }

    /// "sbuf[0:128, 4096 + R3] fp32 [512:1, 4:512] index sbuf[32, 0]"
    tile_operand tile() {
        tile_operand t;
        t.where.space = memory();
        in_.expect("[");
        t.where.partition = partition();
        in_.expect(":");
        const std::size_t start = in_.position();
        const auto end = in_.number(0, 127 + 256);
        if (end <= t.where.partition || end > t.where.partition + 256)
            in_.fail(mistake::out_of_range, start, "the last partition is before the first");
        t.partitions = static_cast<std::uint16_t>(end - t.where.partition);
        in_.expect(",");
        t.where.offset = offset();
        if (in_.accept("+")) {
            t.offset_from_register = true;
            t.reg = in_.reg();
        }
        in_.expect("]");
        t.type = in_.element_type();
        in_.expect("[");
        do {
            if (t.dimensions == 4)
                in_.fail(mistake::wrong_shape, in_.position(), "a tile has at most 4 dimensions");
            dimension& d = t.pattern[t.dimensions++];
            d.count = in_.number<std::uint16_t>();
            in_.expect(":");
            d.stride = in_.number<std::int16_t>();
        } while (in_.accept(","));
        in_.expect("]");
        if (in_.accept("index ")) {
            t.indirect = true;
            t.index = where();
        }
        return t;
    }

    /// "fp32(1.5)", "i32(R3)", "sbuf[0, 64] fp32"
    scalar_operand scalar() {
        scalar_operand s;
        const bool real = in_.accept("fp32(");
        if (real || in_.accept("i32(")) {
            const bool reg = in_.at_register();
            s.kind = real ? (reg ? scalar_kind::register_fp32 : scalar_kind::fp32)
                          : (reg ? scalar_kind::register_i32 : scalar_kind::i32);
            if (reg)
                s.reg = in_.reg();
            else
                s.value = real ? in_.fp32_bits() : in_.bits32();
            in_.expect(")");
            return s;
        }
        if (!in_.at_word())
            in_.fail(mistake::wrong_shape, in_.position(),
                     "expected fp32(x), i32(n), or a tile such as sbuf[0, 64] fp32");
        s.kind = scalar_kind::tile;
        s.where = where();
        s.type = in_.element_type();
        return s;
    }

    void registers(const row& kind) {
        auto& f = i_.control.emplace<register_fields>();
        std::uint64_t given = 0;
        while (in_.at_word()) {
            const std::size_t start = in_.position();
            const std::string_view key = in_.word("a field");
            const auto one = std::ranges::find(kind.fields, key, &field::name);
            if (one == kind.fields.end()) unknown_key(start, key, field_names(kind));
            in_.expect("=");
            given |= 1ull << (one - kind.fields.begin());
            if (one->when != field::use::always) f.immediate = one->when == field::use::with_flag;
            value(kind, *one, f);
        }
        for (std::size_t n = 0; n < kind.fields.size(); ++n) {
            const field& one = kind.fields[n];
            const bool needed = one.name == "target" ||
                                (one.what == field::kind::reg && one.when == field::use::always &&
                                 kind.opcode != opcode::branch);
            if (needed && (given >> n & 1) == 0)
                in_.fail(mistake::missing_key, in_.position(),
                         fmt::format("{} needs {}=", kind.mnemonic, one.name));
        }
    }

    static std::vector<std::string_view> field_names(const row& kind) {
        std::vector<std::string_view> names;
        for (const field& one : kind.fields)
            if (!one.name.empty()) names.push_back(one.name);
        return names;
    }

    [[noreturn]] void unknown_key(std::size_t start, std::string_view key,
                                  std::span<const std::string_view> known) const {
        in_.fail(mistake::unknown_key, start,
                 fmt::format("{} has no '{}'", find(i_.opcode)->mnemonic, key),
                 suggest(key, known));
    }

    void value(const row& kind, const field& one, register_fields& f) {
        switch (one.what) {
        case field::kind::reg:
            f.*one.member = in_.reg();
            return;
        case field::kind::type:
            f.*one.member = static_cast<std::uint64_t>(in_.element_type());
            return;
        case field::kind::u32:
            f.*one.member = in_.bits32();
            return;
        case field::kind::i32:
            if (one.name == "target" && in_.at_word()) return label();
            f.*one.member =
                static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(in_.bits32())});
            return;
        case field::kind::address:
            f.*one.member = address(one.byte);
            return;
        case field::kind::where:
            f.where = where();
            return;
        case field::kind::number:
            if (in_.at_number())
                f.*one.member = in_.number<std::uint8_t>();
            else if (kind.opcode == opcode::branch)
                f.*one.member = in_.choice(condition_words, "a condition");
            else if (kind.opcode == opcode::rank)
                f.*one.member = in_.choice(rank_words, "something that rank reads");
            else
                f.*one.member = alu_operator();
            return;
        }
    }

    void label() {
        const std::size_t start = in_.position();
        const std::string name(in_.word("a label"));
        uses_.push_back({name, pc_, start, name.size(), line_});
    }

    void sync() {
        auto& list = i_.control.emplace<sync_list>();
        std::size_t n = 0;
        while (!in_.at_end()) {
            const std::size_t start = in_.position();
            if (n == list.size())
                in_.fail(mistake::out_of_range, start, "event_semaphore has at most 6 entries");
            if (in_.accept("wait ")) {
                const wait_condition w = wait(nullptr);
                list[n++] = {w.mode, w.index, w.value};
            } else if (in_.accept("update ")) {
                const semaphore_update u = update(nullptr);
                list[n++] = {static_cast<std::uint8_t>(u.mode | sync_entry::update), u.index,
                             u.value};
            } else {
                in_.fail(mistake::wrong_shape, start, "expected 'wait' or 'update'");
            }
        }
    }

    /// A number, or "@" and what the loader knows the address of; `byte` of the instruction.
    std::uint64_t address(unsigned byte) {
        if (!in_.accept("@")) return in_.bits64();
        relocation r = names_.read_address(in_);
        r.word = byte / word_bytes;
        r.byte = byte % word_bytes;
        relocations_.push_back(r);
        return 0;
    }

    /// "0x2701800.4=1": address, size, data or register
    void writes() {
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

    void doorbells() {
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

    /// One set of doorbells for engines with an equal number of descriptors: one or two.
    void start_transfer(doorbell_sets& sets, unsigned& n, std::size_t at) {
        const transfer& t = names_.read_transfer_name(in_);
        if (t.core != names_.core)
            in_.fail(mistake::refused_by_model, at,
                     fmt::format("'{}' is done by the DMA engines of core {}: only that core can "
                                 "start it",
                                 t.name, t.core));
        transfers_.push_back(&t);
        const auto count = static_cast<unsigned>(std::popcount(t.engines));
        std::map<std::uint16_t, std::uint16_t> engines_of;  // by their descriptors
        for (unsigned e = 0, k = 0; e < dma_engines_of_core; ++e)
            if ((t.engines >> e & 1) != 0) {
                auto& map = engines_of[static_cast<std::uint16_t>(t.descriptors_of(k++, count))];
                map = static_cast<std::uint16_t>(map | 1u << e);
            }
        for (const auto& [descriptors, engines] : engines_of) {
            if (descriptors == 0) continue;
            if (n == sets.size())
                in_.fail(mistake::out_of_range, at,
                         "dma_start has 2 sets of doorbells: start the transfers one by one");
            sets[n++] = {engines, static_cast<std::uint8_t>(t.queue), descriptors, descriptors};
        }
    }

    /// "source=0x1000 + R3*64 [8:1024, 1:0, 1:0, 1:0]"
    dge_copy_fields::side dge_side(unsigned byte) {
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

    void dge() {
        auto& f = i_.control.emplace<dge_copy_fields>();
        static constexpr std::string_view keys[] = {"engines",  "queue",     "semaphore",   "piece",
                                                    "priority", "source",    "destination", "limit",
                                                    "oob_skip", "transpose", "accumulate",  "bf16"};
        while (!in_.at_end()) {
            const std::size_t start = in_.position();
            const std::string_view key = in_.word("a field");
            const auto found = std::ranges::find(keys, key);
            if (found == std::end(keys)) unknown_key(start, key, keys);
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

    /// Keys that the row uses; modes stand without '='.
    static std::vector<std::string_view> tile_keys(const row& kind) {
        std::vector<std::string_view> keys;
        const auto key = [&](bool used, std::string_view name) {
            if (used) keys.push_back(name);
        };
        const operators o = kind.operators;
        key(o != operators::none, "op0");
        key(o == operators::two_operators || o == operators::two_arithmetic ||
                o == operators::cumulative || o == operators::two_comparisons,
            "op1");
        key(kind.reduce_cmds != 0 && o != operators::cumulative, "reduce");
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

    void tiles(const row& kind) {
        const auto keys = tile_keys(kind);
        while (!in_.at_end()) {
            const std::size_t start = in_.position();
            const std::string_view key = in_.word("an operand");
            if (std::ranges::find(keys, key) == keys.end()) unknown_key(start, key, keys);
            const auto mode_bit = std::ranges::find(mode_words, key, &mode_word::word);
            if (mode_bit != std::end(mode_words)) {
                i_.mode |= mode_bit->bit;
                continue;
            }
            in_.expect("=");
            tile_field(kind, key);
        }
        for (const auto& [rule, present, name] : {std::tuple{&kind.dst, i_.dst.present(), "dst"},
                                                  {&kind.a, i_.a.present(), "a"},
                                                  {&kind.b, i_.b.present(), "b"}})
            if (rule->need == need::required && !present)
                in_.fail(mistake::missing_key, in_.position(),
                         fmt::format("{} needs {}=", kind.mnemonic, name));
        fix_immediate(kind);
    }

    void tile_field(const row& kind, std::string_view key) {
        const bool activation =
            kind.operators == operators::activation || kind.operators == operators::activation_2;
        if (key == "op0") i_.op0 = activation ? function() : alu_operator();
        if (key == "op1") i_.op1 = alu_operator();
        if (key == "reduce") i_.reduce_op = alu_operator();
        if (key == "cmd")
            i_.reduce_cmd = static_cast<std::uint8_t>(
                in_.at_number() ? in_.number(0, 255)
                                : in_.choice(command_words, "an accumulator command"));
        if (key == "subdim") i_.subdim = in_.number<std::uint8_t>();
        if (key == "tile") i_.tile = pe_tile_bits();
        if (key == "imm") remember_immediate();
        if (key == "dst") i_.dst = tile();
        if (key == "a") i_.a = tile();
        if (key == "b") i_.b = tile();
        if (key == "s0") i_.s0 = scalar();
        if (key == "s1") i_.s1 = scalar();
        if (key == "table") i_.table_base = address(120);
        if (key == "mask") mask();
        if (key == "pattern") pattern();
        if (key == "sparse")
            i_.mode =
                static_cast<std::uint16_t>(i_.mode | (in_.number(2, 4) - 1) << mode::sparse_shift);
    }

    /// IMM is read once the type of DST is known.
    void remember_immediate() {
        immediate_ = in_;
        in_.fp32_bits();  // the longest form
    }
    void fix_immediate(const row& kind) {
        if (!immediate_) return;
        const bool real = kind.imm == immediate::fp32 ||
                          (kind.imm == immediate::by_dst && !is_integer(i_.dst.type));
        i_.imm = real ? immediate_->fp32_bits() : immediate_->bits32();
        if (!real && immediate_->accept("."))
            immediate_->fail(mistake::not_whole, immediate_->position(), "expected a whole number");
    }

    /// "(row, column, rows, columns)"
    std::uint8_t pe_tile_bits() {
        in_.expect("(");
        const auto start = [this] {
            const std::size_t at = in_.position();
            const auto value = in_.number(0, 96);
            if (value % 32 != 0) in_.fail(mistake::out_of_range, at, "expected 0, 32, 64 or 96");
            return static_cast<unsigned>(value / 32);
        };
        const auto size = [this] {
            const std::size_t at = in_.position();
            const auto value = in_.number(0, 128);
            if (value != 128 && value != 64 && value != 32)
                in_.fail(mistake::out_of_range, at, "expected 128, 64 or 32");
            return value == 128 ? 0u : value == 64 ? 1u : 2u;
        };
        unsigned bits = start();
        in_.expect(",");
        bits |= start() << 2;
        in_.expect(",");
        bits |= size() << 4;
        in_.expect(",");
        bits |= size() << 6;
        in_.expect(")");
        return static_cast<std::uint8_t>(bits);
    }

    void mask() {
        in_.expect("[");
        for (std::size_t n = 0; n < i_.shuffle.size(); ++n) {
            if (n != 0) in_.expect(",");
            i_.shuffle[n] = in_.number<std::uint8_t>();
        }
        in_.expect("]");
    }

    /// "(offset, multiplier) [count:step, ...]"
    void pattern() {
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

    cursor& in_;
    std::vector<label_use>& uses_;
    const std::size_t pc_;
    const int line_;
    program_names& names_;
    instruction i_;
    std::optional<cursor> immediate_;
    std::vector<relocation> relocations_;
    std::vector<const transfer*> transfers_;
};

/// Transfers in the order in which a program starts them: a queue's ring holds their descriptors in
/// the order of their declarations, once.
class start_order {
public:
    void check(const transfer& t, const transfer* first, engine by, const cursor& in,
               std::size_t at) {
        const auto number = &t - first;
        auto [entry, is_new] = last_.try_emplace({t.core, t.queue}, last{by, number});
        if (is_new) return;
        if (entry->second.by != by)
            in.fail(mistake::refused_by_model, at,
                    fmt::format("queue {} is used by {} already: the order of its descriptors "
                                "would be open; give each engine a queue of its own",
                                t.queue, name_of(entry->second.by)));
        if (number == entry->second.number)
            in.fail(mistake::refused_by_model, at,
                    fmt::format("'{}' is started again: its descriptors are in the ring once; "
                                "declare another transfer",
                                t.name));
        if (number < entry->second.number)
            in.fail(mistake::refused_by_model, at,
                    fmt::format("'{}' is declared before a transfer of queue {} that is started "
                                "earlier: declare them in the order of their starts",
                                t.name, t.queue));
        entry->second.number = number;
    }

private:
    struct last {
        engine by;
        std::ptrdiff_t number;
    };
    std::map<std::pair<unsigned, unsigned>, last> last_;
};

constexpr std::size_t max_source_files = 256;
constexpr int max_source_line = 0xff'ffff;

/// All lines of a text.
class source {
public:
    source(std::string_view text, const std::string& file) : text_(text), file_(file) {
        set_.files = {file};
    }

    program_set assemble() {
        preprocess(
            text_, [this](const expanded_line& one) { line(one); },
            [this](const expanded_line& one, const line_error& error) { report(one, error); });
        finish_stream();
        collective_queues_.report(mistakes_);
        mistakes_.throw_if_any();
        if (!semaphores_given_)
            for (const transfer& t : set_.transfers)
                if (t.semaphore)
                    semaphores_.insert({static_cast<std::uint8_t>(t.semaphore_core), *t.semaphore});
        set_.generation = generation_;
        set_.semaphores.assign(semaphores_.begin(), semaphores_.end());
        return std::move(set_);
    }

private:
    diagnostic placed(const expanded_line& one, const line_error& error) const {
        return {error.code,
                file_,
                one.number,
                static_cast<int>(one.original_column(error.at)) + 1,
                error.message,
                std::string(one.original),
                static_cast<int>(error.length),
                error.suggestion};
    }
    void report(const expanded_line& one, const line_error& error) {
        mistakes_.add(placed(one, error));
    }

    void line(const expanded_line& one) {
        line_ = &one;
        cursor in(one.content());
        try {
            if (!in.at_end()) statement(in);
        } catch (const line_error& error) {
            report(one, error);
        }
        for (const auto& which : names_.take_collective_queues())
            collective_queues_.use(
                which, placed(one, {mistake::refused_by_model, which.at, which.length, {}, {}}));
        for (const unsigned core : names_.take_collective_cores())
            collective_queues_.start(core, one.number);
    }

    void statement(cursor& in) {
        if (in.at_word()) {
            const cursor start = in;
            const std::size_t at = in.position();
            const std::string_view word = in.word("");
            if (in.accept(":")) {
                if (!labels_.emplace(std::string(word), pc()).second)
                    in.fail(mistake::duplicate_name, at, fmt::format("label '{}' again", word));
                if (in.at_end()) return;
            } else if (word.starts_with('.')) {
                return directive(in, at, word);
            } else {
                in = start;
            }
        }
        if (pc() >= max_words_of_stream)
            in.fail(mistake::out_of_range, 0, "a stream has at most 1048576 words");
        const std::size_t at = in.position();
        std::vector<label_use> uses;  // of a line without mistakes
        line_reader reader(in, uses, pc(), line_->number, names_);
        const instruction i = reader.read();
        for (label_use& use : uses) {
            uses_.push_back(std::move(use));
            use_lines_.push_back(*line_);
        }
        for (const transfer* t : reader.transfers())
            order_.check(*t, set_.transfers.data(), current_.engine.value_or(engine::sync), in, at);
        if (generation_) check_instruction(i, in);
        if (!semaphores_given_) note_semaphores(i, reader.relocations());
        for (relocation r : reader.relocations()) {
            if (!current_.engine)
                in.fail(mistake::wrong_shape, at, "an address by name needs .engine before it");
            r.stream = static_cast<std::uint32_t>(set_.streams.size());
            r.word += static_cast<std::uint32_t>(pc());
            set_.relocations.push_back(r);
        }
        const bytes word = encode(i);
        emit({word.data(), i.words() * word_bytes});
    }

    /// Semaphores that the instruction waits for or changes start at 0.
    void note_semaphores(const instruction& i, const std::vector<relocation>& relocations) {
        const auto note = [this](bool is_semaphore, std::uint8_t index) {
            if (is_semaphore) semaphores_.insert({static_cast<std::uint8_t>(current_.core), index});
        };
        const auto waits = [](std::uint8_t mode) {
            return (mode >= 1 && mode <= 4) ||
                   mode == static_cast<unsigned>(wait_mode::ge_subtract);
        };
        const auto updates = [](std::uint8_t mode) { return (mode & 7) >= 1 && (mode & 7) <= 3; };
        note(waits(i.wait.mode), i.wait.index);
        note(updates(i.update.mode), i.update.index);
        if (const auto* list = std::get_if<sync_list>(&i.control))
            for (const sync_entry& e : *list)
                note((e.mode & sync_entry::update) != 0
                         ? updates(static_cast<std::uint8_t>(e.mode & ~sync_entry::update))
                         : waits(e.mode),
                     e.index);
        if (const auto* copy = std::get_if<dge_copy_fields>(&i.control))
            note(true, copy->semaphore);
        for (const relocation& r : relocations)
            if (r.kind == relocation::target::increment)
                semaphores_.insert(
                    {static_cast<std::uint8_t>(r.core), static_cast<std::uint8_t>(r.object)});
    }

    void directive(cursor& in, std::size_t at, std::string_view word) {
        if (word == ".engine") {
            begin_engine(in, at);
        } else if (word == ".core") {
            finish_stream();
            current_.core = names_.core = static_cast<unsigned>(in.number(0, max_set_cores - 1));
            names_.need_core(names_.core);
        } else if (word == ".cores") {
            names_.need_core(static_cast<unsigned>(in.number(1, max_set_cores)) - 1);
        } else if (word == ".tensor") {
            names_.read_tensor(in);
        } else if (word == ".transfer") {
            names_.read_transfer(in);
        } else if (word == ".semaphores") {
            if (!semaphores_given_) semaphores_.clear();
            semaphores_given_ = true;
            while (!in.at_end()) semaphores_.insert(names_.read_semaphore(in));
        } else if (word == ".generation") {
            static constexpr std::string_view names[] = {"v2", "v3", "v4"};
            generation_ = static_cast<generation>(in.choice(names, "a generation") + 2);
        } else if (word == ".source") {
            read_origin(in);
        } else if (word == ".word") {
            std::array<std::uint8_t, word_bytes> raw{};
            for (unsigned n = 0; n < word_bytes; n += 4) {
                const std::uint32_t value = in.bits32();
                for (unsigned b = 0; b < 4; ++b)
                    raw[n + b] = static_cast<std::uint8_t>(value >> 8 * b);
            }
            emit(raw);
        } else {
            static constexpr std::string_view known[] = {
                ".engine", ".generation", ".word",       ".core", ".cores",  ".tensor", ".transfer",
                ".source", ".set",        ".semaphores", ".if",   ".repeat", ".else",   ".end"};
            in.unknown(at, word, "a directive", known);
        }
        if (!in.at_end()) in.fail(mistake::wrong_shape, in.position(), "nothing expected here");
    }

    /// 12 "kernel.py": the words that follow come from this line of that file.
    void read_origin(cursor& in) {
        origin_.line = static_cast<int>(in.number(1, max_source_line));
        const std::size_t at = in.position();
        const std::string_view name = in.quoted("the name of a file");
        const auto found = std::ranges::find(set_.files, name);
        if (found == set_.files.end() && set_.files.size() == max_source_files)
            in.fail(mistake::out_of_range, at, "a set names at most 256 files");
        origin_.file = static_cast<std::uint8_t>(found - set_.files.begin());
        if (found == set_.files.end()) set_.files.emplace_back(name);
    }

    void begin_engine(cursor& in, std::size_t at) {
        static constexpr std::string_view names[] = {"tensor", "scalar", "gpsimd", "vector",
                                                     "sync"};
        const std::size_t name_at = in.position();
        const auto which = static_cast<engine>(in.choice(names, "an engine"));
        if (!current_.engine && pc() != 0)
            in.fail(mistake::wrong_shape, at, "instructions stand before the first .engine");
        finish_stream();
        const auto same = [&](const stream& s) {
            return s.engine == which && s.core == names_.core;
        };
        if (std::ranges::any_of(set_.streams, same))
            in.fail(mistake::duplicate_name, name_at, "this engine has a stream already");
        current_.engine = which;
    }

    /// With .generation (and .engine): what the engine would refuse.
    void check_instruction(const instruction& i, cursor& in) const {
        static constexpr std::uint32_t sbuf[] = {196'608, 229'376, 262'144};
        const bytes word = encode(i);
        const row& kind = *find(i.opcode);
        unsigned any = kind.engines[static_cast<unsigned>(*generation_) - 2];
        const engine e = current_.engine.value_or(static_cast<engine>(std::countr_zero(any | 16u)));
        auto found = check_header(std::span(word).first(16), e, *generation_);
        if (!found && !reads_registers(i)) {
            decoded d = decode(word);
            const std::array<std::uint32_t, register_count> none{};
            found =
                check(d, {e, *generation_, sbuf[static_cast<unsigned>(*generation_) - 2]}, none);
        }
        if (!found) return;
        static constexpr std::string_view operands[] = {"dst", "a", "b", "s0", "s1"};
        const auto which = static_cast<unsigned>(found->operand);
        in.fail(mistake::refused_by_model, 0,
                fmt::format("{}{}: {}", name_of(found->code),
                            which < 5 ? fmt::format(" in {}", operands[which]) : "",
                            found->code == error::out_of_bounds && which < 5
                                ? "an element is outside the partition"
                                : name_of(static_cast<reason>(found->detail))));
    }

    void emit(std::span<const std::uint8_t> word) {
        current_.words.insert(current_.words.end(), word.begin(), word.end());
        current_.lines.resize(pc(), origin_.line != 0 ? origin_.line : line_->number);
        current_.files.resize(pc(), origin_.file);
    }
    std::size_t pc() const { return current_.words.size() / word_bytes; }

    void finish_stream() {
        for (std::size_t n = 0; n < uses_.size(); ++n) {
            const label_use& use = uses_[n];
            const auto label = labels_.find(use.label);
            if (label == labels_.end()) {
                std::vector<std::string_view> known;
                for (const auto& [name, pc] : labels_) known.emplace_back(name);
                report(use_lines_[n],
                       {mistake::unknown_variable, use.column, use.length,
                        fmt::format("no label '{}' in this stream", use.label),
                        suggest(use.label, std::span<const std::string_view>(known))});
                continue;
            }
            const auto distance = static_cast<std::uint32_t>(label->second - use.pc);
            for (unsigned b = 0; b < 4; ++b)
                current_.words[use.pc * word_bytes + 28 + b] =
                    static_cast<std::uint8_t>(distance >> 8 * b);
        }
        uses_.clear();
        use_lines_.clear();
        labels_.clear();
        if (current_.engine || pc() != 0) set_.streams.push_back(std::move(current_));
        current_ = {};
        origin_ = {};
        current_.core = names_.core;
    }

    const std::string_view text_;
    const std::string file_;
    const expanded_line* line_ = nullptr;
    std::optional<generation> generation_;
    program_set set_;
    program_names names_{set_};
    stream current_;
    struct {
        int line = 0;  ///< 0: the words come from the text itself
        std::uint8_t file = 0;
    } origin_;  ///< of the words that follow
    start_order order_;
    collective_queues collective_queues_;
    std::set<std::array<std::uint8_t, 2>> semaphores_;
    bool semaphores_given_ = false;
    std::map<std::string, std::size_t, std::less<>> labels_;
    std::vector<label_use> uses_;
    std::vector<expanded_line> use_lines_;
    diagnostics mistakes_;
};

}  // namespace

program_set assemble_set(std::string_view text, const std::string& file) {
    return source(text, file).assemble();
}

std::vector<stream> assemble(std::string_view text, const std::string& file) {
    return std::move(assemble_set(text, file).streams);
}

}  // namespace trn::isa

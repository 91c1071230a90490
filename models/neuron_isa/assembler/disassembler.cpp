// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/neuron_isa/assembler/assembler.h"
#include "models/neuron_isa/assembler/words.h"
#include "models/neuron_isa/instructions/codec.h"

namespace trn::isa {

namespace {

template <typename... T>
void add(std::string& text, fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text), format, std::forward<T>(values)...);
}

/// The shortest decimal that reads back as the same bits; NaN and infinity as bits.
std::string fp32_text(std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) return fmt::format("{:#010x}", bits);
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    std::string result(text, end);
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    return result;
}

std::string type_text(numerics::element type) {
    const std::string_view name = name_of(type);
    return name.empty() ? fmt::format("type{}", static_cast<unsigned>(type)) : std::string(name);
}

template <std::size_t N>
std::string word_or_number(const std::string_view (&words)[N], std::uint64_t code) {
    return code < N ? std::string(words[code]) : fmt::format("{}", code);
}

std::string alu_text(std::uint64_t code) {
    const std::string_view name = code < 256 ? name_of(static_cast<alu>(code)) : "";
    return name.empty() ? fmt::format("{}", code) : std::string(name);
}

std::string_view space_text(space s) {
    return s == space::sbuf ? "sbuf" : s == space::psum ? "psum" : "reserved";
}

std::string location_text(const location& place) {
    return fmt::format("{}[{}, {}]", space_text(place.space), place.partition, place.offset);
}

std::string tile_text(const tile_operand& t) {
    std::string text = fmt::format("{}[{}:{}, {}", space_text(t.place.space), t.place.partition,
                                   t.place.partition + t.partitions, t.place.offset);
    if (t.offset_from_register) add(text, " + R{}", t.reg);
    add(text, "] {} [", type_text(t.type));
    for (unsigned d = 0; d < std::min<unsigned>(t.dimensions, 4); ++d)
        add(text, "{}{}:{}", d == 0 ? "" : ", ", t.pattern[d].count, t.pattern[d].stride);
    text += ']';
    if (t.indirect) add(text, " index {}", location_text(t.index));
    return text;
}

std::string scalar_text(const scalar_operand& s) {
    switch (s.kind) {
    case scalar_kind::fp32:
        return fmt::format("fp32({})", fp32_text(s.value));
    case scalar_kind::i32:
        return fmt::format("i32({})", static_cast<std::int32_t>(s.value));
    case scalar_kind::tile:
        return location_text(s.place) + " " + type_text(s.type);
    case scalar_kind::register_fp32:
        return fmt::format("fp32(R{})", s.reg);
    case scalar_kind::register_i32:
        return fmt::format("i32(R{})", s.reg);
    default:
        return "?";
    }
}

std::string amount(std::int32_t value, bool in_register) {
    return in_register ? fmt::format("R{}", static_cast<std::uint32_t>(value))
                       : fmt::format("{}", value);
}

std::string wait_text(const wait_condition& w, bool in_register) {
    switch (static_cast<wait_mode>(w.mode)) {
    case wait_mode::event_set:
        return fmt::format("wait E[{}]==1 ", w.index);
    case wait_mode::event_clear:
        return fmt::format("wait E[{}]==0 ", w.index);
    case wait_mode::ge_subtract:
        return fmt::format("wait S[{}]>={}:subtract ", w.index, amount(w.value, in_register));
    default:
        return fmt::format("wait S[{}]{}{} ", w.index, wait_signs[(w.mode - 1) % 4],
                           amount(w.value, in_register));
    }
}

std::string update_text(const semaphore_update& u, bool in_register) {
    const auto action = static_cast<update_mode>(u.mode & ~at_issue);
    const std::string_view timing = (u.mode & at_issue) != 0 ? ":at_issue " : " ";
    if (action == update_mode::event_set || action == update_mode::event_clear)
        return fmt::format("update E[{}]={}{}", u.index, action == update_mode::event_set ? 1 : 0,
                           timing);
    return fmt::format("update S[{}]{}{}{}", u.index,
                       update_signs[(static_cast<unsigned>(action) - 1) % 3],
                       amount(u.value, in_register), timing);
}

void add_fields(std::string& text, const row& kind, const register_fields& f) {
    for (const field& row_field : kind.fields) {
        if (row_field.name.empty()) continue;
        if (row_field.used == field::use::with_flag && f.immediate != 1) continue;
        if (row_field.used == field::use::without_flag && f.immediate == 1) continue;
        const bool is_place = row_field.content == field::kind::place;
        if (is_place && f.place == location{}) continue;
        if (row_field.content == field::kind::address && f.address == 0 && f.place != location{})
            continue;
        if (kind.opcode == opcode::branch && f.selector == 0 &&
            row_field.content != field::kind::number && row_field.name != "target")
            continue;
        add(text, " {}=", row_field.name);
        const std::uint64_t value = is_place ? 0 : f.*row_field.member;
        switch (row_field.content) {
        case field::kind::reg:
            add(text, "R{}", value);
            break;
        case field::kind::type:
            text += type_text(static_cast<numerics::element>(value));
            break;
        case field::kind::u32:
            add(text, "{}", value);
            break;
        case field::kind::i32:
            add(text, "{}", static_cast<std::int64_t>(value));
            break;
        case field::kind::address:
            add(text, "{:#x}", value);
            break;
        case field::kind::place:
            text += location_text(f.place);
            break;
        case field::kind::number:
            if (kind.opcode == opcode::branch)
                text += word_or_number(condition_words, value);
            else if (kind.opcode == opcode::rank)
                text += word_or_number(rank_words, value);
            else
                text += alu_text(value);
            break;
        }
    }
}

void add_fields(std::string& text, const row&, const sync_list& list) {
    for (const sync_entry& e : list) {
        if (e.mode == 0) return;
        text += ' ';
        if ((e.mode & sync_entry::update) == 0)
            text += wait_text({e.mode, e.index, e.value}, false);
        else
            text +=
                update_text({static_cast<std::uint8_t>(e.mode & 0x7f), e.index, e.value}, false);
        text.pop_back();
    }
}

void add_fields(std::string& text, const row&, const write_list& list) {
    for (const posted_write& w : list) {
        if (w.size == 0) return;
        add(text, " {:#x}.{}=", w.address, w.size);
        if (w.reg_data >= 0x80)
            add(text, "R{}", w.reg_data & 0x7f);
        else
            add(text, "{:#x}", w.data);
    }
}

void add_fields(std::string& text, const row&, const doorbell_sets& sets) {
    for (const doorbell_set& s : sets) {
        if (s.engines == 0) return;
        add(text, " engines={:#x} queue={} m2s={} s2m={}", s.engines, s.queue, s.m2s_count,
            s.s2m_count);
    }
}

void add_side(std::string& text, std::string_view name, const dge_copy_fields::side& s) {
    add(text, " {}={:#x}", name, s.base);
    if (s.reg != 0) add(text, " + R{}*{}", s.reg & 0x7f, s.reg_unit);
    text += " [";
    for (std::size_t d = 0; d < s.pattern.size(); ++d)
        add(text, "{}{}:{}", d == 0 ? "" : ", ", s.pattern[d].count, s.pattern[d].stride);
    text += ']';
}

void add_fields(std::string& text, const row&, const dge_copy_fields& f) {
    add(text, " engines={:#x} queue={} semaphore={} piece={}", f.engines, f.queue, f.semaphore,
        f.piece_bytes);
    if (f.priority != 0) add(text, " priority={}", f.priority);
    add_side(text, "source", f.source);
    add_side(text, "destination", f.destination);
    if (f.limit != 0) add(text, " limit={:#x}", f.limit);
    for (unsigned bit = 0; bit < std::size(generator_words); ++bit)
        if ((f.flags >> bit & 1) != 0) add(text, " {}", generator_words[bit]);
}

std::string imm_text(const row& kind, const instruction& i) {
    if (has_real_immediate(kind, i)) return fp32_text(i.imm);
    if (kind.imm == immediate::u32) return fmt::format("{}", i.imm);
    return fmt::format("{}", static_cast<std::int32_t>(i.imm));
}

void add_tiles(std::string& text, const row& kind, const instruction& i) {
    if (has_function(kind))
        add(text, " op0={}",
            i.op0 < activation_count ? std::string(name_of(static_cast<isa::activation>(i.op0)))
                                     : fmt::format("{}", i.op0));
    else if (kind.operators != operators::none)
        add(text, " op0={}", alu_text(i.op0));
    if (i.op1 != 0) add(text, " op1={}", alu_text(i.op1));
    if (i.reduce_op != 0) add(text, " reduce={}", alu_text(i.reduce_op));
    if (i.reduce_cmd != 0) add(text, " cmd={}", word_or_number(command_words, i.reduce_cmd));
    if (kind.uses_subdim) add(text, " subdim={}", i.subdim);
    if (i.tile != 0) {
        const pe_tile t = pe_tile_of(i.tile);
        add(text, " tile=({}, {}, {}, {})", t.row, t.column, t.rows, t.columns);
    }
    if (i.imm != 0) add(text, " imm={}", imm_text(kind, i));
    if (i.dst.present()) text += " dst=" + tile_text(i.dst);
    if (i.a.present()) text += " a=" + tile_text(i.a);
    if (i.b.present()) text += " b=" + tile_text(i.b);
    if (i.s0.present()) text += " s0=" + scalar_text(i.s0);
    if (i.s1.present()) text += " s1=" + scalar_text(i.s1);
    if (kind.layout == layout::tiles_table) add(text, " table={:#x}", i.table_base);
    if (kind.layout == layout::tiles_shuffle) add(text, " mask=[{}]", fmt::join(i.shuffle, ", "));
    if (kind.layout == layout::tiles_pattern) {
        add(text, " pattern=({}, {}) [", i.pattern.offset, i.pattern.multiplier);
        for (std::size_t d = 0; d < i.pattern.steps.size(); ++d)
            add(text, "{}{}:{}", d == 0 ? "" : ", ", i.pattern.counts[d], i.pattern.steps[d]);
        text += ']';
    }
    for (const mode_word& m : mode_words)
        if (i.has_mode(m.bit)) add(text, " {}", m.word);
    if (i.has_mode(mode::sparse)) add(text, " sparse={}", (i.mode >> mode::sparse_shift & 3) + 1);
}

/// Target word of a branch at `pc`; nothing for other instructions.
std::optional<std::int64_t> target_of(const row& kind, const instruction& i, std::int64_t pc) {
    for (const field& row_field : kind.fields)
        if (row_field.name == "target")
            return pc + static_cast<std::int64_t>(std::get<register_fields>(i.control).target);
    return std::nullopt;
}

struct line {
    std::size_t pc;
    std::string text;                    ///< without the branch target
    std::optional<std::int64_t> target;  ///< target word of a branch
};

std::string raw_word(std::span<const std::uint8_t> word) {
    std::string text = ".word";
    for (std::size_t byte = 0; byte < word.size(); byte += 4)
        add(text, " {:#010x}",
            word[byte] | word[byte + 1] << 8 | word[byte + 2] << 16 |
                static_cast<unsigned>(word[byte + 3]) << 24);
    return text;
}

/// Whether assembling `text` returns `expected`.
bool reads_back(const std::string& text, std::span<const std::uint8_t> expected) {
    try {
        const auto streams = assemble(text, "");
        return std::ranges::equal(streams.front().words, expected);
    } catch (const std::exception&) {
        return false;
    }
}

/// Replaces control characters in names, which come from files.
std::string printable(const std::string& text) {
    std::string result;
    for (const char c : text) result += c >= ' ' && c < 127 ? c : '?';
    return result;
}

std::string tensor_text(const tensor& t) {
    static constexpr std::string_view roles[] = {"in", "out", "inout", "scratch"};
    return fmt::format(".tensor {} {} [{}] {} align={} core={}\n", printable(t.name),
                       type_text(t.type), fmt::join(t.shape, ", "),
                       roles[static_cast<unsigned>(t.role)], t.alignment, t.core);
}

std::string side_text(const program_set& set, const transfer& t, const transfer_side& s) {
    if (s.kind == transfer_side::memory::tensor)
        return fmt::format("{}@({}, {}, {})", printable(set.tensors[s.object].name), s.offset,
                           s.row, s.block);
    std::string text = s.object == t.core ? "" : fmt::format("core{}.", s.object);
    add(text, "{}[{}:{}, {}", s.kind == transfer_side::memory::sbuf ? "sbuf" : "psum", s.row,
        s.row + t.rows, s.offset);
    if (t.blocks > 1) add(text, ", {}", s.block);
    return text + "]";
}

std::string transfer_text(const program_set& set, const transfer& t) {
    std::string text =
        fmt::format(".transfer {} {} -> {} shape=({}, {}, {}) queue={} engines={:#x}",
                    printable(t.name), side_text(set, t, t.sides[0]), side_text(set, t, t.sides[1]),
                    t.rows, t.blocks, t.bytes, t.queue, t.engines);
    if (t.semaphore)
        add(text, " {}S[{}]",
            t.semaphore_core == t.core ? "" : fmt::format("core{}.", t.semaphore_core),
            *t.semaphore);
    return text + "\n";
}

std::string address_text(const program_set& set, const relocation& r) {
    using target = relocation::target;
    std::string text = "@";
    if (r.kind == target::tensor)
        text += printable(set.tensors[r.object].name);
    else
        add(text, "core{}.", r.core);
    const auto engine_text = name_of(static_cast<engine>(r.object));
    if (r.kind == target::increment) add(text, "S[{}]", r.object);
    if (r.kind == target::collective) add(text, "cc[{}]", r.object);
    if (r.kind == target::control) add(text, "control.{}", engine_text);
    if (r.kind == target::program) add(text, "program.{}", engine_text);
    if (r.kind == target::sbuf) text += "sbuf";
    if (r.addend != 0) add(text, "+{:#x}", r.addend);
    return text;
}

/// Text of each address that the loader fills in, by word and byte.
using address_texts = std::map<std::pair<std::uint32_t, std::uint32_t>, std::string>;

/// Replaces the eight bytes of each address by a unique number; returns the text of each number.
std::map<std::string, std::string> mark_addresses(std::vector<std::uint8_t>& words,
                                                  const address_texts& addresses) {
    constexpr std::uint64_t mark = 0xadd7'e550'0000'0000;
    std::map<std::string, std::string> texts;
    for (const auto& [place, text] : addresses) {
        const std::uint64_t number = mark + texts.size();
        texts[fmt::format("{:#x}", number)] = text;
        for (unsigned b = 0; b < 8; ++b)
            words[std::size_t{place.first} * word_bytes + place.second + b] =
                static_cast<std::uint8_t>(number >> 8 * b);
    }
    return texts;
}

void name_addresses(std::string& text, const std::map<std::string, std::string>& texts) {
    for (const auto& [number, name] : texts)
        if (const std::size_t start = text.find(number); start != std::string::npos)
            text.replace(start, number.size(), name);
}

/// `after` returns the text to append to the instruction of a word.
std::string stream_text(std::span<const std::uint8_t> given, const address_texts& addresses,
                        const std::function<std::string(std::size_t)>& after) {
    std::vector<std::uint8_t> words(given.begin(), given.end());
    const auto names = mark_addresses(words, addresses);
    std::vector<line> lines;
    std::set<std::int64_t> targets, starts;
    const std::size_t count = words.size() / word_bytes;
    for (std::size_t pc = 0; pc < count;) {
        const auto rest = std::span<const std::uint8_t>(words).subspan(pc * word_bytes);
        const row* kind = find(static_cast<opcode>(rest[0] | rest[1] << 8));
        line printed{pc, raw_word(given.subspan(pc * word_bytes, word_bytes)), {}};
        const std::size_t size = kind != nullptr && kind->is_long() ? 2 : 1;
        if (kind != nullptr && size * word_bytes <= rest.size()) {
            const instruction i = decode(rest).value;
            const std::string text = text_of(i);
            if (reads_back(text, rest.first(size * word_bytes))) {
                printed = {pc, text, target_of(*kind, i, static_cast<std::int64_t>(pc))};
                pc += size - 1;
            }
        }
        if (!names.empty()) name_addresses(printed.text, names);
        starts.insert(static_cast<std::int64_t>(printed.pc));
        if (printed.target) targets.insert(*printed.target);
        lines.push_back(std::move(printed));
        ++pc;
    }
    std::string text;
    for (const line& printed : lines) {
        const auto pc = static_cast<std::int64_t>(printed.pc);
        if (targets.contains(pc)) add(text, "L{}:\n", pc);
        if (printed.target && starts.contains(*printed.target))
            add(text, "    {} target=L{}{}\n",
                printed.text.substr(0, printed.text.rfind(" target=")), *printed.target,
                after(printed.pc));
        else
            add(text, "    {}{}\n", printed.text, after(printed.pc));
    }
    return text;
}

}  // namespace

std::string text_of(const instruction& i) {
    const row& kind = *find(i.opcode);
    std::string text;
    if ((i.flags & flag::stop) != 0) text += "@break ";
    if ((i.flags & flag::notify) != 0) text += "@notify ";
    if (i.wait.mode != 0) text += wait_text(i.wait, (i.flags & flag::wait_reg) != 0);
    if (i.update.mode != 0) text += update_text(i.update, (i.flags & flag::update_reg) != 0);
    text += kind.mnemonic;
    if (kind.is_tiles())
        add_tiles(text, kind, i);
    else
        std::visit([&](const auto& fields) { add_fields(text, kind, fields); }, i.control);
    return text;
}

std::string disassemble(std::span<const std::uint8_t> words) {
    return stream_text(words, {}, [](std::size_t) { return std::string(); });
}

std::string disassemble(const program_set& set) {
    std::string text;
    if (set.generation) add(text, ".generation v{}\n", static_cast<unsigned>(*set.generation));
    if (set.cores > 1) add(text, ".cores {}\n", set.cores);
    for (const tensor& t : set.tensors) text += tensor_text(t);
    unsigned core = 0;
    for (const transfer& t : set.transfers) {
        if (t.core != core) add(text, ".core {}\n", core = t.core);
        text += transfer_text(set, t);
    }
    text += ".semaphores";
    for (const auto& [owner, index] : set.semaphores)
        add(text, " {}{}[{}]", owner == core ? "" : fmt::format("core{}.", owner),
            index < first_event ? 'S' : 'E', index % first_event);
    text += '\n';
    for (std::size_t n = 0; n < set.streams.size(); ++n) {
        const stream& s = set.streams[n];
        if (s.core != core) add(text, ".core {}\n", core = s.core);
        add(text, ".engine {}\n", name_of(*s.engine));
        const auto line_of = [&](std::size_t pc) {
            if (pc >= s.lines.size() || s.lines[pc] == 0 || set.files.empty()) return std::string();
            const std::size_t file = pc < s.files.size() ? s.files[pc] : 0;
            return fmt::format("  # {}:{}", printable(set.files[file]), s.lines[pc]);
        };
        address_texts addresses;
        for (const relocation& r : set.relocations)
            if (r.stream == n) addresses[{r.word, r.byte}] = address_text(set, r);
        text += stream_text(s.words, addresses, line_of);
    }
    return text;
}

}  // namespace trn::isa

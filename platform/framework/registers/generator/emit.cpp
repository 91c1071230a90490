// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/generator/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

namespace trn::registers {

namespace {

/// A name as a C++ identifier: lower case, neither a keyword nor a name used by the header.
std::string cpp_name(std::string_view name) {
    static const std::set<std::string, std::less<>> taken{
        "alignas",       "alignof",     "and",
        "and_eq",        "asm",         "auto",
        "bitand",        "bitor",       "bool",
        "break",         "case",        "catch",
        "char",          "char8_t",     "char16_t",
        "char32_t",      "class",       "compl",
        "concept",       "const",       "const_cast",
        "consteval",     "constexpr",   "constinit",
        "continue",      "co_await",    "co_return",
        "co_yield",      "decltype",    "default",
        "delete",        "do",          "double",
        "dynamic_cast",  "else",        "enum",
        "explicit",      "export",      "extern",
        "false",         "float",       "for",
        "friend",        "goto",        "if",
        "inline",        "int",         "long",
        "mutable",       "namespace",   "new",
        "noexcept",      "not",         "not_eq",
        "nullptr",       "operator",    "or",
        "or_eq",         "private",     "protected",
        "public",        "register",    "reinterpret_cast",
        "requires",      "return",      "short",
        "signed",        "sizeof",      "static",
        "static_assert", "static_cast", "struct",
        "switch",        "template",    "this",
        "thread_local",  "throw",       "true",
        "try",           "typedef",     "typeid",
        "typename",      "union",       "unsigned",
        "using",         "virtual",     "void",
        "volatile",      "wchar_t",     "while",
        "xor",           "xor_eq",      "std",
        "trn",           "reg",         "rows",
        "fields",        "table",       "offset",
        "size"};
    auto out = lower(name);
    return taken.contains(out) ? out + "_" : out;
}

/// Text on one line: control characters, some of which end a line for a compiler or a browser,
/// become spaces.
std::string one_line(std::string_view text) {
    std::string out(text);
    std::ranges::replace_if(
        out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return out;
}

std::string literal(std::string_view text) {
    std::string out = "\"";
    for (const char c : one_line(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

/// Escapes text for a comment: one line, without comment ends and without starts that -Wcomment
/// reports.
std::string comment(std::string_view text) {
    std::string out;
    for (const char c : one_line(text)) {
        const char before = out.empty() ? ' ' : out.back();
        if ((c == '/' && before == '*') || (c == '*' && before == '/')) out += ' ';
        out += c;
    }
    while (!out.empty() && (out.back() == '\\' || out.back() == ' ')) out.pop_back();
    return out;
}

/// A trailing documentation comment; "" if there is no text.
std::string trailing(std::string_view desc) {
    return desc.empty() ? std::string() : "  ///< " + comment(desc);
}

void emit_row(std::string& out, const register_spec& r, unsigned width, std::uint32_t slot) {
    out += fmt::format("    {{{}, {:#x}, {{{{", literal(r.name), r.offset);
    for (std::size_t d = 0; d < 3; ++d) {
        // A single dimension becomes the innermost one, so that index 0..count-1 uses its stride.
        const std::size_t missing = 3 - r.dims.size();
        const auto dim = d < missing ? array_dimension{} : r.dims[d - missing];
        out += fmt::format("{}{{{:#x}, {}}}", d == 0 ? "" : ", ", dim.stride, dim.count);
    }
    const auto b = r.bits(width);
    out += fmt::format(
        "}}}}, {}, {}, {:#x}ull,\n     {{{:#x}ull, {:#x}ull, {:#x}ull, {:#x}ull, {:#x}ull, "
        "{:#x}ull}},\n",
        r.count(), slot, r.reset, b.readable, b.stored, b.clears, b.sets, b.drained, b.kept);
    out += fmt::format("     trn::knowledge::{}, trn::fidelity::{}, {}}},\n", to_string(r.known_by),
                       to_string(r.fidelity), literal(r.contract_skip));
}

void emit_field_constants(header& out, const register_spec& r, std::size_t row) {
    if (r.fields.empty()) return;
    const auto space = cpp_name(r.name);
    out.text += fmt::format("namespace {} {{\n", space);
    for (const auto& f : r.fields) {
        const auto name = cpp_name(f.name);
        out.names.push_back({space + "::" + name, f.where});
        out.text += fmt::format("inline constexpr trn::register_field {}{{{}, {}, {}}};{}\n", name,
                                row, f.lsb, f.width, trailing(f.desc));
        for (const auto& v : f.values) {
            const auto constant = cpp_name(f.name + "_" + v.name);
            out.names.push_back({space + "::" + constant, v.where});
            out.text +=
                fmt::format("inline constexpr std::uint64_t {} = {:#x};\n", constant, v.value);
        }
    }
    out.text += "}\n";
}

std::string holes_name(hole_policy holes) {
    return holes == hole_policy::ram ? "ram" : holes == hole_policy::zero ? "zero" : "error";
}

}  // namespace

header emit_cpp(const block_spec& block) {
    const auto space = lower(block.block) + "_regs";
    header result;
    std::string& out = result.text;
    out = fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Generated from {}.regs.yaml. Source of the facts: {}\n"
        "#pragma once\n\n#include \"platform/framework/registers/table.h\"\n\nnamespace trn::{} "
        "{{\n\n",
        block.block, comment(block.source), space);
    out += "enum class reg : std::uint16_t {\n";
    for (const auto& r : block.registers) {
        const auto name = cpp_name(r.name);
        result.names.push_back({"reg::" + name, r.where});
        out += fmt::format("    {},{}\n", name, trailing(r.desc));
    }
    out += "};\n\n";

    for (std::size_t i = 0; i < block.registers.size(); ++i)
        emit_field_constants(result, block.registers[i], i);

    out += fmt::format("\ninline constexpr std::array<trn::register_row, {}> rows{{{{\n",
                       block.registers.size());
    std::uint32_t slot = 0;
    std::size_t fields = 0;
    for (const auto& r : block.registers) {
        emit_row(out, r, block.width, slot);
        slot += r.count();
        fields += r.fields.size();
    }
    out += fmt::format("}}}};\n\ninline constexpr std::array<trn::field_row, {}> fields{{{{\n",
                       fields);
    for (std::size_t i = 0; i < block.registers.size(); ++i)
        for (const auto& f : block.registers[i].fields)
            out += fmt::format("    {{{}, {{{}, {}, {}}}}},\n", literal(f.name), i, f.lsb, f.width);
    out += fmt::format(
        "}}}};\n\ninline constexpr std::uint64_t size = {:#x};\n\n"
        "inline constexpr trn::register_table table{{{}, {}, size, trn::hole_policy::{}, rows, "
        "fields, {}}};\n\n"
        "/// Bytes from the block's begin to element `index` of `r`.\n"
        "constexpr std::uint64_t offset(reg r, std::uint32_t index = 0) {{\n"
        "    return rows[static_cast<std::size_t>(r)].element(index);\n}}\n\n}}  // namespace "
        "trn::{}\n",
        block.size, literal(block.block), block.width, holes_name(block.holes), slot, space);
    return result;
}

namespace {

void define(header& out, const config::place& where, const std::string& name,
            std::string_view rest) {
    out.names.push_back({name, where});
    out.text += fmt::format("#define {}{}\n", name, rest);
}

std::string hex(std::uint64_t value) {
    return fmt::format(" {:#x}", value);
}

void emit_c_register(header& out, const std::string& prefix, const register_spec& r) {
    const std::string name = prefix + r.name;
    if (!r.desc.empty()) out.text += fmt::format("/* {} */\n", comment(r.desc));
    if (r.dims.empty()) {
        define(out, r.where, name + "_OFFSET", hex(r.offset));
    } else {
        static constexpr std::string_view letters[] = {"i", "j", "k"};
        std::string parameters, sum;
        for (std::size_t d = 0; d < r.dims.size(); ++d) {
            parameters += fmt::format("{}{}", d == 0 ? "" : ", ", letters[d]);
            sum += fmt::format(" + ({}) * {:#x}", letters[d], r.dims[d].stride);
            const auto suffix = r.dims.size() == 1 ? std::string() : std::to_string(d);
            define(out, r.where, name + "_COUNT" + suffix, fmt::format(" {}", r.dims[d].count));
            define(out, r.where, name + "_STRIDE" + suffix, hex(r.dims[d].stride));
        }
        define(out, r.where, name + "_OFFSET",
               fmt::format("({}) ({:#x}{})", parameters, r.offset, sum));
    }
    define(out, r.where, name + "_RESET", hex(r.reset));
}

void emit_c_field(header& out, const std::string& name, const field_spec& f,
                  std::string_view type) {
    define(out, f.where, name + "_SHIFT", fmt::format(" {}", f.lsb));
    define(out, f.where, name + "_MASK", hex(f.mask()));
    define(out, f.where, name + "_GET",
           fmt::format("(value) (({1}(value) & {0}_MASK) >> {0}_SHIFT)", name, type));
    define(out, f.where, name + "_SET",
           fmt::format("(field) (({1}(field) << {0}_SHIFT) & {0}_MASK)", name, type));
    for (const auto& v : f.values) define(out, v.where, name + "_" + v.name, hex(v.value));
}

}  // namespace

header emit_c(const block_spec& block) {
    const std::string prefix = "TRN_" + upper(block.block) + "_";
    const std::string_view type = block.width == 8 ? "TRN_U64" : "TRN_U32";
    header out;
    out.text = fmt::format(
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* Generated from {}.regs.yaml. Source of the facts: {} */\n"
        "#ifndef {}REGS_H\n",
        block.block, comment(block.source), prefix);
    define(out, block.where, prefix + "REGS_H", "");
    out.text +=
        "\n#ifndef TRN_U32\n#ifdef __ASSEMBLER__\n#define TRN_U32(x) (x)\n#define TRN_U64(x) "
        "(x)\n#else\n"
        "#include <stdint.h>\n#define TRN_U32(x) ((uint32_t)(x))\n#define TRN_U64(x) "
        "((uint64_t)(x))\n"
        "#endif\n#endif\n\n";
    define(out, block.where, prefix + "SIZE", hex(block.size));
    for (const auto& r : block.registers) {
        out.text += "\n";
        emit_c_register(out, prefix, r);
        for (const auto& f : r.fields) emit_c_field(out, prefix + r.name + "_" + f.name, f, type);
    }
    out.text += "\n#endif\n";
    return out;
}

void check_names(const config::document& document, const block_spec& block) {
    const auto place = [](const config::place& p) { return std::tuple(p.line, p.column); };
    std::set<std::tuple<int, int>> reported;
    for (auto names : {emit_c(block).names, emit_cpp(block).names}) {
        std::ranges::stable_sort(names, {}, [&](const auto& n) { return place(n.where); });
        std::map<std::string, int> lines;
        for (const auto& [name, where] : names) {
            const auto [first, fresh] = lines.emplace(name, where.line);
            if (!fresh && reported.insert(place(where)).second)
                document.root().report_at(
                    where, mistake::duplicate_name,
                    fmt::format("'{}' is defined twice in the generated header", name),
                    fmt::format("first by line {}", first->second));
        }
    }
}

namespace {

/// Escapes text for a table's cell. Comments, which include the chapter's markers, become visible.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : one_line(text)) {
        if (c == '|') out += '\\';
        if (c == '!' && out.ends_with('<')) out.replace(out.size() - 1, 1, "&lt;");
        out += c;
    }
    return out;
}

std::string offset_text(const register_spec& r) {
    static constexpr std::string_view letters[] = {"i", "j", "k"};
    std::string out = fmt::format("{:#x}", r.offset);
    for (std::size_t d = 0; d < r.dims.size(); ++d)
        out += fmt::format(" + {}*{:#x} ({} < {})", letters[d], r.dims[d].stride, letters[d],
                           r.dims[d].count);
    return out;
}

std::string bits_text(const field_spec& f) {
    return f.width == 1 ? std::to_string(f.lsb) : fmt::format("{}:{}", f.lsb + f.width - 1, f.lsb);
}

constexpr std::size_t max_cell = 200;  // characters; longer lists of values have rows of their own

/// Rows of the table of fields.
std::string field_rows(const register_spec& r) {
    std::string out;
    for (const auto& f : r.fields) {
        auto meaning = cell(f.desc);
        if (f.access != r.access)
            meaning += fmt::format("{}({})", meaning.empty() ? "" : " ", to_string(f.access));
        std::string values;
        for (const auto& value : f.values)
            values +=
                fmt::format("{}{} = {:#x}", values.empty() ? "" : ", ", value.name, value.value);
        const bool fits = meaning.size() + values.size() < max_cell;
        if (!values.empty() && fits) meaning += (meaning.empty() ? "" : ": ") + values;
        out += fmt::format("| {} | {} | {} | {} |\n", &f == r.fields.data() ? r.name : "",
                           bits_text(f), f.name, meaning);
        for (const auto& value : f.values)
            if (!fits) out += fmt::format("| | | `{:#x}` | {} |\n", value.value, value.name);
    }
    return out;
}

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_word(char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Length of the section number, such as "7.2", that `text` begins with; 0 if there is none.
std::size_t section_length(std::string_view text) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (is_digit(text[i]))
            length = i + 1;
        else if (text[i] != '.' || length != i || i == 0)
            break;
    return length;
}

/// Turns "contract 7.2" and "EFA contract 4" in the text into links to these sections, relative to
/// doc/models/<wing>.
std::string link_citations(std::string_view text) {
    static constexpr std::string_view word = "contract ", efa = "EFA ";
    std::string out;
    std::size_t done = 0;
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) {
        const auto begin = at + word.size();
        const auto section = text.substr(begin, section_length(text.substr(begin)));
        if (section.empty() || (at > 0 && is_word(text[at - 1]))) continue;
        const bool of_efa = text.substr(done, at - done).ends_with(efa);
        const auto first = of_efa ? at - efa.size() : at;
        out += text.substr(done, first - done);
        out += fmt::format("[{0} {1}](../../spec/{2}.md#s{1})", text.substr(first, begin - 1 - first),
                           section, of_efa ? "efa-contract" : "device-contract");
        done = begin + section.size();
    }
    return out.append(text.substr(done));
}

}  // namespace

std::string emit_markdown(const block_spec& block) {
    std::string out = fmt::format(
        "{}\n\n{} bytes of {}-bit registers; unnamed offsets: {}. Source: {}\n\n", markdown_begin,
        block.size, block.width * 8, holes_name(block.holes), cell(block.source));
    out +=
        "| Known by | Offset | Register | Access | Reset | Fidelity | Meaning "
        "|\n|---|---|---|---|---|---|---|\n";
    auto sorted = block.registers;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.known_by < b.known_by; });
    for (const auto& r : sorted)
        out += fmt::format("| {} | {} | {} | {} | {:#x} | {} | {} |\n", to_string(r.known_by),
                           offset_text(r), r.name, to_string(r.access), r.reset,
                           to_string(r.fidelity), cell(r.desc));
    std::string fields;
    for (const auto& r : sorted) fields += field_rows(r);
    if (!fields.empty())
        out +=
            "\nFields of these registers, with their values:\n\n"
            "| Register | Bits | Field | Meaning |\n|---|---|---|---|\n" +
            fields;
    return link_citations(out) + "\n" + std::string(markdown_end) + "\n";
}

std::string emit_page(const block_spec& block) {
    const auto lead = block.desc.empty() ? std::string() : cell(block.desc) + "\n\n";
    return fmt::format("# {}\n\n{}## Registers\n\n{}", block.block, lead, emit_markdown(block));
}

std::string emit_list(std::span<const table_entry> tables) {
    std::string out =
        "// SPDX-License-Identifier: Apache-2.0\n// Generated: every register table of the "
        "project.\n"
        "#include \"platform/framework/registers/all_tables.h\"\n\n";
    for (const auto& t : tables) out += fmt::format("#include \"{}\"\n", t.header);
    out += "\nnamespace trn {\n\nstd::span<const register_table* const> all_register_tables() {\n";
    out += fmt::format("    static constexpr std::array<const register_table*, {}> tables{{\n",
                       tables.size());
    for (const auto& t : tables) out += fmt::format("        &{}_regs::table,\n", lower(t.block));
    return out + "    };\n    return tables;\n}\n\n}  // namespace trn\n";
}

}  // namespace trn::registers

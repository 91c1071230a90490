// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/generator/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

namespace trn::registers {

namespace {

/// A name as a C++ identifier: lower case, neither a keyword nor a name used by the header.
std::string cpp_name(std::string_view name) {
    static const std::set<std::string, std::less<>> taken{
        "alignas",  "alignof",  "and",      "asm",     "auto",      "bool",      "break",
        "case",     "catch",    "char",     "class",   "compl",     "const",     "continue",
        "default",  "delete",   "do",       "double",  "else",      "enum",      "explicit",
        "export",   "extern",   "false",    "float",   "for",       "friend",    "goto",
        "if",       "inline",   "int",      "long",    "mutable",   "namespace", "new",
        "not",      "operator", "or",       "private", "protected", "public",    "register",
        "requires", "return",   "short",    "signed",  "sizeof",    "static",    "struct",
        "switch",   "template", "this",     "throw",   "true",      "try",       "typedef",
        "typename", "union",    "unsigned", "using",   "virtual",   "void",      "volatile",
        "while",    "xor",      "reg",      "rows",    "fields",    "table",     "offset",
        "size"};
    auto out = lower(name);
    return taken.contains(out) ? out + "_" : out;
}

std::string literal(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out + "\"";
}

/// Escapes text for a comment: one line, without comment ends and without starts that -Wcomment
/// reports.
std::string comment(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const char before = out.empty() ? ' ' : out.back();
        if ((c == '/' && before == '*') || (c == '*' && before == '/')) out += ' ';
        out += c == '\n' ? ' ' : c;
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

void emit_field_constants(std::string& out, const register_spec& r, std::size_t row) {
    if (r.fields.empty()) return;
    out += fmt::format("namespace {} {{\n", cpp_name(r.name));
    for (const auto& f : r.fields) {
        out += fmt::format("inline constexpr trn::register_field {}{{{}, {}, {}}};{}\n",
                           cpp_name(f.name), row, f.lsb, f.width, trailing(f.desc));
        for (const auto& v : f.values)
            out += fmt::format("inline constexpr std::uint64_t {}_{} = {:#x};\n", lower(f.name),
                               lower(v.name), v.value);
    }
    out += "}\n";
}

std::string holes_name(hole_policy holes) {
    return holes == hole_policy::ram ? "ram" : holes == hole_policy::zero ? "zero" : "error";
}

}  // namespace

std::string emit_cpp(const block_spec& block) {
    const auto space = lower(block.block) + "_regs";
    std::string out = fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Generated from {}.regs.yaml. Source of the facts: {}\n"
        "#pragma once\n\n#include \"platform/framework/registers/table.h\"\n\nnamespace trn::{} "
        "{{\n\n",
        block.block, comment(block.source), space);
    out += "enum class reg : std::uint16_t {\n";
    for (const auto& r : block.registers)
        out += fmt::format("    {},{}\n", cpp_name(r.name), trailing(r.desc));
    out += "};\n\n";

    for (std::size_t i = 0; i < block.registers.size(); ++i)
        emit_field_constants(out, block.registers[i], i);

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
    return out;
}

namespace {

void emit_c_register(std::string& out, const std::string& prefix, const register_spec& r) {
    const std::string name = prefix + r.name;
    if (!r.desc.empty()) out += fmt::format("/* {} */\n", comment(r.desc));
    if (r.dims.empty()) {
        out += fmt::format("#define {}_OFFSET {:#x}\n", name, r.offset);
    } else {
        static constexpr std::string_view letters[] = {"i", "j", "k"};
        std::string parameters, sum;
        for (std::size_t d = 0; d < r.dims.size(); ++d) {
            parameters += fmt::format("{}{}", d == 0 ? "" : ", ", letters[d]);
            sum += fmt::format(" + ({}) * {:#x}", letters[d], r.dims[d].stride);
            const auto suffix = r.dims.size() == 1 ? std::string() : std::to_string(d);
            out += fmt::format("#define {}_COUNT{} {}\n#define {}_STRIDE{} {:#x}\n", name, suffix,
                               r.dims[d].count, name, suffix, r.dims[d].stride);
        }
        out += fmt::format("#define {}_OFFSET({}) ({:#x}{})\n", name, parameters, r.offset, sum);
    }
    out += fmt::format("#define {}_RESET {:#x}\n", name, r.reset);
}

void emit_c_field(std::string& out, const std::string& name, const field_spec& f,
                  std::string_view type) {
    out += fmt::format("#define {}_SHIFT {}\n#define {}_MASK {:#x}\n", name, f.lsb, name, f.mask());
    out +=
        fmt::format("#define {0}_GET(value) (({1}(value) & {0}_MASK) >> {0}_SHIFT)\n", name, type);
    out +=
        fmt::format("#define {0}_SET(field) (({1}(field) << {0}_SHIFT) & {0}_MASK)\n", name, type);
    for (const auto& v : f.values)
        out += fmt::format("#define {}_{} {:#x}\n", name, v.name, v.value);
}

}  // namespace

std::string emit_c(const block_spec& block) {
    const std::string prefix = "TRN_" + upper(block.block) + "_";
    const std::string_view type = block.width == 8 ? "TRN_U64" : "TRN_U32";
    std::string out = fmt::format(
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* Generated from {0}.regs.yaml. Source of the facts: {1} */\n"
        "#ifndef {2}REGS_H\n#define {2}REGS_H\n\n"
        "#ifndef TRN_U32\n#ifdef __ASSEMBLER__\n#define TRN_U32(x) (x)\n#define TRN_U64(x) "
        "(x)\n#else\n"
        "#include <stdint.h>\n#define TRN_U32(x) ((uint32_t)(x))\n#define TRN_U64(x) "
        "((uint64_t)(x))\n"
        "#endif\n#endif\n\n#define {2}SIZE {3:#x}\n",
        block.block, comment(block.source), prefix, block.size);
    for (const auto& r : block.registers) {
        out += "\n";
        emit_c_register(out, prefix, r);
        for (const auto& f : r.fields) emit_c_field(out, prefix + r.name + "_" + f.name, f, type);
    }
    return out + "\n#endif\n";
}

namespace {

std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
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

std::string fields_text(const register_spec& r) {
    std::string out;
    for (const auto& f : r.fields) {
        out += fmt::format("<br>`{}` {}", bits_text(f), f.name);
        if (f.access != r.access) out += fmt::format(" ({})", to_string(f.access));
        if (!f.desc.empty()) out += ": " + cell(f.desc);
        for (std::size_t i = 0; i < f.values.size(); ++i)
            out += fmt::format("{}{} = {:#x}", i == 0 ? " — " : ", ", f.values[i].name,
                               f.values[i].value);
    }
    return out;
}

/// Turns "contract 7.2" in the text into a link to that section, relative to doc/models.
std::string link_citations(const std::string& text) {
    static const std::regex citation(R"(\bcontract (\d+(?:\.\d+)*))");
    return std::regex_replace(text, citation, "[contract $1](../spec/device-contract.md#s$1)");
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
        out += fmt::format("| {} | {} | {} | {} | {:#x} | {} | {}{} |\n", to_string(r.known_by),
                           offset_text(r), r.name, to_string(r.access), r.reset,
                           to_string(r.fidelity), cell(r.desc), fields_text(r));
    return link_citations(out) + "\n" + std::string(markdown_end) + "\n";
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

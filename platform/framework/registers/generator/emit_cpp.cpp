// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "platform/framework/registers/generator/described_table.h"
#include "platform/framework/registers/generator/emit.h"
#include "platform/framework/registers/generator/plain_text.h"

namespace trn::registers {

namespace {

/// A name as a C++ identifier: lower case, neither a keyword nor a name used by the header.
std::string cpp_name(std::string_view name) {
    static constexpr std::string_view taken =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
        "char16_t char32_t class compl concept const const_cast consteval constexpr constinit "
        "continue co_await co_return co_yield decltype default delete do double dynamic_cast "
        "else enum explicit export extern false float for friend goto if inline int long "
        "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected "
        "public register reinterpret_cast requires return short signed sizeof static "
        "static_assert static_cast struct switch template this thread_local throw true try "
        "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
        "xor_eq std trn reg rows fields table offset size ";
    auto out = lower(name);
    return taken.find(" " + out + " ") != taken.npos ? out + "_" : out;
}

std::string literal(std::string_view text) {
    std::string out = "\"";
    for (const char c : one_line(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

/// A trailing documentation comment; "" if there is no text.
std::string trailing(std::string_view desc) {
    return desc.empty() ? std::string() : "  ///< " + comment(desc);
}

/// The masks that few registers have; "" if this one has none.
std::string rare_masks(const bit_access& bits) {
    const std::array masks{bits.toggles, bits.zero_sets,        bits.zero_toggles, bits.filled,
                           bits.once,    bits.written_by_model, bits.read_by_model};
    if (std::ranges::all_of(masks, [](std::uint64_t mask) { return mask == 0; })) return {};
    std::string text;
    for (const std::uint64_t mask : masks) text += fmt::format(", {:#x}ull", mask);
    return text;
}

void emit_row(std::string& out, const register_row& row) {
    out += fmt::format("    {{{}, {:#x}, {{{{", literal(row.name), row.offset);
    for (std::size_t d = 0; d < row.dims.size(); ++d)
        out += fmt::format("{}{{{:#x}, {}}}", d == 0 ? "" : ", ", row.dims[d].stride,
                           row.dims[d].count);
    const auto& b = row.bits;
    out += fmt::format(
        "}}}}, {}, {}, {:#x}ull,\n     {{{:#x}ull, {:#x}ull, {:#x}ull, {:#x}ull, {:#x}ull, "
        "{:#x}ull{}}},\n",
        row.count, row.slot, row.reset, b.readable, b.stored, b.clears, b.sets, b.drained, b.kept,
        rare_masks(b));
    out +=
        fmt::format("     trn::knowledge::{}, trn::fidelity::{}, {}}},\n", to_string(row.known_by),
                    to_string(row.fidelity), literal(row.contract_skip));
}

void emit_field_constants(header& out, const register_spec& r, std::size_t row) {
    if (r.fields.empty()) return;
    const auto space = cpp_name(r.name);
    out.text += fmt::format("namespace {} {{\n", space);
    for (const auto& f : r.fields) {
        const auto name = cpp_name(f.name);
        out.names.push_back({space + "::" + name, f.place});
        out.text += fmt::format("inline constexpr trn::register_field {}{{{}, {}, {}}};{}\n", name,
                                row, f.lsb, f.width, trailing(f.desc));
        for (const auto& v : f.values) {
            const auto constant = cpp_name(f.name + "_" + v.name);
            out.names.push_back({space + "::" + constant, v.place});
            out.text +=
                fmt::format("inline constexpr std::uint64_t {} = {:#x};\n", constant, v.value);
        }
    }
    out.text += "}\n";
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
        result.names.push_back({"reg::" + name, r.place});
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
        emit_row(out, row_of(r, block.width, slot));
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

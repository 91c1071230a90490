// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "platform/framework/registers/generator/emit.h"
#include "platform/framework/registers/generator/plain_text.h"

namespace trn::registers {

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
    for (auto start = text.find(word); start != text.npos;
         start = text.find(word, start + word.size())) {
        const auto begin = start + word.size();
        const auto section = text.substr(begin, section_length(text.substr(begin)));
        if (section.empty() || (start > 0 && is_word(text[start - 1]))) continue;
        const bool of_efa = text.substr(done, start - done).ends_with(efa);
        const auto first = of_efa ? start - efa.size() : start;
        out += text.substr(done, first - done);
        out +=
            fmt::format("[{0} {1}](../../spec/{2}.md#s{1})", text.substr(first, begin - 1 - first),
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
    std::ranges::stable_sort(sorted, {}, &register_spec::known_by);
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

}  // namespace trn::registers

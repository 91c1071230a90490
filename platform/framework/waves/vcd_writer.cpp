// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/waves/vcd_writer.h"

#include <fmt/format.h>

#include "platform/framework/waves/scopes.h"

namespace trn {

namespace {

/// Short identifiers of printable characters, as the format requires.
std::string identifier(std::size_t number) {
    constexpr std::size_t characters = '~' - '!' + 1;
    std::string text;
    for (++number; number > 0; number = (number - 1) / characters)
        text += static_cast<char>('!' + (number - 1) % characters);
    return text;
}

std::string_view type_text(wave_variable::kind type) {
    switch (type) {
    case wave_variable::kind::bits:
        return "wire";
    case wave_variable::kind::real:
        return "real";
    case wave_variable::kind::state:
    case wave_variable::kind::text:
        break;
    }
    return "string";
}

/// White space would end a string, so that it is written as in C; GTKWave reads that.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c > ' ' && c <= '~' && c != '\\' && c != '\'' && c != '"' && c != '?')
            out += c;
        else
            out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
    return out;
}

/// Without leading zeros, as IEEE 1364 allows.
std::string binary(std::span<const std::uint32_t> words) {
    std::string digits;
    for (auto word = words.rbegin(); word != words.rend(); ++word)
        digits += fmt::format("{:032b}", *word);
    const auto first = digits.find('1');
    return first == digits.npos ? "0" : digits.substr(first);
}

}  // namespace

void vcd_writer::declare(std::span<const wave_variable> all) {
    file_.put("$version trnvp $end\n$timescale 1 ps $end\n");
    scopes inside(
        [this](const auto& name) { file_.put(fmt::format("$scope module {} $end\n", name)); },
        [this] { file_.put("$upscope $end\n"); });
    for (const auto& each : all) {
        const auto id = identifier(rows_.size());
        const auto name = inside.enter(each.path);
        const bool is_string = type_text(each.type) == "string";
        file_.put(fmt::format("$var {} {} {} {} $end\n", type_text(each.type),
                              is_string ? 1 : each.width, id, name));
        rows_.push_back({id, each.width, each.states});
    }
    inside.leave_all();
    file_.put("$enddefinitions $end\n");
}

void vcd_writer::begin(section s) {
    file_.put(s == section::initial ? "$dumpvars\n"
              : s == section::on    ? "$dumpon\n"
                                    : "$dumpoff\n");
}

void vcd_writer::time(std::uint64_t picoseconds) {
    file_.put(fmt::format("#{}\n", picoseconds));
}

void vcd_writer::number(std::size_t variable, std::uint64_t value) {
    const auto& row = rows_[variable];
    if (!row.states.empty())
        text(variable, value < row.states.size() ? row.states[value] : std::to_string(value));
    else if (row.width == 1)
        file_.put(fmt::format("{}{}\n", value & 1, row.id));
    else
        file_.put(fmt::format("b{:b} {}\n", value, row.id));
}

void vcd_writer::words(std::size_t variable, std::span<const std::uint32_t> value) {
    file_.put(fmt::format("b{} {}\n", binary(value), rows_[variable].id));
}

void vcd_writer::real(std::size_t variable, double value) {
    file_.put(fmt::format("r{:.16g} {}\n", value, rows_[variable].id));
}

void vcd_writer::text(std::size_t variable, std::string_view value) {
    file_.put(fmt::format("s{} {}\n", escaped(value), rows_[variable].id));
}

void vcd_writer::unknown(std::size_t variable) {
    const auto& row = rows_[variable];
    if (!row.states.empty())
        text(variable, "x");
    else
        file_.put(row.width == 1 ? fmt::format("x{}\n", row.id) : fmt::format("bx {}\n", row.id));
}

}  // namespace trn

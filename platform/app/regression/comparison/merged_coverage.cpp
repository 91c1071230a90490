// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/comparison/merged_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "platform/framework/config/file.h"

namespace trn::regression {

namespace {

std::vector<std::string_view> parts_of(std::string_view text, std::size_t limit) {
    std::vector<std::string_view> all;
    while (all.size() + 1 < limit) {
        const auto comma = text.find(',');
        if (comma == text.npos) break;
        all.push_back(text.substr(0, comma));
        text.remove_prefix(comma + 1);
    }
    all.push_back(text);
    return all;
}

std::optional<int> line_number(std::string_view text) {
    int value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

}  // namespace

/// Adds one line of a tracefile. Returns whether the format is correct. Sums are ignored, since
/// text() computes them.
bool merged_coverage::add_line(source_coverage& source, std::string_view line) {
    const auto colon = line.find(':');
    if (colon == line.npos) return false;
    const auto key = line.substr(0, colon);
    const auto rest = line.substr(colon + 1);
    if (key == "FNF" || key == "FNH" || key == "BRF" || key == "BRH" || key == "LF" || key == "LH")
        return line_number(rest).has_value();
    const auto parts = parts_of(rest, key == "BRDA" ? 4 : 2);
    const auto first = line_number(parts[0]);
    if (!first) return false;
    if (key == "FN" && parts.size() == 2) {
        source.functions.emplace(*first, parts[1]);
    } else if (key == "FNDA" && parts.size() == 2) {
        // Follows from the lines of the function.
    } else if (key == "DA" && parts.size() == 2 && line_number(parts[1])) {
        source.lines[*first] |= *line_number(parts[1]) > 0;
    } else if (key == "BRDA" && parts.size() == 4 && line_number(parts[1]) &&
               line_number(parts[2]) && (parts[3] == "-" || line_number(parts[3]))) {
        const int mark = parts[3] == "-" ? -1 : *line_number(parts[3]) > 0;
        const std::tuple branch{*first, static_cast<unsigned>(*line_number(parts[1])),
                                static_cast<unsigned>(*line_number(parts[2]))};
        const auto [known, fresh] = source.branches.try_emplace(branch, mark);
        known->second = std::max(known->second, mark);
    } else {
        return false;
    }
    return true;
}

void merged_coverage::add(std::string_view text, const std::string& place) {
    source_coverage* source = nullptr;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line == "TN:" || line.empty()) continue;
        if (line.starts_with("SF:")) {
            source = &sources_[std::string(line.substr(3))];
        } else if (line == "end_of_record") {
            source = nullptr;
        } else if (source == nullptr || !add_line(*source, line)) {
            throw file_error(
                fmt::format("{}: coverage, line {}: not a line of a tracefile", place, number));
        }
    }
}

std::string merged_coverage::text() const {
    std::string out;
    for (const auto& [file, source] : sources_) out += to_tracefile(file, source);
    return out;
}

}  // namespace trn::regression

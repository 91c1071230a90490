// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/text_table.h"

#include <algorithm>
#include <utility>

#include "platform/app/telemetry/views/summary.h"

namespace trn::telemetry {

void text_table::add_column(const std::string& head) {
    auto& lines = heads_.emplace_back();
    std::size_t begin = 0;
    for (auto end = head.find('\n'); end != std::string::npos; end = head.find('\n', begin)) {
        lines.push_back(head.substr(begin, end - begin));
        begin = end + 1;
    }
    lines.push_back(head.substr(begin));
}

void text_table::add_row(std::vector<std::string> cells, std::string colour) {
    cells.resize(heads_.size());
    for (auto& cell : cells) cell = line_text(cell);
    rows_.push_back({std::move(cells), std::move(colour)});
}

void text_table::add_border() {
    rows_.push_back({});
}

std::string text_table::text(std::size_t columns, bool coloured) const {
    std::vector<std::size_t> widths;
    std::size_t lines = 1;
    for (std::size_t c = 0; c < heads_.size(); ++c) {
        std::size_t width = 0;
        for (const auto& line : heads_[c]) width = std::max(width, columns_of(line));
        for (const auto& each : rows_)
            if (!each.cells.empty()) width = std::max(width, columns_of(each.cells[c]));
        widths.push_back(width);
        lines = std::max(lines, heads_[c].size());
    }
    std::string border = "+";
    for (const auto width : widths) border += std::string(width + 2, '-') + "+";
    std::string all;
    const auto add = [&](const std::string& line, const std::string& colour = {}) {
        const auto shown = columns == 0 ? line : cut(line, columns);
        all += coloured && !colour.empty() ? "\033[" + colour + "m" + shown + "\033[0m" : shown;
        all += '\n';
    };
    add(border);
    for (std::size_t line = 0; line < lines; ++line) {
        std::string text = "|";
        for (std::size_t c = 0; c < heads_.size(); ++c) {
            const auto& head = line < heads_[c].size() ? heads_[c][line] : std::string();
            const auto blanks = widths[c] + 2 - columns_of(head);
            text +=
                std::string(blanks / 2, ' ') + head + std::string(blanks - blanks / 2, ' ') + "|";
        }
        add(text);
    }
    add(border);
    for (const auto& each : rows_) {
        if (each.cells.empty()) {
            add(border);
            continue;
        }
        std::string text = "|";
        for (std::size_t c = 0; c < heads_.size(); ++c)
            text += " " + each.cells[c] +
                    std::string(widths[c] + 1 - columns_of(each.cells[c]), ' ') + "|";
        add(text, each.colour);
    }
    add(border);
    return all;
}

}  // namespace trn::telemetry

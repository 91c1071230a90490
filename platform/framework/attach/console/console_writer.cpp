// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/console/console_writer.h"

#include <fmt/format.h>

#include <cstdio>

namespace trn {

void console_writer::print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

std::string console_writer::line_of(std::string_view module, std::string_view line) const {
    return several_ ? fmt::format("[{}] {}\n", module, line) : fmt::format("{}\n", line);
}

void console_writer::write(std::string_view module, std::string_view text) {
    constexpr std::size_t longest_line = 4096;
    if (!whole_lines_) {
        out_(text);
        at_line_start_ = text.ends_with('\n');
        return;
    }
    std::string shown;
    auto& line = unfinished_.try_emplace(std::string(module)).first->second;
    for (const char c : text) {
        if (c != '\n') line += c;
        if (c != '\n' && line.size() < longest_line) continue;
        if (c == '\n' && line.ends_with('\r')) line.pop_back();
        shown += line_of(module, line);
        line.clear();
    }
    if (!shown.empty()) out_(shown);
}

void console_writer::finish() {
    for (const auto& [module, line] : unfinished_)
        if (!line.empty()) out_(line_of(module, line));
    unfinished_.clear();
    if (!at_line_start_) out_("\n");
}

}  // namespace trn

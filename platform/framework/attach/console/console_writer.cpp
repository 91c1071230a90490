// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/console/console_writer.h"

#include <fmt/format.h>

#include <cstdio>

namespace trn {

void console_writer::print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void console_writer::write(std::string_view module, std::string_view text) {
    constexpr std::size_t longest_line = 4096;
    if (!several_) {
        out_(text);
        at_line_start_ = text.ends_with('\n');
        return;
    }
    std::string shown;
    auto& line = unfinished_.try_emplace(std::string(module)).first->second;
    for (const char c : text) {
        if (c != '\n') line += c;
        if (c != '\n' && line.size() < longest_line) continue;
        shown += fmt::format("[{}] {}\n", module, line);
        line.clear();
    }
    if (!shown.empty()) out_(shown);
}

void console_writer::finish() {
    for (auto& [module, line] : unfinished_)
        if (!line.empty()) out_(fmt::format("[{}] {}\n", module, line));
    if (!at_line_start_) out_("\n");
}

}  // namespace trn

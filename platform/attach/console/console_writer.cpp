// SPDX-License-Identifier: Apache-2.0
#include "platform/attach/console/console_writer.h"

namespace trn {

void console_writer::write(std::string_view module, std::string_view text) {
    constexpr std::size_t longest_line = 4096;
    if (!several_) {
        out_ << text << std::flush;
        at_line_start_ = text.ends_with('\n');
        return;
    }
    auto& line = unfinished_.try_emplace(std::string(module)).first->second;
    for (const char c : text) {
        if (c != '\n') line += c;
        if (c != '\n' && line.size() < longest_line) continue;
        out_ << '[' << module << "] " << line << '\n';
        line.clear();
    }
    out_.flush();
}

void console_writer::finish() {
    for (auto& [module, line] : unfinished_)
        if (!line.empty()) out_ << '[' << module << "] " << line << '\n';
    if (!at_line_start_) out_ << '\n';
    out_.flush();
}

}  // namespace trn

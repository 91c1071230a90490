// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "platform/framework/terminal_text.h"

namespace trn::log {

/// The text as one line, also if it is that of a foreign model: as terminal_text(), with escapes
/// for line ends and tabs too. Text of a model cannot be taken for a line of the log.
inline std::string one_line(std::string_view text) {
    std::string line;
    line.reserve(text.size());
    while (!text.empty()) text.remove_prefix(terminal::append_printable(text, line));
    return line;
}

}  // namespace trn::log

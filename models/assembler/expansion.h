// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/config/diagnostics.h"

namespace trn::isa {

/// A line of a program after expansion, and the line of the file that it comes from.
struct source_line {
    int number = 0;
    std::string text;
};

/// Replaces constants and repetitions of a program's text: `.set`, `.define`, `.repeat` with
/// `.end`, and `{...}`. Grammar: doc/models/instructions.md, "Constants and repetition". Lines with
/// a mistake are reported and left out. At most 2^20 lines result.
std::vector<source_line> expand(std::string_view text, const std::string& file,
                                diagnostics& mistakes);

}  // namespace trn::isa

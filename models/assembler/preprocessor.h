// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/assembler/cursor.h"

namespace trn::isa {

/// A line of a program after `.set`, `.repeat`, `.if` and `{expression}` were carried out.
struct expanded_line {
    std::string_view original;
    std::string text = {};                    ///< with values; unused without substitutions
    std::vector<std::uint32_t> columns = {};  ///< of each character of `text` in `original`
    int number = 0;

    std::string_view content() const { return columns.empty() ? original : std::string_view(text); }
    /// Where a position in content() is in `original`.
    std::size_t original_column(std::size_t at) const;
};

/// Calls `line` for every line that instructions and directives stand on, in order, and `wrong`
/// for mistakes. Nothing more is expanded after a bound was passed.
void preprocess(std::string_view text, const std::function<void(const expanded_line&)>& line,
                const std::function<void(const expanded_line&, const line_error&)>& wrong);

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/neuron_isa/assembler/cursor.h"

namespace trn::isa {

/// A line of a program after `.set`, `.repeat`, `.if` and `{expression}` have been evaluated.
struct expanded_line {
    std::string_view original;
    std::string text = {};  ///< with values inserted; unused without substitutions
    std::vector<std::uint32_t> columns = {};  ///< column in `original` of each character of `text`
    int number = 0;

    std::string_view content() const { return columns.empty() ? original : std::string_view(text); }
    /// Column in `original` of a position in content().
    std::size_t original_column(std::size_t position) const;
};

using line_reader = std::function<void(const expanded_line&)>;
/// Takes an error of a line.
using error_reporter = std::function<void(const expanded_line&, const line_error&)>;

/// Calls `read` for each line with instructions or directives, in order, and `report` for each
/// error. Stops at the limits of lines, bytes and depth.
void preprocess(std::string_view text, const line_reader& read, const error_reporter& report);

}  // namespace trn::isa

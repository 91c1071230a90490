// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace trn::config {

/// Depth limit of nested arrays and objects. Copying, comparing and printing a JSON value recurse,
/// so the limit bounds the use of stack.
inline constexpr int max_json_depth = 64;

/// Parses JSON from outside the process. The result is discarded (as in nlohmann::json::parse())
/// when `text` is not JSON or nested deeper than max_json_depth. Use it for all JSON from outside.
nlohmann::json parse_json(std::string_view text);

/// One line of JSON for a program or a terminal: all but printable ASCII is escaped, and bytes that
/// are not UTF-8 are replaced.
std::string to_ascii(const nlohmann::json& value);

}  // namespace trn::config

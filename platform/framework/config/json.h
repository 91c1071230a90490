// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace trn::config {

/// Depth of nested arrays and objects that parse_json() accepts. Copying, comparing and printing a
/// JSON value recurse, so the limit bounds the stack that a sender can make them use.
inline constexpr int max_json_depth = 64;

/// A JSON text from outside the process. Discarded, as by nlohmann::json::parse(), when `text` is
/// not JSON or nested deeper than max_json_depth. Every text from outside is parsed here.
nlohmann::json parse_json(std::string_view text);

}  // namespace trn::config

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace trn::config {

/// Arrays and objects inside each other that parse_json() accepts. To copy, compare or print a JSON
/// value recurses, so that the sender of a deeper one would choose how much stack that takes.
inline constexpr int max_json_depth = 64;

/// A JSON text from outside the process. Discarded, as by nlohmann::json::parse(), when `text` is
/// not JSON or nested deeper than max_json_depth. Every text from outside is parsed here.
nlohmann::json parse_json(std::string_view text);

}  // namespace trn::config

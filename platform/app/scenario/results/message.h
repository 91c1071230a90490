// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace trn::scenario {

/// Writes one message as one line. Replaces bytes that are not UTF-8 (output of guests); ignores a
/// closed pipe.
void send_line(int pipe, const nlohmann::json& message);

}  // namespace trn::scenario

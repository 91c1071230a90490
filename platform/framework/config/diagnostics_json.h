// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/config/diagnostics.h"

namespace trn {

/// An error as one line of JSON for programs: {"code": "E22", "file", "line", "column", "length",
/// "message", "excerpt", "suggestion", "origin": {"file", "line"}}, without members that it lacks.
std::string to_json_line(const diagnostic& mistaken);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sw-stubs/host/location.h"

namespace trn {

/// The place that a person writes: "host", "host@7", "hbm2@16 MiB", "sbuf3@0x1000". The offset is a
/// size with its unit or a plain number of bytes. Otherwise the sentence that says what is wrong.
std::variant<location, std::string> parse_location(std::string_view text);

}  // namespace trn

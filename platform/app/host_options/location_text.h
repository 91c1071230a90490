// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sw-stubs/host/machine/location.h"

namespace trn {

/// Parses a location in text form: "host", "host@7", "hbm2@16 MiB", "sbuf3@0x1000". The offset is a
/// size with its unit or a plain number of bytes. Returns an error message for other text.
std::variant<location, std::string> parse_location(std::string_view text);

}  // namespace trn

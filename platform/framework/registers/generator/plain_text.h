// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "platform/framework/registers/generator/schema.h"

/// Texts of a description, prepared for the generated files.
namespace trn::registers {

/// Text on one line: control characters, some of which end a line for a compiler or a browser,
/// become spaces.
std::string one_line(std::string_view text);
/// Escapes text for a comment: one line, without comment ends and without starts that -Wcomment
/// reports.
std::string comment(std::string_view text);
std::string holes_name(hole_policy holes);

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trn {

/// Whether `pattern` matches all of `text`: `*` stands for any text, `?` for any byte; all others
/// stand for themselves.
bool matches_wildcards(std::string_view pattern, std::string_view text);

/// The same for the full name of a module: neither stands for a dot.
bool matches_name(std::string_view pattern, std::string_view name);

}  // namespace trn

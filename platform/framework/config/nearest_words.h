// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

/// The number of letters to insert, remove or replace. Callers limit the words' lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known words, those that are written most like `wrong` first.
std::vector<std::string> nearest_first(std::string_view wrong, std::vector<std::string> known);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace trn {

/// A sentence about an argument that a fault does not have, with the nearest name: its description
/// has each argument's name in quotation marks. "" without one.
std::string unknown_argument(std::string_view fault, std::string_view description,
                             const std::map<std::string, std::string, std::less<>>& arguments);

}  // namespace trn

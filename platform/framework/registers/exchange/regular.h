// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "platform/framework/registers/generator/schema.h"

namespace trn::registers {

/// The items with arrays as SystemRDL and IP-XACT have them: the elements of an array with several
/// dimensions follow each other; groups stand for the other dimensions. Ascending; no item lies
/// between the elements of another one. \throws config_error when that is impossible
std::vector<item_spec> regular_items(const std::vector<item_spec>& items, const std::string& file,
                                     unsigned width);

/// The first byte after all elements of an item.
std::uint64_t item_end(const item_spec& item, unsigned width);

/// The name of a group's instance: its prefix without the last `_`, with a number if it is taken.
std::string group_name(const item_spec& group, std::set<std::string>& taken);

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "platform/app/scenario/results/description.h"

namespace trn::scenario {

/// What can fail and be repeated: a scenario at one point of its matrix; of a campaign, with one
/// seed.
struct scenario_case {
    std::string file;                        ///< absolute
    std::string name;                        ///< without repetition and seed; "": the whole file
    std::optional<std::uint64_t> seed = {};  ///< of a campaign
    auto operator<=>(const scenario_case&) const = default;
};
using case_set = std::set<scenario_case>;

scenario_case case_of(const description& run);

/// A run of a case, with its end.
struct ended_case {
    scenario_case tried;
    bool passed = false;
};

/// The user's list of the cases whose last result is a failure, for --rerun-failed.
std::filesystem::path failed_list();
/// Adds the failed cases to the list and removes those that passed; other cases stay, if their file
/// still exists. Processes may call it at the same time. Errors are ignored, since the list is only
/// a convenience.
void remember_failed(const std::filesystem::path& list, std::span<const ended_case> ended);
/// The cases of the list; empty when there is none. Damaged lines have no effect.
case_set read_failed(const std::filesystem::path& list);

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/language/scenario.h"
#include "platform/app/scenario/results/failed_cases.h"
#include "platform/app/scenario/selection/selection_expression.h"
#include "platform/app/scenario/selection/where_clause.h"

namespace trn::scenario {

/// One of `count` equal parts of a list, for several machines; `index` counts from 1.
struct shard {
    unsigned index = 1, count = 1;
    /// "2/5". \throws std::invalid_argument
    static shard parse(const std::string& text);
};

/// A range of seeds, both ends included.
struct seed_range {
    std::uint64_t first = 1, last = 1;
    /// "1..1000", "7". \throws std::invalid_argument
    static seed_range parse(const std::string& text);
    std::uint64_t count() const { return last - first + 1; }
};

/// Returns the shard of each scenario, counted from 1.
using division =
    std::function<std::vector<unsigned>(std::span<const scenario> all, unsigned shards)>;

/// Selects the scenarios of a list, their repetitions and their order.
struct selection {
    std::vector<std::string> names = {};  ///< only these, or like these patterns; empty: all
    /// scenarios with one of these tags, and none of those written "!tag"
    std::vector<std::string> tags = {};
    std::vector<where_clause> clauses = {};
    std::optional<selection_expression> matching = {};
    /// Only these, of campaigns with these seeds, unless `seeds` has others.
    std::optional<case_set> failed = {};
    std::optional<seed_range> seeds = {};  ///< runs each scenario with each seed instead of its own
    shard part = {};
    division divide = {};  ///< null: neighbours go to different shards
    unsigned repeat = 1;
    std::optional<std::uint64_t> shuffle = {};  ///< seed for a random order
};

/// Whether the scenario, its file or a seed of its campaign has failed.
bool is_in(const case_set& failed, const scenario& run);

/// Applies in this order: names, tags, clauses, expression and failures; seeds; shard; repetitions;
/// order. The shards together contain each run exactly once. Scenarios whose names or tags cannot
/// be read are always selected. \throws std::invalid_argument for an unknown name, tag, value or
/// word, when nothing is selected, and for more than `max_runs`
std::vector<scenario> select(std::vector<scenario> all, const selection& criteria);

}  // namespace trn::scenario

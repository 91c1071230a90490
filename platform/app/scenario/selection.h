// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/scenario.h"

namespace trn::scenario {

/// One of several equal parts of a list, for several machines: 1 to `of`.
struct shard {
    unsigned index = 1, of = 1;
    /// "2/5". \throws std::invalid_argument
    static shard parse(const std::string& text);
};

/// Seeds from the first to the last.
struct seed_range {
    std::uint64_t first = 1, last = 1;
    /// "1..1000", "7". \throws std::invalid_argument
    static seed_range parse(const std::string& text);
    std::uint64_t count() const { return last - first + 1; }
};

/// The shard, from 1, in which each of these scenarios runs.
using division =
    std::function<std::vector<unsigned>(std::span<const scenario> all, unsigned shards)>;

/// Which scenarios of a list run, how often and in which order.
struct selection {
    std::vector<std::string> names = {};  ///< only these; empty: all
    std::vector<std::string> tags = {};   ///< has one of these, and none that is said as "!tag"
    std::optional<std::vector<std::string>> failed = {};  ///< only these, as identity() says
    std::optional<seed_range> seeds = {};  ///< each with each of these, instead of its own
    shard part = {};
    division divide = {};  ///< null: neighbours go to different shards
    unsigned repeat = 1;
    std::optional<std::uint64_t> shuffle = {};  ///< seed of the order
};

/// The scenarios that are chosen: by name, tag and failure, then with each seed, then a part of
/// them, then each so often as asked, then in the order asked for. The parts of all shards are all,
/// and none is in two. \throws std::invalid_argument when a name or tag is that of no scenario,
/// when no scenario has all that is asked for, and for more than `max_runs`
std::vector<scenario> select(std::vector<scenario> all, const selection& how);
constexpr std::size_t max_runs = 100'000;

/// Where the user's last run left what failed, for --rerun-failed.
std::filesystem::path failed_list();
/// Nothing is said when the file cannot be written: it is a convenience.
/// `failed`: as identity() says.
void remember_failed(const std::filesystem::path& file, std::span<const std::string> failed);
/// Empty when there was no run, or none failed.
std::vector<std::string> read_failed(const std::filesystem::path& file);

}  // namespace trn::scenario

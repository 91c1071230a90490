// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "platform/app/regression/record.h"
#include "platform/app/scenario/selection.h"

namespace trn::regression {

/// How long scenarios took, in a file that a user keeps beside them.
class durations {
public:
    struct entry {
        double beginning_s = 0;  ///< that scenarios with the same beginning share
        double own_s = 0;
        bool operator==(const entry&) const = default;
    };

    /// Empty when there is no such file. \throws file_error that names the file and the place in it
    static durations read(const std::filesystem::path& file);
    /// What a run measured. Only runs that passed count: a failure ends early or late.
    static durations of(const run_record& run);

    /// Half of what is known and half of `other`, where both have a scenario.
    void merge(const durations& other);
    std::optional<entry> find(const scenario::description& what) const;
    /// The middle one of each column; nothing when there is no entry.
    std::optional<entry> median() const;
    bool empty() const { return entries_.empty(); }
    std::string text() const;

private:
    std::map<std::string, entry> entries_;  // by identity()
};

/// Merges what a run measured into the file, which another process may have changed since.
/// \throws file_error, output_error
void update_durations(const std::filesystem::path& file, const run_record& run);

/// Shards that take about equally long: scenarios of one beginning stay together, unless shards
/// with a boot more are shorter. A scenario without an entry is taken to be the median. The same
/// entries and list have the same result, on every machine.
std::vector<unsigned> divide_by_durations(const durations& known,
                                          std::span<const scenario::scenario> all, unsigned shards);

}  // namespace trn::regression

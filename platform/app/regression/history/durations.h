// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "platform/app/regression/records/record.h"
#include "platform/app/scenario/language/scenario.h"

namespace trn::regression {

/// Durations of scenarios, in a file that a user keeps with the scenarios.
class durations {
public:
    struct entry {
        double beginning_s = 0;  ///< shared by scenarios with the same beginning
        double own_s = 0;
        bool operator==(const entry&) const = default;
    };

    /// Reads the file; empty when it does not exist. \throws file_error with the file's name and
    /// line
    static durations read(const std::filesystem::path& file);
    /// Durations of a run. Includes passed scenarios only, since failed ones end early or late.
    static durations measured_in(const run_record& run);

    /// Adds `other`; a scenario that both have gets the average.
    void merge(const durations& other);
    std::optional<entry> find(const scenario::description& run) const;
    /// Median of each column; nothing without entries.
    std::optional<entry> median() const;
    bool empty() const { return entries_.empty(); }
    std::string text() const;

private:
    std::map<std::string, entry> entries_;  // by identity()
};

/// Merges the durations of a run into the file, which another process may have changed meanwhile.
/// \throws file_error, output_error
void update_durations(const std::filesystem::path& file, const run_record& run);

/// Divides scenarios into shards of about equal duration. Scenarios with the same beginning stay
/// together, unless a second boot makes the longest shard shorter. A scenario without an entry gets
/// the median. The result depends only on the entries and the list.
std::vector<unsigned> divide_by_durations(const durations& known,
                                          std::span<const scenario::scenario> all, unsigned shards);

}  // namespace trn::regression

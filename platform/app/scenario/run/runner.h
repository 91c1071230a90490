// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/context/progress.h"
#include "platform/app/scenario/language/scenario.h"
#include "platform/app/scenario/results/outcome.h"

namespace trn::scenario {

/// Scenarios with the same first steps, in the process that runs these.
class group {
public:
    virtual ~group() = default;

    /// Numbers of the group's scenarios in the list; not empty.
    virtual std::span<const std::size_t> members() const = 0;
    /// Returns once per member, with the member's number, each time in a new process; for a single
    /// member in the calling process. With several members, the calling process waits for all,
    /// calls `last` and exits.
    virtual std::size_t branch(const std::function<void()>& last) = 0;
    /// Reports for the member of this process; before branch(), for all members.
    virtual const progress& report() const = 0;
};

/// Runs the shared steps, calls branch() once, and runs the steps of that member. An exception
/// fails the scenario with its text; before branch(), it fails all members.
using execution = std::function<void(group& scenarios)>;

struct run_options {
    unsigned jobs = 1;  ///< number of scenarios to run in parallel
    bool fork = true;   ///< run shared first steps once
    std::function<void(const run_progress&)> on_progress = {};  ///< called about ten times a second
    /// Called for each scenario as soon as it has ended.
    std::function<void(std::size_t, const outcome&)> on_end = {};
    /// Polled; when true, the run ends without the scenarios that have not ended.
    std::function<bool()> stop = {};
    /// Called for scenarios that share steps when their process has ended in these.
    std::function<void(std::span<const std::size_t>)> on_shared_end = {};
};

/// Runs each scenario in a child process; one with mistakes ends at once. Scenarios with the same
/// beginning run in copies of the process that has run it. `finished` is called in the order of
/// the list. After a stop the results lack the scenarios that had not ended.
std::vector<outcome> run_all(std::span<const scenario> all, const run_options& options,
                             const execution& run,
                             const std::function<void(std::size_t, const outcome&)>& finished);

}  // namespace trn::scenario

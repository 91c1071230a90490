// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/app/scenario/language/parameters.h"
#include "platform/app/scenario/results/outcome.h"
#include "platform/framework/misuse/policy.h"

namespace trn::scenario {

class scenario_context;

/// A failed step; what() is the message of the report.
class step_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Properties of the scenario that a step can use while the file is read.
struct setting {
    std::string board;
    std::uint64_t seed = 1;
    std::vector<std::uint64_t> seeds = {};           ///< of all runs of the scenario, for prepare()
    std::uint64_t memory_limit = ~std::uint64_t{0};  ///< bytes of files that all steps may hold
    std::function<bool()> stop = {};  ///< polled by prepare(); when true, its work ends early
};

/// A misuse rule whose count a step checks.
struct checked_rule {
    misuse::rule rule;
    bool violated = false;  ///< the step expects a violation
};

/// The action of a step. `work` runs in a process of the host CPU.
struct action {
    std::string text = {};  ///< "copy host to hbm0@0x1000000, 65537 bytes"
    std::function<void(scenario_context&)> work = {};
    std::vector<checked_rule> rules = {};
    std::string shared = {};  ///< scenarios with the same text share this step; "": never
    std::string keeps = {}, returns_to = {};  ///< name of the snapshot to take, or to restore
    /// Work in the background that the step starts, or waits for: "program 'x'"; "": none.
    std::string starts = {}, finishes = {};
    bool drives = true;            ///< uses the driver stub, which runs one call at a time
    bool has_status = true;        ///< with `drives`: its calls of the driver stub may fail
    std::uint64_t file_bytes = 0;  ///< of files that the step holds from its reading on
    /// Called before the first run of each seed if the file has no errors; reports further errors,
    /// and notes the files that it has read (note_input()).
    std::function<void(const setting&)> prepare = {};
    /// Called on the board before the scenario's own steps. \throws step_failure for a mistake that
    /// only the modules know, such as an unknown argument of a fault
    std::function<void(scenario_context&)> check = {};
};

/// A step of a scenario file, read and checked.
struct step : action {
    config::place place = {};
    std::string file = {};                  ///< file of `where`
    std::optional<trn_status> fails = {};   ///< the status with which the device call must fail
    std::string saying = {};                ///< a part of that call's message
    std::vector<trn_status> may_fail = {};  ///< statuses with which it may fail instead of succeed
    /// enclosing sequences, branches and steps; outermost first
    std::vector<enclosing> inside = {};
};

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "platform/app/scenario/results/figure.h"
#include "platform/framework/config/document.h"

namespace trn::scenario {

/// What contains a step: a sequence called in this line, a branch (line 0), or (with an empty name)
/// the step of this line.
struct enclosing {
    std::string name;
    int line = 0;
    std::string file = {};  ///< file of `line`
    bool operator==(const enclosing&) const = default;
};

/// The result of one scenario.
struct outcome {
    enum class verdict {
        passed,
        failed,           ///< a step failed
        crashed,          ///< its process died, by a defect of the platform
        timed_out,        ///< at the wall-clock limit, by a hang of the platform
        memory_exceeded,  ///< at the memory limit
        not_loaded,       ///< its files have mistakes
    };
    verdict result = verdict::failed;
    std::string message;    ///< reason of the failure; "" when passed
    std::string step;       ///< the failed step, or the step in which the process ended
    config::place place;    ///< place of that step
    std::string file = {};  ///< file of that place: the scenario's, or an included one
    std::vector<std::string> state = {};  ///< of the board at the failure, for readers
    std::string log;                      ///< output of the run, the last 256 KiB
    double first_step_s = 0;  ///< wall time from the process's start to its first own step
    double wall_s = 0;        ///< of its process, without shared steps
    /// until the end of the part that scenarios with the same `beginning` can share
    double beginning_s = 0;
    double own_s = 0;  ///< after `beginning_s`
    std::uint64_t simulated_ns = 0;
    std::uint64_t trace_digest = 0;  ///< trace::digest(); 0 without a trace

    struct begun {
        std::string step;
        int line;
        std::uint64_t at_ns;  ///< simulated
        std::vector<enclosing> inside = {};
        std::string file = {};  ///< file of `line`: the scenario's, or an included one
    };
    std::vector<begun> timeline;       ///< its steps in order, including shared ones
    std::vector<figure> figures = {};  ///< in the order of measurement
    /// Exceptions to misuse rules and warnings of kernels, which a report shows also when it
    /// passed.
    std::vector<std::string> notes = {};

    bool passed() const { return result == verdict::passed; }
};

/// Numbers of scenarios that ended, that failed, and in total.
struct run_progress {
    std::size_t ended = 0, failed = 0, total = 0;
};

// Conversions for messages between processes and for reports.
void to_json(nlohmann::json& message, const figure& measured);
void from_json(const nlohmann::json& message, figure& measured);

}  // namespace trn::scenario

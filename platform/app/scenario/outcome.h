// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "platform/app/scenario/step.h"

namespace trn::scenario {

/// How one scenario ended.
struct outcome {
    enum class verdict {
        passed,
        failed,           ///< a step failed
        crashed,          ///< its process died: a defect of the platform
        timed_out,        ///< the wall-clock limit: a hang of the platform
        memory_exceeded,  ///<  the memory limit
    };
    verdict what = verdict::failed;
    std::string message;      ///< why; "" when passed
    std::string step;         ///< the step that failed, or during which the process ended
    config::place where;      ///< of that step
    std::string file = {};    ///< of that place: the scenario's, or one that it includes
    std::string log;          ///< output of the run, the last 256 KiB
    double first_step_s = 0;  ///< wall clock from its process's start to its first own step
    double wall_s = 0;        ///< of its process: without the steps that it shared
    double beginning_s = 0;   ///< to the end of what scenarios with its `beginning` may share
    double own_s = 0;         ///< after that
    std::uint64_t simulated_ns = 0;
    std::uint64_t trace_digest = 0;  ///< as trace::digest(); 0 when nothing was traced

    struct begun {
        std::string step;
        int line;
        std::uint64_t at_ns;  ///< simulated
        std::vector<enclosing> inside = {};
    };
    std::vector<begun> timeline;       ///< its steps in order, with shared ones
    std::vector<figure> figures = {};  ///< in the order in which they were measured

    bool passed() const { return what == verdict::passed; }
};

/// Numbers of scenarios: ended, failed, of all.
struct run_progress {
    std::size_t ended = 0, failed = 0, of = 0;
};

// Messages between processes; figures stand in reports too.
void to_json(nlohmann::json& message, const figure& one);
void from_json(const nlohmann::json& message, figure& one);
void to_json(nlohmann::json& message, const enclosing& one);
void from_json(const nlohmann::json& message, enclosing& one);
void to_json(nlohmann::json& message, const outcome::begun& one);
void from_json(const nlohmann::json& message, outcome::begun& one);
void to_json(nlohmann::json& message, const outcome& how);
void from_json(const nlohmann::json& message, outcome& how);

}  // namespace trn::scenario

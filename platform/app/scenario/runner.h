// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/scenario.h"

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

/// Messages of a run to the runner, so that the report of a crash names the step.
class progress {
public:
    explicit progress(int pipe) : pipe_(pipe) {}

    void at(const step& current, std::uint64_t simulated_ns) const;
    /// A step that began earlier continues, after the steps that it holds.
    void again(const step& current, std::uint64_t simulated_ns) const;
    void measured(const figure& what) const;
    void passed(std::uint64_t simulated_ns, std::uint64_t trace_digest = 0) const;
    void failed(const std::string& message, std::uint64_t simulated_ns,
                std::uint64_t trace_digest = 0) const;

    /// The steps of at().
    const std::vector<outcome::begun>& timeline() const { return timeline_; }

private:
    void send_step(const step& current, std::uint64_t simulated_ns, bool begins) const;

    int pipe_;
    mutable std::vector<outcome::begun> timeline_;
};

/// Scenarios that share their first step, in the process that runs it.
class group {
public:
    virtual ~group() = default;

    /// The numbers of its scenarios in the list; at least one.
    virtual std::span<const std::size_t> members() const = 0;
    /// Returns once for each member, with its number, each time in a process of its own; in the
    /// calling process only for a single member. With several members, the calling process calls
    /// `last` when all have ended, and exits.
    virtual std::size_t branch(const std::function<void()>& last) = 0;
    /// Messages of the member; before branch(), of all members.
    virtual const progress& report() const = 0;
};

/// Runs the shared steps, calls branch() once, and then runs the steps of that member. An exception
/// fails the scenario with its text; before branch(), it fails all members.
using execution = std::function<void(group& scenarios)>;

/// Numbers of scenarios: ended, failed, of all.
struct run_progress {
    std::size_t ended = 0, failed = 0, of = 0;
};

struct run_options {
    unsigned jobs = 1;                                          ///< scenarios at a time
    bool fork = true;                                           ///< run shared first steps once
    std::function<void(const run_progress&)> on_progress = {};  ///< called about ten times a second
    /// Called for each scenario as soon as it has ended.
    std::function<void(std::size_t, const outcome&)> on_end = {};
};

/// Runs each scenario in a child process; scenarios that share their first step in copies of the
/// process that has run it. `finished` is called in the order of the list.
std::vector<outcome> run_all(std::span<const scenario> all, const run_options& how,
                             const execution& run,
                             const std::function<void(std::size_t, const outcome&)>& finished);

}  // namespace trn::scenario

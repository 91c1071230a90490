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
        failed,      ///< a step did not come out
        crashed,     ///< the process that ran it died: a defect of the platform
        timed_out,   ///< the wall-clock limit: a hang of the platform
        outgrew_it,  ///<  the memory limit
    };
    verdict what = verdict::failed;
    std::string message;      ///< why; "" when passed
    std::string step;         ///< the step that did not come out, or during which it ended
    config::place where;      ///< of that step
    std::string file = {};    ///< of that place: the scenario's, or one that it includes
    std::string log;          ///< what the run printed, its last 256 KiB
    double first_step_s = 0;  ///< wall clock from its process's start to its first own step
    double wall_s = 0;        ///< of its own steps; what it shares with others is not counted
    std::uint64_t simulated_ns = 0;
    std::uint64_t trace_digest = 0;  ///< as trace::digest(); 0 when nothing was traced

    struct begun {
        std::string step;
        int line;
        std::uint64_t at_ns;  ///< simulated
        std::vector<enclosing> inside = {};
    };
    std::vector<begun> timeline;       ///< its steps in order, those that it shares too
    std::vector<figure> figures = {};  ///< in the order in which they were measured

    bool passed() const { return what == verdict::passed; }
};

/// What a run tells while it goes on, so that a crash knows its step.
class progress {
public:
    explicit progress(int pipe) : pipe_(pipe) {}

    void at(const step& current, std::uint64_t simulated_ns) const;
    /// A step that has begun before, after steps that are parts of it.
    void again(const step& current, std::uint64_t simulated_ns) const;
    void measured(const figure& what) const;
    void passed(std::uint64_t simulated_ns, std::uint64_t trace_digest = 0) const;
    void failed(const std::string& message, std::uint64_t simulated_ns,
                std::uint64_t trace_digest = 0) const;

    /// What at() was told.
    const std::vector<outcome::begun>& timeline() const { return timeline_; }

private:
    void tell(const step& current, std::uint64_t simulated_ns, bool begins) const;

    int pipe_;
    mutable std::vector<outcome::begun> timeline_;
};

/// Scenarios that begin alike, in one process that has done their beginning or is about to.
class group {
public:
    virtual ~group() = default;

    /// The numbers of its scenarios in the list; at least one.
    virtual std::span<const std::size_t> members() const = 0;
    /// Returns once for each member, with its number, each time in a process of its own that goes
    /// on from here; in the calling process only when that has no other member. Else that calls
    /// `last` when they have all ended, and ends.
    virtual std::size_t branch(const std::function<void()>& last) = 0;
    /// Of the member, or of what all share before branch().
    virtual const progress& tell() const = 0;
};

/// Does what the members share, calls branch() once, and then does what only that member has. An
/// exception that leaves it is a failed scenario with its text; before branch(), a failure of all.
using execution = std::function<void(group& alike)>;

/// How far a run is.
struct standing {
    std::size_t ended = 0, failed = 0, of = 0;
};

struct run_options {
    unsigned jobs = 1;                               ///< scenarios at a time
    bool fork = true;                                ///< scenarios that begin alike do it once
    std::function<void(const standing&)> look = {};  ///< is called some ten times a second
};

/// Runs each scenario in a child process, those that begin alike from a copy of one that has done
/// the beginning. `finished` is told in the order of the list, as soon as that is known.
std::vector<outcome> run_all(std::span<const scenario> all, const run_options& how,
                             const execution& run,
                             const std::function<void(std::size_t, const outcome&)>& finished);

}  // namespace trn::scenario

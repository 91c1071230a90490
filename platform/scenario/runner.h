// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "platform/scenario/scenario.h"

namespace trn::scenario {

/// How one scenario ended.
struct outcome {
    enum class verdict {
        passed,
        failed,     ///< a step did not come out
        crashed,    ///< the process that ran it died: a defect of the platform
        timed_out,  ///< the wall-clock limit: a hang of the platform
    };
    verdict what = verdict::failed;
    std::string message;  ///< why; "" when passed
    std::string step;     ///< the step that did not come out, or during which it ended
    config::place where;  ///< of that step
    std::string log;      ///< what the run printed, its last 256 KiB
    double wall_s = 0;
    std::uint64_t simulated_ns = 0;
};

/// What a run tells while it goes on, so that a crash knows its step.
class progress {
public:
    explicit progress(int pipe) : pipe_(pipe) {}

    void at(const step& current) const;
    void passed(std::uint64_t simulated_ns) const;
    void failed(const std::string& message, std::uint64_t simulated_ns) const;

private:
    void send(const std::string& line) const;
    int pipe_;
};

/// Runs one scenario in the process that calls it, which is a child made for it. An exception that
/// leaves it is a failed scenario with its text.
using execution = std::function<void(const scenario& what, std::size_t number, progress& to)>;

/// Runs each scenario in a child process of its own, `jobs` at a time. `finished` is told in the
/// order of the list, as soon as that is known.
std::vector<outcome> run_all(std::span<const scenario> all, unsigned jobs, const execution& run,
                             const std::function<void(std::size_t, const outcome&)>& finished);

}  // namespace trn::scenario

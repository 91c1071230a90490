// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/app/scenario/language/step.h"
#include "platform/app/scenario/results/outcome.h"

namespace trn::scenario {

/// Sends messages of a run to the runner, so that the report of a crash names the step.
class progress {
public:
    explicit progress(int pipe) : pipe_(pipe) {}

    void begin(const step& current, std::uint64_t simulated_ns) const;
    /// Reports that a step continues after the steps inside it.
    void resume(const step& current, std::uint64_t simulated_ns) const;
    void measured(const figure& measured) const;
    /// A line for the report, which shows equal lines once.
    void noted(const std::string& line) const;
    void passed(std::uint64_t simulated_ns, std::uint64_t trace_digest = 0) const;
    /// `state`: of the board, for the report.
    void failed(const std::string& message, std::uint64_t simulated_ns,
                std::uint64_t trace_digest = 0, const std::vector<std::string>& state = {}) const;

    /// The steps, figures and notes reported so far.
    const outcome& so_far() const { return so_far_; }

private:
    void send_step(const step& current, std::uint64_t simulated_ns, bool begins) const;

    int pipe_;
    mutable outcome so_far_;
};

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "platform/app/scenario/context/driver_queue.h"
#include "platform/app/scenario/language/step.h"

namespace trn::scenario {

/// State that the steps of a scenario change while they are played.
struct step_run {
    struct running_step {
        const step* played;
        sc_core::sc_time since;
    };

    std::size_t next_step = 0;            ///< index of the step after the current one
    std::list<running_step> in_progress;  ///< steps that have begun and not ended
    driver_queue driver;
    /// Whether a step fails during which software breaks a rule with the policy `fail`.
    bool checks_misuse = false;
    /// Why a branch has failed first: other branches end before their next step.
    std::optional<std::string> branch_failure;
    /// state_at_failure() at the first failure of a step.
    std::optional<std::vector<std::string>> state;
};

}  // namespace trn::scenario

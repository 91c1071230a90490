// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/scenario/language/scenario.h"
#include "platform/app/scenario/results/message.h"
#include "platform/app/scenario/results/outcome.h"
#include "platform/app/scenario/run/child.h"
#include "platform/app/scenario/run/tokens.h"

namespace trn::scenario {

/// A child process that holds a token. It runs one scenario, or the shared steps of several; then
/// it returns its token at the branch, and reports the outcomes of its members.
class job {
public:
    job(std::vector<std::size_t> members, const scenario& limits, std::unique_ptr<child> process,
        tokens& free)
        : members_(std::move(members)),
          limits_(limits),
          process_(std::move(process)),
          free_(free) {}

    child& process() { return *process_; }
    /// Sets what was reported before the process branched off, and the time until then, which
    /// counts for the wall-clock limit.
    void begin_with(outcome shared, double seconds) {
        continues_ = true;
        result_ = std::move(shared);
        shared_s_ = seconds;
    }
    /// Reads messages and checks limits. Returns false when the process has ended.
    bool poll_process(bool readable);
    /// Reports an outcome for each member that has none yet.
    void finish(const std::function<void(std::size_t, const outcome&)>& report);
    /// Called with the outcome of a member.
    std::function<void(std::size_t, const outcome&)> member_ended;
    /// Called when the process has ended without a branch.
    std::function<void()> ended_before_branch = {};

private:
    void receive(std::string_view line);
    void take(const run_message& message);
    void take_step(const step_message& message);

    std::vector<std::size_t> members_;  // members without an outcome
    const scenario& limits_;
    std::unique_ptr<child> process_;
    tokens& free_;
    bool branched_ = false, has_result_ = false, continues_ = false;
    std::set<std::size_t> running_;  // members that hold a token, after the branch
    double shared_s_ = 0;
    std::string backtrace_, damage_;
    outcome result_;
};

}  // namespace trn::scenario

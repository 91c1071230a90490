// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/scenario/child.h"
#include "platform/app/scenario/outcome.h"
#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/tokens.h"

namespace trn::scenario {

/// A process that holds a token: of one scenario, or of the shared steps of several. The process of
/// several then returns its token, and reports the outcomes of its members.
class job {
public:
    job(std::vector<std::size_t> members, const scenario& limits, std::unique_ptr<child> process,
        tokens& free)
        : members_(std::move(members)),
          limits_(limits),
          process_(std::move(process)),
          free_(free) {}

    child& process() { return *process_; }
    /// Steps that the process ran before it became this job.
    void begin_with(std::vector<outcome::begun> steps) {
        continues_ = true;
        result_.timeline = std::move(steps);
    }
    /// Reads messages and checks limits; false when the process has ended.
    bool poll_process(bool readable);
    /// Reports the outcome of each member that has none yet.
    void finish(const std::function<void(std::size_t, const outcome&)>& report);
    /// Called when a member ends.
    std::function<void(std::size_t, const outcome&)> member_ended;

private:
    void receive(std::string_view line);
    void take(const nlohmann::json& message);

    std::vector<std::size_t> members_;  // without an outcome
    const scenario& limits_;
    std::unique_ptr<child> process_;
    tokens& free_;
    bool branched_ = false, has_result_ = false, continues_ = false;
    std::set<std::size_t> running_;  // members that have a token, once this has branched
    std::string backtrace_, damage_;
    outcome result_;
};

}  // namespace trn::scenario

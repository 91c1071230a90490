// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <systemc>

#include "platform/app/library/user_calls.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn::library {

/// Simulated time, which advances inside of these functions only. They throw failure.
class simulation {
public:
    static constexpr auto waiter = "the caller";

    explicit simulation(run_loop& loop) : loop_(loop) {}
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;

    user_calls& calls() { return calls_; }

    /// \throws failure inside of a callback, and after the end
    void check_can_advance() const;
    void run_until(std::uint64_t time_ps);
    void run_until_true(const std::function<bool()>& condition, std::uint64_t time_ps,
                        double wall_seconds);
    /// Lets time advance by `duration`, or to a pause.
    void pass(const sc_core::sc_time& duration);
    /// Lets time advance until `ended` returns true, at the end of the delta cycle in which
    /// wake() is called, or to a pause.
    void pass_until(const std::function<bool()>& ended);
    void wake();

    /// Runs while another goal advances time, until `condition` is true or time is paused.
    void advance_until(const std::function<bool()>& condition);

private:
    /// Runs until the goal is reached.
    stop_reason advance(run_loop::goal goal);

    run_loop& loop_;
    user_calls calls_{loop_};
    std::string ended_;                         // why time cannot advance any more; "": it can
    std::optional<run_loop::goal_id> awaited_;  // of pass_until()
};

}  // namespace trn::library

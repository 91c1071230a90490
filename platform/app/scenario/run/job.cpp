// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "platform/app/scenario/run/backtrace.h"

namespace trn::scenario {

/// A damaged process may write anything: an invalid line fails only its own scenario.
void job::receive(std::string_view line) {
    try {
        take(parse_message(line));
    } catch (const nlohmann::json::exception& wrong) {
        damage_ = wrong.what();
    }
}

void job::take(const run_message& message) {
    if (message.step) {
        take_step(*message.step);
    } else if (message.measured) {
        result_.figures.push_back(*message.measured);
    } else if (message.note) {
        if (std::ranges::find(result_.notes, *message.note) == result_.notes.end())
            result_.notes.push_back(*message.note);
    } else if (message.backtrace) {
        backtrace_ = "died in\n" + source_of(*message.backtrace);
    } else if (message.branched) {
        branched_ = true;
        result_.beginning_s = process_->seconds();
        free_.give();
    } else if (message.runs) {
        running_.insert(*message.runs);
    } else if (message.member) {
        auto [number, result] = *message.member;
        result.beginning_s = result_.beginning_s;
        running_.erase(number);
        if (std::erase(members_, number) != 0) member_ended(number, result);
    } else if (message.end) {
        const auto& end = *message.end;
        has_result_ = true;
        result_.simulated_ns = end.simulated_ns;
        result_.trace_digest = end.trace_digest;
        result_.message = end.message;
        result_.state = end.state;
        result_.result = end.passed ? outcome::verdict::passed : outcome::verdict::failed;
    } else {
        damage_ = "a line without a message";
    }
}

void job::take_step(const step_message& message) {
    const auto& [begun, column, begins, process] = message;
    if (result_.step.empty()) result_.first_step_s = process_->seconds();
    result_.step = begun.step;
    result_.place = {begun.line, column, 1};
    result_.file = begun.file;
    // The shared part ends where the next step begins, unless the process began after it.
    if (begins && !continues_ &&
        result_.timeline.size() == std::max<std::size_t>(limits_.shared_steps, 1))
        result_.beginning_s = process_->seconds();
    if (begins) result_.timeline.push_back(begun);
    process_->follow(process);
}

bool job::poll_process(bool readable) {
    const auto receiver = [this](std::string_view line) { receive(line); };
    if (readable && !process_->read(receiver)) return false;
    process_->trim_log();
    if (branched_) return true;  // the limits apply to the members' own processes
    if (shared_s_ + process_->seconds() >= limits_.wall_limit_s) {
        result_.result = outcome::verdict::timed_out;
        result_.message =
            fmt::format("still running after {} s of wall clock", limits_.wall_limit_s);
    } else if (process_->resident() > limits_.memory_limit) {
        result_.result = outcome::verdict::memory_exceeded;
        result_.message = fmt::format("more than {} MiB of memory", limits_.memory_limit >> 20);
    } else {
        return true;
    }
    process_->kill(receiver);
    has_result_ = true;
    return false;
}

void job::finish(const std::function<void(std::size_t, const outcome&)>& report) {
    result_.wall_s = process_->seconds();
    result_.own_s = result_.wall_s - (continues_ ? 0 : result_.beginning_s);
    const auto end = process_->wait();
    result_.log = process_->log() + backtrace_;
    if (!has_result_ || (!end.empty() && !process_->killed())) {
        result_.result = outcome::verdict::crashed;
        result_.message =
            "the platform " + (end.empty() ? std::string("exited unexpectedly") : end);
    } else if (!damage_.empty()) {
        result_.result = outcome::verdict::crashed;
        result_.message = "invalid response of the platform: " + damage_;
    }
    if (!branched_ && ended_before_branch) ended_before_branch();
    for (auto held = branched_ ? running_.size() : 1; held > 0; --held) free_.give();
    for (const auto number : members_) report(number, result_);
}

}  // namespace trn::scenario

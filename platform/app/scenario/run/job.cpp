// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "platform/app/scenario/run/backtrace.h"

namespace trn::scenario {

using nlohmann::json;

/// A damaged process may write anything: an invalid line fails only its own scenario.
void job::receive(std::string_view line) {
    try {
        take(json::parse(line));
    } catch (const json::exception& wrong) {
        damage_ = wrong.what();
    }
}

void job::take(const json& message) {
    if (message.contains("step")) {
        if (result_.step.empty()) result_.first_step_s = process_->seconds();
        result_.step = message["step"];
        result_.where = {message["line"], message["column"], 1};
        result_.file = message["file"];
        // The shared part ends where the second step begins, unless the process began after it.
        if (message["begins"] && result_.timeline.size() == 1 && !continues_)
            result_.beginning_s = process_->seconds();
        if (message["begins"])
            result_.timeline.push_back({message["step"], message["line"], message["simulated_ns"],
                                        message["inside"], message["file"]});
        process_->follow(message["process"]);
    } else if (message.contains("figure")) {
        result_.figures.push_back(message["figure"]);
    } else if (message.contains("note")) {
        const std::string line = message["note"];
        if (std::ranges::find(result_.notes, line) == result_.notes.end())
            result_.notes.push_back(line);
    } else if (message.contains("backtrace")) {
        backtrace_ = "died in\n" + source_of(message["backtrace"]);
    } else if (message.contains("branched")) {
        branched_ = true;
        result_.beginning_s = process_->seconds();
        free_.give();
    } else if (message.contains("runs")) {
        running_.insert(message["runs"].get<std::size_t>());
    } else if (message.contains("member")) {
        const std::size_t number = message["member"];
        auto result = message["outcome"].get<outcome>();
        result.beginning_s = result_.beginning_s;
        running_.erase(number);
        if (std::erase(members_, number) != 0) member_ended(number, result);
    } else {
        has_result_ = true;
        result_.simulated_ns = message["simulated_ns"];
        result_.trace_digest = message["trace_digest"];
        result_.message = message.value("failed", "");
        result_.state = message.value("state", result_.state);
        result_.result =
            message.contains("failed") ? outcome::verdict::failed : outcome::verdict::passed;
    }
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

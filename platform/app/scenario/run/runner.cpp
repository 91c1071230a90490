// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "platform/app/scenario/results/message.h"
#include "platform/app/scenario/run/child.h"
#include "platform/app/scenario/run/job.h"
#include "platform/framework/log_reports.h"
#include "platform/framework/process/output_log.h"
#include "platform/framework/process/throw_errno.h"

namespace trn::scenario {

namespace {

/// Jobs to start, identified by numbers from 0.
struct worklist {
    std::size_t count = 0;
    std::string log = {};  ///< first text of each process's log
    /// Called in the calling process with each new process.
    std::function<std::unique_ptr<job>(std::size_t, std::unique_ptr<child>)> begun;
    /// Called when the operating system has no process or descriptor left, and no running job can
    /// release one.
    std::function<void(std::size_t, const outcome&)> refused;
    /// Called with the outcome of a scenario.
    std::function<void(std::size_t, const outcome&)> ended;
    std::function<void()> on_progress = {};  ///< called about ten times a second
    std::function<bool()> stop = {};         ///< polled; when true, the jobs are ended
};

/// Starts and supervises the jobs of one process.
class supervisor {
public:
    explicit supervisor(tokens& free) : free_(free) {}

    struct started {
        std::size_t work;
        int pipe;  ///< to the supervising process
    };
    /// Starts jobs while tokens are free, until all have ended. Returns the job in each new
    /// process; nothing in the calling process, at the end.
    std::optional<started> run(const worklist& all);

private:
    std::optional<started> start(const worklist& all, std::size_t& next);
    void wait(const worklist& all, bool token_wanted);

    tokens& free_;
    std::vector<std::unique_ptr<job>> jobs_;
    bool refused_ = false;  // a job could not be started; cleared when one ends
};

std::optional<supervisor::started> supervisor::run(const worklist& all) {
    for (std::size_t next = 0; next < all.count || !jobs_.empty();) {
        if (all.stop && all.stop()) {
            jobs_.clear();
            break;
        }
        while (next < all.count && !refused_ && free_.take())
            if (const auto child = start(all, next)) return child;
        wait(all, next < all.count && !refused_);
        if (all.on_progress) all.on_progress();
    }
    return std::nullopt;
}

std::optional<supervisor::started> supervisor::start(const worklist& all, std::size_t& next) {
    int pipe = -1;
    try {
        auto process = child::make(all.log, pipe);
        if (process) {
            jobs_.push_back(all.begun(next++, std::move(process)));
            return std::nullopt;
        }
    } catch (const std::system_error& why) {
        free_.give();
        refused_ = !jobs_.empty();
        if (refused_) return std::nullopt;
        outcome refusal;
        refusal.message = fmt::format("it cannot be started: {}", why.what());
        all.refused(next++, refusal);
        return std::nullopt;
    }
    for (auto& sibling : jobs_) sibling->process().forget();
    jobs_.clear();
    return started{next, pipe};
}

/// Waits until a job writes or ends, or, with `token_wanted`, until a token may be free.
void supervisor::wait(const worklist& all, bool token_wanted) {
    constexpr int limits_period_ms = 100;
    std::vector<pollfd> pipes;
    for (const auto& running : jobs_) pipes.push_back({running->process().pipe(), POLLIN, 0});
    if (token_wanted) pipes.push_back({free_.readable_when_free(), POLLIN, 0});
    if (pipes.empty()) return;
    if (poll(pipes.data(), pipes.size(), jobs_.empty() ? -1 : limits_period_ms) < 0 &&
        errno != EINTR)
        throw_errno("poll");
    for (std::size_t i = jobs_.size(); i-- > 0;) {
        if (jobs_[i]->poll_process(pipes[i].revents != 0)) continue;
        jobs_[i]->finish(all.ended);
        jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
        refused_ = false;
    }
}

/// The group in the process that runs its shared steps.
class branching final : public group {
public:
    branching(std::span<const scenario> all, std::vector<std::size_t> members, tokens& free,
              int pipe)
        : all_(all), members_(std::move(members)), free_(free), pipe_(pipe), report_(pipe) {}

    std::span<const std::size_t> members() const override { return members_; }
    std::size_t branch(const std::function<void()>& last) override;
    const progress& report() const override { return report_; }

private:
    std::span<const scenario> all_;
    std::vector<std::size_t> members_;
    tokens& free_;
    int pipe_;
    progress report_;
    const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

/// The shared steps are those of the first member's file: gives them the places of this member's.
void set_places(std::vector<outcome::begun>& shared, const scenario& member) {
    for (std::size_t i = 0; i < std::min(shared.size(), member.steps.size()); ++i) {
        const auto& own = member.steps[i];
        shared[i].line = own.place.line;
        shared[i].inside = own.inside;
        shared[i].file = own.file;
    }
}

/// The result of a group that ended in a shared step, for one member.
outcome result_of_member(outcome shared, const scenario& member) {
    if (shared.timeline.empty() || shared.timeline.size() > member.steps.size()) return shared;
    set_places(shared.timeline, member);
    const auto& last = member.steps[shared.timeline.size() - 1];
    shared.place = last.place;
    shared.file = last.file;
    return shared;
}

std::size_t branching::branch(const std::function<void()>& last) {
    if (members_.size() == 1) return members_.front();
    send(pipe_, {.branched = true});
    std::fflush(nullptr);
    const auto shared_log = read_log(STDOUT_FILENO);
    supervisor children(free_);
    const auto seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    const auto send_outcome = [this](std::size_t number, const outcome& run_outcome) {
        send(pipe_, {.member = member_message{number, run_outcome}});
    };
    const auto begun = [this, seconds](std::size_t i, std::unique_ptr<child> process) {
        const auto number = members_[i];
        auto started =
            std::make_unique<job>(std::vector{number}, all_[number], std::move(process), free_);
        auto shared = report_.so_far();
        set_places(shared.timeline, all_[number]);
        started->begin_with(std::move(shared), seconds);
        send(pipe_, {.runs = number});
        return started;
    };
    const auto mine = children.run(
        {.count = members_.size(),
         .log = shared_log,
         .begun = begun,
         .refused = [&](std::size_t i,
                        const auto& run_outcome) { send_outcome(members_[i], run_outcome); },
         .ended = send_outcome});
    if (mine) {
        close(pipe_);
        report_ = progress(pipe_ = mine->pipe);
        members_ = {members_[mine->work]};
        return members_.front();
    }
    if (last) last();
    _exit(0);
}

/// Groups the numbers of scenarios with the same beginning, in the order of the first members.
/// Scenarios with mistakes are in no group.
std::vector<std::vector<std::size_t>> groups_of(std::span<const scenario> all, bool fork) {
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].mistakes.empty()) continue;
        const auto [found, fresh] = known.emplace(all[i].beginning, groups.size());
        if (fresh || !fork)
            groups.push_back({i});
        else
            groups[found->second].push_back(i);
    }
    return groups;
}

[[noreturn]] void run_child(branching& scenarios, const execution& run) {
    try {
        run(scenarios);
    } catch (const std::bad_alloc&) {
        scenarios.report().failed("the operating system gives no more memory", 0);
    } catch (const std::exception& wrong) {
        scenarios.report().failed(log::sentence(wrong), 0);
    }
    std::fflush(nullptr);
    _exit(0);
}

}  // namespace

std::vector<outcome> run_all(std::span<const scenario> all, const run_options& options,
                             const execution& run,
                             const std::function<void(std::size_t, const outcome&)>& finished) {
    tokens free(std::max(options.jobs, 1u));
    supervisor children(free);
    std::vector<std::optional<outcome>> done(all.size());
    const auto groups = groups_of(all, options.fork);
    std::vector<bool> shares(all.size());
    for (const auto& group : groups)
        for (const auto number : group) shares[number] = group.size() > 1;
    std::size_t reported = 0;
    run_progress now{.total = all.size()};
    const auto ended = [&](std::size_t number, const outcome& result) {
        done[number] = result;
        ++now.ended;
        if (!result.passed()) ++now.failed;
        if (options.on_end) options.on_end(number, result);
        for (; reported < done.size() && done[reported]; ++reported)
            finished(reported, *done[reported]);
    };
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!all[i].mistakes.empty()) ended(i, refused(all[i]));
    const auto begun = [&](std::size_t i, std::unique_ptr<child> process) {
        auto started =
            std::make_unique<job>(groups[i], all[groups[i].front()], std::move(process), free);
        started->member_ended = ended;
        if (options.on_shared_end && groups[i].size() > 1)
            started->ended_before_branch = [&options, &group = groups[i]] {
                options.on_shared_end(group);
            };
        return started;
    };
    const auto ended_in_shared_step = [&](std::size_t number, const outcome& result) {
        ended(number, shares[number] ? result_of_member(result, all[number]) : result);
    };
    const auto group_process = children.run({.count = groups.size(),
                                             .begun = begun,
                                             .refused =
                                                 [&](std::size_t i, const auto& result) {
                                                     for (const auto number : groups[i])
                                                         ended(number, result);
                                                 },
                                             .ended = ended_in_shared_step,
                                             .on_progress =
                                                 [&] {
                                                     if (options.on_progress)
                                                         options.on_progress(now);
                                                 },
                                             .stop = options.stop});
    if (group_process) {
        branching scenarios(all, groups[group_process->work], free, group_process->pipe);
        run_child(scenarios, run);
    }
    std::vector<outcome> results;
    results.reserve(done.size());
    for (std::size_t i = 0; i < done.size(); ++i) {
        if (!done[i]) continue;  // stopped before its end
        if (i >= reported) finished(i, *done[i]);
        results.push_back(std::move(*done[i]));
    }
    return results;
}

}  // namespace trn::scenario

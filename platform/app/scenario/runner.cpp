// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/app/scenario/backtrace.h"
#include "platform/app/scenario/child.h"
#include "platform/app/scenario/report.h"

namespace trn::scenario {

namespace {

using nlohmann::json;

/// How many scenarios may run at a time, over the runner and all groups: each takes a byte from a
/// pipe and puts it back.
class tokens {
public:
    explicit tokens(unsigned count) {
        if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("pipe");
        for (unsigned i = 0; i < count; ++i) give();
    }
    ~tokens() {
        for (const int end : ends_) close(end);
    }
    tokens(const tokens&) = delete;
    tokens& operator=(const tokens&) = delete;

    int readable_when_free() const { return ends_[0]; }
    bool take() {
        char one;
        return read(ends_[0], &one, 1) == 1;
    }
    void give() {
        // A pipe holds more bytes than there can be processes.
        if (write(ends_[1], "x", 1) != 1) throw_errno("scenario token");
    }

private:
    int ends_[2];
};

json to_json(const std::vector<enclosing>& inside) {
    json list = json::array();
    for (const auto& one : inside) list.push_back({one.name, one.line});
    return list;
}

std::vector<enclosing> enclosing_of(const json& message) {
    std::vector<enclosing> all;
    for (const auto& one : message) all.push_back({one[0], one[1]});
    return all;
}

json to_json(const std::vector<outcome::begun>& timeline) {
    json list = json::array();
    for (const auto& one : timeline)
        list.push_back({one.step, one.line, one.at_ns, to_json(one.inside)});
    return list;
}

json to_json(const outcome& how) {
    return {{"what", how.what},
            {"figures", how.figures},
            {"message", how.message},
            {"step", how.step},
            {"file", how.file},
            {"line", how.where.line},
            {"column", how.where.column},
            {"log", how.log},
            {"first_step_s", how.first_step_s},
            {"wall_s", how.wall_s},
            {"own_s", how.own_s},
            {"simulated_ns", how.simulated_ns},
            {"trace_digest", how.trace_digest},
            {"timeline", to_json(how.timeline)}};
}

std::vector<outcome::begun> timeline_of(const json& message) {
    std::vector<outcome::begun> all;
    for (const auto& one : message) all.push_back({one[0], one[1], one[2], enclosing_of(one[3])});
    return all;
}

outcome outcome_of(const json& message) {
    return {.what = message["what"],
            .message = message["message"],
            .step = message["step"],
            .where = {message["line"], message["column"], 1},
            .file = message["file"],
            .log = message["log"],
            .first_step_s = message["first_step_s"],
            .wall_s = message["wall_s"],
            .own_s = message["own_s"],
            .simulated_ns = message["simulated_ns"],
            .trace_digest = message["trace_digest"],
            .timeline = timeline_of(message["timeline"]),
            .figures = message["figures"]};
}

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
    void take(const json& message);

    std::vector<std::size_t> members_;  // without an outcome
    const scenario& limits_;
    std::unique_ptr<child> process_;
    tokens& free_;
    bool branched_ = false, has_result_ = false, continues_ = false;
    std::set<std::size_t> running_;  // members that have a token, once this has branched
    std::string backtrace_, damage_;
    outcome result_;
};

/// A damaged process may write anything: only its own scenario fails.
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
        // The second step begins where what can be shared ends, unless the process began there.
        if (message["begins"] && result_.timeline.size() == 1 && !continues_)
            result_.beginning_s = process_->seconds();
        if (message["begins"])
            result_.timeline.push_back({message["step"], message["line"], message["simulated_ns"],
                                        enclosing_of(message["inside"])});
        process_->follow(message["process"]);
    } else if (message.contains("figure")) {
        result_.figures.push_back(message["figure"]);
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
        auto result = outcome_of(message["outcome"]);
        result.beginning_s = result_.beginning_s;
        running_.erase(number);
        if (std::erase(members_, number) != 0) member_ended(number, result);
    } else {
        has_result_ = true;
        result_.simulated_ns = message["simulated_ns"];
        result_.trace_digest = message["trace_digest"];
        result_.message = message.value("failed", "");
        result_.what =
            message.contains("failed") ? outcome::verdict::failed : outcome::verdict::passed;
    }
}

bool job::poll_process(bool readable) {
    const auto receiver = [this](std::string_view line) { receive(line); };
    if (readable && !process_->read(receiver)) return false;
    process_->trim_log();
    if (branched_) return true;  // its members have limits of their own
    if (process_->seconds() >= limits_.wall_limit_s) {
        result_.what = outcome::verdict::timed_out;
        result_.message =
            fmt::format("still running after {} s of wall clock", limits_.wall_limit_s);
    } else if (process_->resident() > limits_.memory_limit) {
        result_.what = outcome::verdict::memory_exceeded;
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
        result_.what = outcome::verdict::crashed;
        result_.message =
            "the platform " + (end.empty() ? std::string("exited unexpectedly") : end);
    } else if (!damage_.empty()) {
        result_.what = outcome::verdict::crashed;
        result_.message = "invalid response of the platform: " + damage_;
    }
    for (auto held = branched_ ? running_.size() : 1; held > 0; --held) free_.give();
    for (const auto number : members_) report(number, result_);
}

/// Jobs to start, by number.
struct worklist {
    std::size_t count = 0;
    std::string log = {};  ///< the beginning of each process's log
    /// In the calling process, for a new one.
    std::function<std::unique_ptr<job>(std::size_t, std::unique_ptr<child>)> begun;
    /// The operating system has no process or descriptor left, and no job runs that may release
    /// one.
    std::function<void(std::size_t, const outcome&)> refused;
    std::function<void(std::size_t, const outcome&)> ended;  ///< of a scenario
    std::function<void()> on_progress = {};                  ///< about ten times a second
};

/// The jobs that one process supervises.
class supervisor {
public:
    explicit supervisor(tokens& free) : free_(free) {}

    struct started {
        std::size_t work;
        int pipe;  ///< to the supervising process
    };
    /// Starts jobs while tokens are free, until all have ended. Returns in each new process with
    /// its work; in the calling process with nothing, at the end.
    std::optional<started> run(const worklist& all);

private:
    std::optional<started> start(const worklist& all, std::size_t& next);
    void wait(const worklist& all, bool token_wanted);

    tokens& free_;
    std::vector<std::unique_ptr<job>> jobs_;
    bool refused_ = false;  // until a job has ended
};

std::optional<supervisor::started> supervisor::run(const worklist& all) {
    for (std::size_t next = 0; next < all.count || !jobs_.empty();) {
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
        outcome how;
        how.message = fmt::format("it cannot be started: {}", why.what());
        all.refused(next++, how);
        return std::nullopt;
    }
    for (auto& one : jobs_) one->process().forget();
    jobs_.clear();
    return started{next, pipe};
}

/// Waits until a job writes or ends, or, with `token_wanted`, a token may be free.
void supervisor::wait(const worklist& all, bool token_wanted) {
    constexpr int look_at_limits_ms = 100;
    std::vector<pollfd> pipes;
    for (const auto& one : jobs_) pipes.push_back({one->process().pipe(), POLLIN, 0});
    if (token_wanted) pipes.push_back({free_.readable_when_free(), POLLIN, 0});
    if (pipes.empty()) return;
    if (poll(pipes.data(), pipes.size(), jobs_.empty() ? -1 : look_at_limits_ms) < 0 &&
        errno != EINTR)
        throw_errno("poll");
    for (std::size_t i = jobs_.size(); i-- > 0;) {
        if (jobs_[i]->poll_process(pipes[i].revents != 0)) continue;
        jobs_[i]->finish(all.ended);
        jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
        refused_ = false;
    }
}

/// The group as its process sees it.
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
};

std::size_t branching::branch(const std::function<void()>& last) {
    if (members_.size() == 1) return members_.front();
    send_line(pipe_, {{"branched", true}});
    std::fflush(nullptr);
    const auto shared_log = read_log(STDOUT_FILENO);
    supervisor children(free_);
    const auto send_outcome = [this](std::size_t number, const outcome& how) {
        send_line(pipe_, {{"member", number}, {"outcome", to_json(how)}});
    };
    const auto begun = [this](std::size_t i, std::unique_ptr<child> process) {
        const auto number = members_[i];
        auto one =
            std::make_unique<job>(std::vector{number}, all_[number], std::move(process), free_);
        one->begin_with(report_.timeline());
        send_line(pipe_, {{"runs", number}});
        return one;
    };
    const auto mine = children.run(
        {.count = members_.size(),
         .log = shared_log,
         .begun = begun,
         .refused = [&](std::size_t i, const auto& how) { send_outcome(members_[i], how); },
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

/// The numbers of scenarios that share their first step, in the order of their first members.
std::vector<std::vector<std::size_t>> groups_of(std::span<const scenario> all, bool fork) {
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < all.size(); ++i) {
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
        scenarios.report().failed(wrong.what(), 0);
    }
    std::fflush(nullptr);
    _exit(0);
}

}  // namespace

void progress::at(const step& current, std::uint64_t simulated_ns) const {
    timeline_.push_back({current.text, current.where.line, simulated_ns, current.inside});
    send_step(current, simulated_ns, true);
}

void progress::again(const step& current, std::uint64_t simulated_ns) const {
    send_step(current, simulated_ns, false);
}

void progress::send_step(const step& current, std::uint64_t simulated_ns, bool begins) const {
    send_line(pipe_, {{"step", current.text},
                      {"begins", begins},
                      {"inside", to_json(current.inside)},
                      {"file", current.file},
                      {"line", current.where.line},
                      {"column", current.where.column},
                      {"process", getpid()},
                      {"simulated_ns", simulated_ns}});
}

void progress::measured(const figure& what) const {
    send_line(pipe_, {{"figure", what}});
}

void progress::passed(std::uint64_t simulated_ns, std::uint64_t trace_digest) const {
    send_line(pipe_, {{"simulated_ns", simulated_ns}, {"trace_digest", trace_digest}});
}

void progress::failed(const std::string& message, std::uint64_t simulated_ns,
                      std::uint64_t trace_digest) const {
    send_line(
        pipe_,
        {{"failed", message}, {"simulated_ns", simulated_ns}, {"trace_digest", trace_digest}});
}

std::vector<outcome> run_all(std::span<const scenario> all, const run_options& how,
                             const execution& run,
                             const std::function<void(std::size_t, const outcome&)>& finished) {
    tokens free(std::max(how.jobs, 1u));
    supervisor children(free);
    std::vector<std::optional<outcome>> done(all.size());
    const auto groups = groups_of(all, how.fork);
    std::size_t reported = 0;
    run_progress now{.of = all.size()};
    const auto ended = [&](std::size_t number, const outcome& result) {
        done[number] = result;
        ++now.ended;
        if (!result.passed()) ++now.failed;
        if (how.on_end) how.on_end(number, result);
        for (; reported < done.size() && done[reported]; ++reported)
            finished(reported, *done[reported]);
    };
    const auto begun = [&](std::size_t i, std::unique_ptr<child> process) {
        auto one =
            std::make_unique<job>(groups[i], all[groups[i].front()], std::move(process), free);
        one->member_ended = ended;
        return one;
    };
    const auto group_process = children.run({.count = groups.size(),
                                             .begun = begun,
                                             .refused =
                                                 [&](std::size_t i, const auto& result) {
                                                     for (const auto number : groups[i])
                                                         ended(number, result);
                                                 },
                                             .ended = ended,
                                             .on_progress =
                                                 [&] {
                                                     if (how.on_progress) how.on_progress(now);
                                                 }});
    if (group_process) {
        branching scenarios(all, groups[group_process->work], free, group_process->pipe);
        run_child(scenarios, run);
    }
    std::vector<outcome> results;
    results.reserve(done.size());
    for (auto& one : done) results.push_back(std::move(*one));
    return results;
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "platform/scenario/backtrace.h"
#include "platform/scenario/child.h"
#include "platform/scenario/report.h"

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

std::vector<enclosing> enclosing_of(const json& told) {
    std::vector<enclosing> all;
    for (const auto& one : told) all.push_back({one[0], one[1]});
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
            {"simulated_ns", how.simulated_ns},
            {"trace_digest", how.trace_digest},
            {"timeline", to_json(how.timeline)}};
}

std::vector<outcome::begun> timeline_of(const json& told) {
    std::vector<outcome::begun> all;
    for (const auto& one : told) all.push_back({one[0], one[1], one[2], enclosing_of(one[3])});
    return all;
}

outcome outcome_of(const json& told) {
    return {.what = told["what"],
            .message = told["message"],
            .step = told["step"],
            .where = {told["line"], told["column"], 1},
            .file = told["file"],
            .log = told["log"],
            .first_step_s = told["first_step_s"],
            .wall_s = told["wall_s"],
            .simulated_ns = told["simulated_ns"],
            .trace_digest = told["trace_digest"],
            .timeline = timeline_of(told["timeline"]),
            .figures = told["figures"]};
}

/// One process at work, which has a token: on one scenario, or on what several share. The latter
/// then gives its token back, and tells how its members end.
class job {
public:
    job(std::vector<std::size_t> members, const scenario& limits, std::unique_ptr<child> process,
        tokens& free)
        : members_(std::move(members)),
          limits_(limits),
          process_(std::move(process)),
          free_(free) {}

    child& process() { return *process_; }
    /// What its process did before it went on as this job.
    void begin_with(std::vector<outcome::begun> steps) { result_.timeline = std::move(steps); }
    /// Takes what it says and looks at its limits; false when it has ended.
    bool attend(bool readable);
    /// How each member ended that has not been told before.
    void finish(const std::function<void(std::size_t, const outcome&)>& told);
    /// Is told of a member as soon as that has ended.
    std::function<void(std::size_t, const outcome&)> member_ended;

private:
    void take(const json& message);

    std::vector<std::size_t> members_;  // not yet told
    const scenario& limits_;
    std::unique_ptr<child> process_;
    tokens& free_;
    bool branched_ = false, said_how_ = false;
    std::string backtrace_;
    outcome result_;
};

void job::take(const json& message) {
    if (message.contains("step")) {
        if (result_.step.empty()) result_.first_step_s = process_->seconds();
        result_.step = message["step"];
        result_.where = {message["line"], message["column"], 1};
        result_.file = message["file"];
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
        free_.give();
    } else if (message.contains("member")) {
        const std::size_t number = message["member"];
        std::erase(members_, number);
        member_ended(number, outcome_of(message["outcome"]));
    } else {
        said_how_ = true;
        result_.simulated_ns = message["simulated_ns"];
        result_.trace_digest = message["trace_digest"];
        result_.message = message.value("failed", "");
        result_.what =
            message.contains("failed") ? outcome::verdict::failed : outcome::verdict::passed;
    }
}

bool job::attend(bool readable) {
    if (readable && !process_->read([this](const json& message) { take(message); })) return false;
    if (branched_) return true;  // its members have limits of their own
    if (process_->seconds() >= limits_.wall_limit_s) {
        result_.what = outcome::verdict::timed_out;
        result_.message =
            fmt::format("still running after {} s of wall clock", limits_.wall_limit_s);
    } else if (process_->resident() > limits_.memory_limit) {
        result_.what = outcome::verdict::outgrew_it;
        result_.message = fmt::format("more than {} MiB of memory", limits_.memory_limit >> 20);
    } else {
        return true;
    }
    process_->kill([this](const json& message) { take(message); });
    said_how_ = true;
    return false;
}

void job::finish(const std::function<void(std::size_t, const outcome&)>& told) {
    result_.wall_s = process_->seconds();
    const auto end = process_->wait();
    result_.log = process_->log() + backtrace_;
    if (!said_how_ || (!end.empty() && !process_->killed())) {
        result_.what = outcome::verdict::crashed;
        result_.message = "the platform " + (end.empty() ? std::string("ended by itself") : end);
    }
    if (!branched_) free_.give();
    for (const auto number : members_) told(number, result_);
}

/// The jobs that one process looks after.
class supervisor {
public:
    explicit supervisor(tokens& free) : free_(free) {}

    bool idle() const { return jobs_.empty(); }
    void add(std::unique_ptr<job> one) { jobs_.push_back(std::move(one)); }
    /// Waits until a job says something or is over, or, if `wanted`, a token may be free.
    void wait(bool token_wanted, const std::function<void(std::size_t, const outcome&)>& told);
    /// In a process made by fork(): they are the other's.
    void forget() {
        for (auto& one : jobs_) one->process().forget();
        jobs_.clear();
    }

private:
    tokens& free_;
    std::vector<std::unique_ptr<job>> jobs_;
};

void supervisor::wait(bool token_wanted,
                      const std::function<void(std::size_t, const outcome&)>& told) {
    constexpr int look_at_limits_ms = 100;
    std::vector<pollfd> all;
    for (const auto& one : jobs_) all.push_back({one->process().pipe(), POLLIN, 0});
    if (token_wanted) all.push_back({free_.readable_when_free(), POLLIN, 0});
    if (poll(all.data(), all.size(), jobs_.empty() ? -1 : look_at_limits_ms) < 0 && errno != EINTR)
        throw_errno("poll");
    for (std::size_t i = jobs_.size(); i-- > 0;) {
        if (jobs_[i]->attend(all[i].revents != 0)) continue;
        jobs_[i]->finish(told);
        jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

/// What a group's process is to its execution.
class branching final : public group {
public:
    branching(std::span<const scenario> all, std::vector<std::size_t> members, tokens& free,
              int pipe)
        : all_(all), members_(std::move(members)), free_(free), pipe_(pipe), tell_(pipe) {}

    std::span<const std::size_t> members() const override { return members_; }
    std::size_t branch(const std::function<void()>& last) override;
    const progress& tell() const override { return tell_; }

private:
    std::span<const scenario> all_;
    std::vector<std::size_t> members_;
    tokens& free_;
    int pipe_;
    progress tell_;
};

std::size_t branching::branch(const std::function<void()>& last) {
    if (members_.size() == 1) return members_.front();
    send_line(pipe_, {{"branched", true}});
    std::fflush(nullptr);
    const auto shared_log = read_log(STDOUT_FILENO);
    supervisor children(free_);
    const auto told = [this](std::size_t number, const outcome& how) {
        send_line(pipe_, {{"member", number}, {"outcome", to_json(how)}});
    };
    for (std::size_t next = 0; next < members_.size() || !children.idle();) {
        while (next < members_.size() && free_.take()) {
            const auto number = members_[next++];
            int pipe = -1;
            auto process = child::make(shared_log, pipe);
            if (!process) {
                children.forget();
                close(pipe_);
                tell_ = progress(pipe_ = pipe);
                members_ = {number};
                return number;
            }
            auto one =
                std::make_unique<job>(std::vector{number}, all_[number], std::move(process), free_);
            one->begin_with(tell_.timeline());
            children.add(std::move(one));
        }
        children.wait(next < members_.size(), told);
    }
    if (last) last();
    _exit(0);
}

/// The numbers of those that begin alike, by who is first in the list.
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

[[noreturn]] void become(branching& alike, const execution& run) {
    try {
        run(alike);
    } catch (const std::exception& wrong) {
        alike.tell().failed(wrong.what(), 0);
    }
    std::fflush(nullptr);
    _exit(0);
}

}  // namespace

void progress::at(const step& current, std::uint64_t simulated_ns) const {
    timeline_.push_back({current.text, current.where.line, simulated_ns, current.inside});
    tell(current, simulated_ns, true);
}

void progress::again(const step& current, std::uint64_t simulated_ns) const {
    tell(current, simulated_ns, false);
}

void progress::tell(const step& current, std::uint64_t simulated_ns, bool begins) const {
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
    std::size_t told = 0;
    standing now{.of = all.size()};
    const auto ended = [&](std::size_t number, const outcome& result) {
        done[number] = result;
        ++now.ended;
        if (!result.passed()) ++now.failed;
        for (; told < done.size() && done[told]; ++told) finished(told, *done[told]);
    };
    for (std::size_t next = 0; next < groups.size() || !children.idle();) {
        while (next < groups.size() && free.take()) {
            const auto& members = groups[next++];
            int pipe = -1;
            auto process = child::make({}, pipe);
            if (!process) {
                children.forget();
                branching alike(all, members, free, pipe);
                become(alike, run);
            }
            auto one =
                std::make_unique<job>(members, all[members.front()], std::move(process), free);
            one->member_ended = ended;
            children.add(std::move(one));
        }
        children.wait(next < groups.size(), ended);
        if (how.look) how.look(now);
    }
    std::vector<outcome> results;
    results.reserve(done.size());
    for (auto& one : done) results.push_back(std::move(*one));
    return results;
}

}  // namespace trn::scenario

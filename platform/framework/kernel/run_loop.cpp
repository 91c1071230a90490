// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/run_loop.h"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cassert>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"

namespace trn {

using sc_core::sc_time;
using sc_core::sc_time_stamp;
using sc_core::SC_ZERO_TIME;
using namespace std::chrono_literals;

namespace {

// Wall time per slice: short while a client is attached and expects fast responses.
constexpr auto attached_slice = 100us;
constexpr auto detached_slice = 2ms;
// After a handler, the loop spins this long for the next access; sleeping would cost the host more.
constexpr auto spin_limit = 50us;
// Limit of handlers between slices: a client with many requests cannot stop simulated time.
constexpr int handlers_per_boundary = 64;
// Processor time for which the handler of a host's write may simulate the work that the write
// started. Work that takes longer is simulated in slices, between which other clients are served.
constexpr auto write_budget = 50us;
// Limit of holding the reply of a host's write: QEMU gives up after 5 s.
constexpr auto longest_hold = 1s;
// Functions, as all constant times: a static sc_time would fix the kernel's resolution before
// sc_main can set it.
sc_time shortest_slice() {
    return {100, sc_core::SC_NS};
}
sc_time longest_slice() {
    return {100, sc_core::SC_US};
}

double seconds(run_loop::wall_clock::duration d) {
    return std::chrono::duration<double>(d).count();
}

std::chrono::nanoseconds thread_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

sc_time next_multiple(const sc_time& period, const sc_time& after) {
    return sc_time::from_value((after.value() / period.value() + 1) * period.value());
}

}  // namespace

std::string_view to_string(stop_reason::kind kind) {
    constexpr std::array<std::string_view, 7> names{
        "condition", "time_limit", "wall_limit", "paused", "stalled", "restored", "quit"};
    return names.at(static_cast<std::size_t>(kind));
}

struct run_loop::sockets {
    boost::asio::io_context io{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay{
        io.get_executor()};
};

run_loop::run_loop(config cfg)
    : cfg_(std::move(cfg)),
      driver_(make_time_driver(cfg_.policy, cfg_.host_access_cost, cfg_.shortest_gap)),
      sockets_(std::make_unique<sockets>()) {
    assert(cfg_.sample_period > SC_ZERO_TIME);
}

run_loop::~run_loop() = default;

boost::asio::io_context& run_loop::io() {
    return sockets_->io;
}

// --- Run control

void run_loop::pause(std::string why, pause_cause cause) {
    if (paused_) return;
    paused_ = true;
    pause_text_ = std::move(why);
    pause_cause_ = cause;
    if (simulating_) {
        sc_core::sc_pause();
    } else {
        for (const auto& observer : observers_) observer(true, pause_text_);
    }
}

void run_loop::resume() {
    if (!paused_) return;
    paused_ = false;
    pause_text_.clear();
    driver_->restart();
    for (const auto& observer : observers_) observer(false, {});
}

void run_loop::quit(std::string why) {
    if (quitting_) return;
    quitting_ = true;
    quit_text_ = std::move(why);
    if (simulating_) sc_core::sc_pause();
}

void run_loop::on_pause_change(std::function<void(bool, const std::string&)> observer) {
    observers_.push_back(std::move(observer));
}

// --- Goals

run_loop::goal_id run_loop::wait_for(goal awaited, std::function<void(const stop_reason&)> done) {
    std::optional<wall_clock::time_point> deadline;
    if (awaited.wall_limit) deadline = wall_clock::now() + *awaited.wall_limit;
    goals_.push_back({++last_goal_, std::move(awaited), deadline, std::move(done), true});
    return last_goal_;
}

void run_loop::cancel(goal_id id) {
    std::erase_if(goals_, [id](const auto& g) { return g.id == id; });
}

void run_loop::finish(goal_id id, const stop_reason& why) {
    const auto found = std::ranges::find(goals_, id, &pending_goal::id);
    if (found == goals_.end()) return;
    const auto done = std::move(found->done);
    goals_.erase(found);
    done(why);
}

std::optional<stop_reason> run_loop::ended(const pending_goal& g, bool sample, bool stalled) const {
    using kind = stop_reason::kind;
    if (quitting_) return stop_reason{kind::quit, quit_text_};
    if (sample && g.awaited.condition && g.awaited.condition())
        return stop_reason{kind::condition, g.awaited.condition_text};
    if (g.awaited.until && sc_time_stamp() >= *g.awaited.until)
        return stop_reason{kind::time_limit, to_text(sc_time_stamp())};
    if (g.deadline && wall_clock::now() >= *g.deadline)
        return stop_reason{kind::wall_limit,
                           fmt::format("{:.3f} s of wall clock", seconds(*g.awaited.wall_limit))};
    if (paused_ && g.awaited.ends_on_pause) return stop_reason{kind::paused, pause_text_};
    if (stalled && !g.awaited.background && !g.awaited.outlives_stall)
        return stop_reason{kind::stalled, stall_report()};
    return std::nullopt;
}

bool run_loop::settle_goals() {
    if (goals_.empty()) return false;
    const bool nothing_left = stalled();
    // Conditions are evaluated at points that depend only on simulated time, never on the host's
    // speed: at multiples of the sample period, immediately for a new goal, and while time stands
    // still. Background goals, for which no client waits, are always evaluated.
    const bool sample = sc_time_stamp().value() % cfg_.sample_period.value() == 0 || paused_ ||
                        !sc_core::sc_pending_activity();
    std::vector<std::pair<std::function<void(const stop_reason&)>, stop_reason>> done;
    for (auto g = goals_.begin(); g != goals_.end();) {
        const bool looks = std::exchange(g->fresh, false) || sample || g->awaited.background;
        if (auto reason = ended(*g, looks, nothing_left)) {
            done.emplace_back(std::move(g->done), std::move(*reason));
            g = goals_.erase(g);
        } else {
            ++g;
        }
    }
    for (auto& [call, reason] : done) call(reason);  // callbacks may add and cancel goals
    return !done.empty();
}

// Whether no progress is possible: simulated time has ended; or no event is pending or the platform
// is paused, and every client that could change that is itself waiting.
bool run_loop::stalled() const {
    if (!paused_) {
        if (sc_time_stamp() >= end_of_time()) return true;
        if (sc_core::sc_pending_activity()) return false;
        if (std::ranges::any_of(goals_, [](const auto& g) { return g.awaited.until.has_value(); }))
            return false;
    }
    return std::ranges::all_of(attachments_, [this](const auto& a) {
        return std::ranges::any_of(goals_,
                                   [&a](const auto& g) { return g.awaited.attachment == a.id; });
    });
}

std::string run_loop::stall_report() const {
    const std::string why = paused_                            ? "paused (" + pause_text_ + ")"
                            : sc_time_stamp() >= end_of_time() ? "simulated time ends"
                                                               : "no event is pending";
    std::string report = fmt::format("at {}: {}", to_text(sc_time_stamp()), why);
    for (const auto& g : goals_)
        report += fmt::format("\n  {} waits for {}", g.awaited.waiter, g.awaited.condition_text);
    for_each_module<describes_wait>([&](const auto& object, auto& module) {
        if (const auto text = module.describe_wait())
            report += fmt::format("\n  {} waits for {}", object.name(), *text);
    });
    return report;
}

// --- Driving

void run_loop::elaborate() {
    if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(SC_ZERO_TIME);
    driver_->restart();
}

stop_reason run_loop::run(goal awaited) {
    elaborate();
    std::optional<stop_reason> result;
    wait_for(std::move(awaited), [&result](const stop_reason& reason) { result = reason; });
    while (!result) iterate();
    return *result;
}

void run_loop::serve() {
    elaborate();
    while (!quitting_) iterate();
    settle_goals();
}

bool run_loop::step() {
    assert(!simulating_);
    if (!sc_core::sc_pending_activity() || sc_time_stamp() >= end_of_time()) return false;
    const auto wait = sc_core::sc_time_to_pending_activity();
    // sc_start(t) does not run the processes due at its end time; sc_start(0) runs one delta cycle.
    if (wait > SC_ZERO_TIME) simulate(sc_time_stamp() + wait);
    for (int deltas = 0; deltas < 1000 && delta(); ++deltas) {
    }
    return true;
}

bool run_loop::delta() {
    if (!sc_core::sc_pending_activity_at_current_time()) return false;
    simulate(sc_time_stamp());
    return true;
}

void run_loop::iterate() {
    do_due_work();
    serve_sockets();
    answer_hosts();
    if (rests_next()) return std::exchange(at_rest_, nullptr)();
    if (settle_goals() || quitting_) return;
    if (paused_) return block({});
    const auto reason = next();
    if (reason.boundary) {
        simulate(*reason.boundary);
    } else {
        block(reason.wake);
    }
}

void run_loop::serve_sockets() {
    if (rests_next()) return;
    const auto now = wall_clock::now();
    if (now - last_poll_ < (attachments_.empty() ? wall_clock::duration{1ms} : attached_slice / 2))
        return;
    last_poll_ = now;
    int handled = 0;
    while (handled < handlers_per_boundary && !rests_next() && io().poll_one() != 0) ++handled;
    if (handled == 0) return;
    counted_.handlers += static_cast<std::uint64_t>(handled);
    last_handler_ = wall_clock::now();
}

bool run_loop::spin() const {
    return !attachments_.empty() && wall_clock::now() - last_handler_ < spin_limit;
}

void run_loop::block(std::optional<wall_clock::time_point> wake) {
    if (spin()) {
        sched_yield();  // the client may need this processor core
        last_poll_ = {};
        return serve_sockets();
    }
    for (const auto& g : goals_)
        if (g.deadline) wake = wake ? std::min(*wake, *g.deadline) : *g.deadline;
    for (const auto& h : held_) wake = wake ? std::min(*wake, h.deadline) : h.deadline;
    ++counted_.blocked;
    const auto start = wall_clock::now();
    const auto handled = wake ? io().run_one_until(*wake) : io().run_one();
    const auto end = wall_clock::now();
    counted_.asleep += end - start;
    if (handled == 0) return;
    counted_.handlers += handled;
    last_handler_ = end;
    last_poll_ = {};
}

// --- How far to simulate

sc_time run_loop::slice_end() const {
    auto end = later(sc_time_stamp(), slice_);
    for (const auto& g : goals_) {
        if (g.awaited.condition)
            end = std::min(end, next_multiple(cfg_.sample_period, sc_time_stamp()));
        if (g.awaited.until) end = std::min(end, *g.awaited.until);
    }
    return end;
}

// The next sample point that a jump to an event must not skip. Nothing changes between events, so
// one evaluation after each event is enough, even with the short slices of a slow host.
sc_time run_loop::next_sample() const {
    const bool looked = sc_time_stamp().value() % cfg_.sample_period.value() == 0;
    const bool wanted =
        std::ranges::any_of(goals_, [](const auto& g) { return g.awaited.condition != nullptr; });
    return wanted && !looked ? next_multiple(cfg_.sample_period, sc_time_stamp())
                             : sc_core::sc_max_time();
}

/// Whether all waiting clients are hosts, and some host does not wait: a jump in time would take
/// processing time from that host.
bool run_loop::another_host_acts() const {
    if (attachments_.empty()) return false;
    const auto host_of = [this](const pending_goal& g) -> const std::string* {
        const auto found = std::ranges::find(attachments_, g.awaited.attachment, &attachment::id);
        return found == attachments_.end() || found->host.empty() ? nullptr : &found->host;
    };
    std::vector<const std::string*> waiting;
    for (const auto& g : goals_) {
        if (g.awaited.background) continue;
        waiting.push_back(host_of(g));
        if (waiting.back() == nullptr) return false;
    }
    return std::ranges::any_of(attachments_, [&](const attachment& a) {
        return !a.host.empty() &&
               std::ranges::none_of(waiting, [&](const auto* host) { return *host == a.host; });
    });
}

time_driver::plan run_loop::next() const {
    const bool pending = sc_core::sc_pending_activity();
    if (sc_time_stamp() >= end_of_time()) return {};
    auto limit = end_of_time();
    bool has_limit = false;
    for (const auto& g : goals_) {
        if (!g.awaited.until) continue;
        limit = std::min(limit, *g.awaited.until);
        has_limit = true;
    }
    const bool has_waiter =
        std::ranges::any_of(goals_, [](const auto& g) { return !g.awaited.background; });
    if (!pending && !(has_waiter && has_limit)) return {};
    return driver_->next(
        {.event = pending ? sc_time_stamp() + sc_core::sc_time_to_pending_activity() : limit,
         .limit = limit,
         .sample = next_sample(),
         .slice_end = slice_end(),
         .has_waiter = has_waiter,
         .another_host_acts = has_waiter && another_host_acts()});
}

void run_loop::simulate(const sc_time& until) {
    const auto present = sc_time_stamp(), boundary = std::min(until, end_of_time());
    if (boundary <= present && !sc_core::sc_pending_activity_at_current_time()) return;
    const auto deltas = sc_core::sc_delta_count();
    const auto start = wall_clock::now();
    simulating_ = true;
    const bool was_paused = paused_;
    try {
        advance(boundary);
    } catch (...) {
        simulating_ = false;
        throw;
    }
    simulating_ = false;
    if (sc_core::sc_get_status() == sc_core::SC_STOPPED)
        quit("a model, or the action of a report, has called sc_stop()");
    ++counted_.slices;
    if (sc_core::sc_delta_count() != deltas) adapt(boundary - present, wall_clock::now() - start);
    driver_->moved();
    if (paused_ && !was_paused)
        for (const auto& observer : observers_) observer(true, pause_text_);
}

/// The end of a time step can be seen between two calls of sc_start only (IEEE 1666-2011 has no
/// callback for it): with an observer, simulates one delta cycle and one time step after the other.
void run_loop::advance(const sc_time& boundary) {
    const auto left = [&] { return boundary - sc_time_stamp(); };
    if (!time_step_ended_ || left() == SC_ZERO_TIME) return sc_core::sc_start(left());
    const bool was_paused = paused_;
    const std::size_t due = due_.size();
    const auto stopped = [&] {
        return quitting_ || (paused_ && !was_paused) || due_.size() > due ||
               sc_core::sc_get_status() == sc_core::SC_STOPPED;
    };
    while (left() > SC_ZERO_TIME) {
        while (!stopped() && sc_core::sc_pending_activity_at_current_time())
            sc_core::sc_start(SC_ZERO_TIME);
        if (stopped()) return;
        time_step_ended_();
        // Processes that are due at the end of a call run in the next one.
        sc_core::sc_start(sc_core::sc_pending_activity()
                              ? std::min(left(), sc_core::sc_time_to_pending_activity())
                              : left());
    }
}

/// Like simulate(), also if between_slices() ends slices early.
void run_loop::simulate_all(const sc_time& until) {
    const auto end = std::min(until, end_of_time());
    do {
        simulate(end);
    } while (sc_time_stamp() < end && !paused_ && !quitting_);
}

void run_loop::between_slices(std::function<void()> work) {
    due_.push_back(std::move(work));
    if (simulating_) sc_core::sc_pause();
}

void run_loop::do_due_work() {
    if (due_.empty()) return;
    for (const auto& work : std::exchange(due_, {})) work();
    last_handler_ = wall_clock::now();
}

void run_loop::adapt(const sc_time& span, wall_clock::duration took) {
    const auto target =
        attachments_.empty() ? wall_clock::duration{detached_slice} : attached_slice;
    if (took > target) {
        slice_ = std::max(slice_ / 2, shortest_slice());
    } else if (took < target / 4 && span >= slice_) {
        slice_ = std::min(slice_ * 2, longest_slice());
    }
}

// --- Attached hosts

std::uint64_t run_loop::attach(std::string client, std::string host) {
    attachments_.push_back({++last_attachment_, std::move(client), std::move(host)});
    return last_attachment_;
}

void run_loop::detach(std::uint64_t id) {
    std::erase_if(attachments_, [id](const auto& a) { return a.id == id; });
}

void run_loop::host_access() {
    if (simulating_ || paused_) return;
    const auto now = sc_time_stamp();
    const auto event = sc_core::sc_pending_activity() ? now + sc_core::sc_time_to_pending_activity()
                                                      : sc_core::sc_max_time();
    if (const auto target = driver_->access_time(event); target > now) simulate_all(target);
}

bool run_loop::host_wrote(const started_work& work, std::function<void()> answer) {
    if (simulating_ || paused_ || !driver_->holds_answers()) return true;
    const auto until =
        later(sc_time_stamp(), sc_time(static_cast<double>(max_held.count()), sc_core::SC_US));
    if (driver_->simulates_writes()) simulate_work(work, until);
    if (work.finished() || paused_ || sc_time_stamp() >= until || !event_is_near()) return true;
    held_.push_back({work, until, wall_clock::now() + longest_hold, std::move(answer)});
    return false;
}

/// Simulates short work immediately, so that the host's reply does not wait for a whole slice.
void run_loop::simulate_work(const started_work& work, const sc_time& until) {
    const auto end = thread_time() + write_budget;
    while (!work.finished() && !paused_ && event_is_near() && sc_time_stamp() < until &&
           thread_time() < end) {
        const auto event = sc_time_stamp() + sc_core::sc_time_to_pending_activity();
        simulate(std::max(event, later(sc_time_stamp(), shortest_slice())));
    }
}

/// Whether the next event is near. Work that waits for a distant event may be waiting for the host
/// itself.
bool run_loop::event_is_near() const {
    return sc_core::sc_pending_activity() &&
           sc_core::sc_time_to_pending_activity() < cfg_.shortest_gap;
}

/// Sends held replies that are due; all of them when the platform pauses, is replaced or ends.
void run_loop::answer_hosts() {
    if (held_.empty()) return;
    const bool all = paused_ || quitting_ || rests_next() || !event_is_near();
    const auto now = wall_clock::now();
    std::vector<std::function<void()>> answers;
    std::erase_if(held_, [&](held_answer& h) {
        const bool due =
            all || h.work.finished() || sc_time_stamp() >= h.until || now >= h.deadline;
        if (due) answers.push_back(std::move(h.answer));
        return due;
    });
    for (const auto& answer : answers) answer();
    last_handler_ = answers.empty() ? last_handler_ : now;
}

void run_loop::host_access_took(const sc_time& delay) {
    if (simulating_ || paused_) return;
    if (const auto rest = driver_->access_rest(delay); rest > SC_ZERO_TIME)
        simulate_all(later(sc_time_stamp(), rest));
}

}  // namespace trn

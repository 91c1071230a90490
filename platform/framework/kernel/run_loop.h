// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "platform/framework/kernel/started_work.h"
#include "platform/framework/kernel/time_driver.h"
#include "platform/framework/kernel/time_policy.h"

namespace boost::asio {
class io_context;
}

namespace trn {

/// The reason why a run ended or paused.
struct stop_reason {
    enum class kind {
        condition,   ///< the goal's condition is met
        time_limit,  ///< the goal's simulated time is reached
        wall_limit,  ///< the wall-clock limit is reached
        paused,      ///< paused by a client or a breakpoint
        stalled,     ///< no progress is possible; `text` is the stall report
        restored,    ///< a restored snapshot replaces this process
        quit,        ///< the platform is being ended
    };
    kind cause = kind::condition;
    std::string text;
};
std::string_view to_string(stop_reason::kind kind);

/// Runs simulated time and sockets on one thread (doc/time.md): simulates a slice, runs ready
/// handlers of the io_context, and repeats; blocks in the io_context while simulated time has
/// nothing to do. Handlers run between slices, at a defined simulated time, and may call models
/// directly. The boundaries of slices do not influence results.
class run_loop {
public:
    using wall_clock = std::chrono::steady_clock;

    struct config {
        time_policy policy;
        /// Minimum simulated time per access of an attached host; lockstep only.
        sc_core::sc_time host_access_cost{1, sc_core::SC_US};
        /// Conditions are evaluated at multiples of this time, so that the end of a run does not
        /// depend on the host's speed.
        sc_core::sc_time sample_period{10, sc_core::SC_US};
        /// A wait for an event nearer than this counts as work, not as an empty gap; free and
        /// realtime.
        sc_core::sc_time shortest_gap{20, sc_core::SC_US};
    };

    explicit run_loop(config cfg);
    ~run_loop();
    run_loop(const run_loop&) = delete;
    run_loop& operator=(const run_loop&) = delete;

    boost::asio::io_context& io();
    const config& settings() const { return cfg_; }

    // --- Run control: call from handlers, or between two calls of run().

    enum class pause_cause {
        debugger_request,  ///< of GDB, which needs no explanation
        other,
    };
    /// Stops simulated time; from inside a process, at the end of the delta cycle.
    void pause(std::string why, pause_cause cause = pause_cause::other);
    void resume();
    bool paused() const { return paused_; }
    const std::string& pause_text() const { return pause_text_; }
    /// Of the last pause.
    pause_cause cause_of_pause() const { return pause_cause_; }
    /// Ends serve() and run(); every goal ends with kind::quit.
    void quit(std::string why);
    bool quitting() const { return quitting_; }
    /// Called after each pause (paused = true) and resume (paused = false).
    void on_pause_change(std::function<void(bool paused, const std::string& why)> observer);

    /// Calls `work` between slices, as soon as no handler is running and before the next one runs:
    /// the point at which this process can be replaced by another.
    void at_rest(std::function<void()> work) { at_rest_ = std::move(work); }
    /// Whether a call of at_rest() is pending: a handler with several pieces of work must stop
    /// after the current one.
    bool rests_next() const { return at_rest_ != nullptr; }

    // --- Waiting: while a goal exists, simulated time advances and skips gaps.

    struct goal {
        std::string waiter;          ///< who waits, for the stall report: "control client 3"
        std::string condition_text;  ///< what it waits for: "chip ready"
        std::optional<sc_core::sc_time> until = {};  ///< ends at this absolute simulated time
        /// ends when true; evaluated every config::sample_period
        std::function<bool()> condition = {};
        std::optional<wall_clock::duration> wall_limit = {};
        bool ends_on_pause = false;    ///< ends at a pause, with kind::paused
        std::uint64_t attachment = 0;  ///< attachment of the waiting client; 0: none
        bool background = false;       ///< does not advance simulated time
        /// A stall does not end it: another client may help, by resuming a paused platform.
        bool outlives_stall = false;
    };
    using goal_id = std::uint64_t;
    /// `done` is called once, between slices; never inside this call.
    goal_id wait_for(goal awaited, std::function<void(const stop_reason&)> done);
    void cancel(goal_id id);
    /// Ends a goal now, and calls its `done`.
    void finish(goal_id id, const stop_reason& why);

    // --- Running

    /// Elaborates the modules, and runs the initialization phase with one delta cycle: processes
    /// start, hosts find their devices, but no hart has executed an instruction. run() and serve()
    /// do so as well.
    void elaborate();
    /// Runs until the goal ends.
    stop_reason run(goal awaited);
    /// Runs until quit().
    void serve();
    /// Runs to the time of the next event, under any policy and also while paused. Returns false
    /// when no event is pending.
    bool step();
    /// Runs one delta cycle at the current time; returns false when none is pending.
    bool delta();
    /// Calls `ended` when no process is left to run at a simulated time, before time advances.
    void on_time_step(std::function<void()> ended) { time_step_ended_ = std::move(ended); }

    // --- Attached hosts

    /// Registers a client that may access the platform at any time: slices are short while there is
    /// one. `host` names the driver's machine, which has one attachment per device.
    std::uint64_t attach(std::string client, std::string host = {});
    void detach(std::uint64_t attachment);
    std::size_t attached() const { return attachments_.size(); }
    /// Call first in the handler of each register access of a host. Lockstep: adds the cost of the
    /// access. Otherwise: advances simulated time to wall time inside a paced gap.
    void host_access();
    /// Call before the reply to a host's write, with the work that the write started. Returns true:
    /// reply now. Returns false: `answer` is called between slices when the work has finished, so
    /// that the host sees short copies finished, independent of the load of this machine; the
    /// host's own timeouts are short (contract 11.1: 4 ms). For long work, `answer` is called
    /// after max_held of simulated time or a second of wall time.
    bool host_wrote(const started_work& work, std::function<void()> answer);
    static constexpr auto max_held = std::chrono::microseconds(200);
    /// Calls `work` between slices, before simulated time advances further: a host is to get the
    /// reply to an access that has waited. Inside a process, the slice ends with the delta cycle.
    void between_slices(std::function<void()> work);
    /// Call after the access, with its annotated delay: under lockstep, an access takes at least
    /// its delay.
    void host_access_took(const sc_core::sc_time& delay);

    /// One line per goal and waiting module, with what it waits for.
    std::string stall_report() const;

    struct counters {
        std::uint64_t slices = 0;
        std::uint64_t handlers = 0;
        std::uint64_t blocked = 0;      ///< number of times the loop blocked
        wall_clock::duration asleep{};  ///< wall time spent blocked
    };
    const counters& counted() const { return counted_; }

private:
    struct pending_goal {
        goal_id id;
        goal awaited;
        std::optional<wall_clock::time_point> deadline;
        std::function<void(const stop_reason&)> done;
        bool fresh;  ///< its condition has not been evaluated yet
    };
    /// The held reply to a host's write.
    struct held_answer {
        started_work work;
        sc_core::sc_time until;
        wall_clock::time_point deadline;
        std::function<void()> answer;
    };

    void iterate();
    void serve_sockets();
    void simulate_work(const started_work& work, const sc_core::sc_time& until);
    bool event_is_near() const;
    void answer_hosts();
    bool settle_goals();
    std::optional<stop_reason> ended(const pending_goal& g, bool sample, bool stalled) const;
    bool stalled() const;
    time_driver::plan next() const;
    bool another_host_acts() const;
    sc_core::sc_time slice_end() const;
    sc_core::sc_time next_sample() const;
    void simulate(const sc_core::sc_time& boundary);
    void advance(const sc_core::sc_time& boundary);
    void simulate_all(const sc_core::sc_time& until);
    void do_due_work();
    void adapt(const sc_core::sc_time& span, wall_clock::duration took);
    void block(std::optional<wall_clock::time_point> wake);
    bool spin() const;

    const config cfg_;
    const std::unique_ptr<time_driver> driver_;
    struct sockets;  // keeps Asio out of this header
    const std::unique_ptr<sockets> sockets_;

    std::list<pending_goal> goals_;
    goal_id last_goal_ = 0;
    struct attachment {
        std::uint64_t id;
        std::string client, host;
    };
    std::vector<attachment> attachments_;
    std::uint64_t last_attachment_ = 0;
    std::vector<std::function<void(bool, const std::string&)>> observers_;

    bool paused_ = false;
    std::string pause_text_;
    pause_cause pause_cause_ = pause_cause::other;
    bool quitting_ = false;
    std::string quit_text_;
    bool simulating_ = false;
    std::function<void()> at_rest_, time_step_ended_;
    std::list<held_answer> held_;
    std::vector<std::function<void()>> due_;  // of between_slices()

    sc_core::sc_time slice_{10, sc_core::SC_US};
    wall_clock::time_point last_poll_{};
    wall_clock::time_point last_handler_{};
    counters counted_;
};

}  // namespace trn

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

/// Why a run ended or paused.
struct stop_reason {
    enum class kind {
        condition,   ///< what was waited for is there
        time_limit,  ///< the simulated time was reached
        wall_limit,  ///< the wall-clock limit was reached
        paused,      ///< paused by a person or a breakpoint
        stalled,     ///< nothing can make progress; `text` is the stall report
        restored,    ///< another state of the platform takes its place
        quit,        ///< the platform ends
    };
    kind what = kind::condition;
    std::string text;
};
std::string_view to_string(stop_reason::kind kind);

/// Simulated time and sockets on one thread (doc/time.md). It simulates a slice, serves what is
/// ready on the io_context, and repeats; when simulated time has nothing to do it blocks in the
/// io_context. Handlers of the io_context run between slices, at a known simulated time, and may
/// call models directly. Where slices end never changes a result.
class run_loop {
public:
    using wall_clock = std::chrono::steady_clock;

    struct config {
        time_policy policy;
        /// Simulated time that one access of an attached host costs at least; lockstep only.
        sc_core::sc_time host_access_cost{1, sc_core::SC_US};
        /// Conditions are looked at on multiples of this, so that the end of a run does not depend
        /// on the host.
        sc_core::sc_time sample_period{10, sc_core::SC_US};
        /// A wait for an event nearer than this is work, not an empty gap; free and realtime.
        sc_core::sc_time shortest_gap{20, sc_core::SC_US};
    };

    explicit run_loop(config cfg);
    ~run_loop();
    run_loop(const run_loop&) = delete;
    run_loop& operator=(const run_loop&) = delete;

    boost::asio::io_context& io();
    const config& settings() const { return cfg_; }

    // --- Run control: from any handler, or between two calls of run().

    /// Stops simulated time. From inside a process it takes effect at the end of the delta cycle.
    void pause(std::string why);
    void resume();
    bool paused() const { return paused_; }
    const std::string& pause_text() const { return pause_text_; }
    /// Ends serve() and run(); every goal ends with kind::quit.
    void quit(std::string why);
    bool quitting() const { return quitting_; }
    /// Told after each pause (false -> true) and resume.
    void on_pause_change(std::function<void(bool paused, const std::string& why)> observer);

    /// Calls `what` between slices as soon as no handler is running, and before another one does:
    /// where this process can be left.
    void at_rest(std::function<void()> what) { at_rest_ = std::move(what); }
    /// A client waits for that: a handler with more than one piece of work leaves the rest.
    bool rests_next() const { return at_rest_ != nullptr; }

    // --- Waiting: while a goal exists, simulated time moves and gaps are jumped.

    struct goal {
        std::string who;                             ///< for the stall report: "control client 3"
        std::string what;                            ///< "chip ready"
        std::optional<sc_core::sc_time> until = {};  ///< absolute simulated time
        std::function<bool()> condition = {};        ///< looked at every config::sample_period
        std::optional<wall_clock::duration> wall_limit = {};
        bool ends_on_pause = false;    ///< ends with kind::paused instead of waiting for resume()
        std::uint64_t attachment = 0;  ///< the client that waits, as attach() named it
        bool background = false;       ///< does not make simulated time move: serving, not waiting
    };
    using goal_id = std::uint64_t;
    /// `done` is called once, between slices; never from inside this call.
    goal_id wait_for(goal what, std::function<void(const stop_reason&)> done);
    void cancel(goal_id id);
    /// Ends it now: calls its `done`.
    void finish(goal_id id, const stop_reason& why);

    // --- Driving.

    /// Builds the module hierarchy's bindings without running a process; run() and serve() do it
    /// too.
    void elaborate();
    /// Drives until `what` ends.
    stop_reason run(goal what);
    /// Drives until quit().
    void serve();
    /// Runs up to the next simulated time at which something happens, whatever the policy and
    /// though paused. False when nothing is pending.
    bool step();
    /// Runs one delta cycle of the present time; false when none is pending.
    bool delta();

    // --- Attached hosts.

    /// A client that may act at any time: while one is attached slices are short. `host`
    /// names the machine that a driver runs on, which has several attachments, one per device.
    std::uint64_t attach(std::string who, std::string host = {});
    void detach(std::uint64_t attachment);
    std::size_t attached() const { return attachments_.size(); }
    /// To be called first by the handler of each register access of a host. Charges the access
    /// under lockstep; otherwise lets simulated time catch up with wall clock inside a paced gap.
    void host_access();
    /// To be called before a write of a host is answered, with what the write started. True: answer
    /// now. False: `answer` is called between slices when the work has finished, so that the host
    /// sees a short copy finished however busy this machine and the other chips are; its own
    /// time-outs are short (contract 11.1: 4 ms). Large work is not waited for: `answer` is called
    /// after max_held of simulated time, or a second of wall clock, in any case.
    bool host_wrote(const started_work& work, std::function<void()> answer);
    static constexpr auto max_held = std::chrono::microseconds(200);
    /// To be called after it, with the annotated delay: under lockstep an access costs at least as
    /// long as it takes.
    void host_access_took(const sc_core::sc_time& delay);

    /// One line per waiter, goal or module, with what it waits for.
    std::string stall_report() const;

    struct counters {
        std::uint64_t slices = 0;
        std::uint64_t handlers = 0;
        std::uint64_t blocked = 0;      ///< times the loop went to sleep
        wall_clock::duration asleep{};  ///< wall-clock time spent there
    };
    const counters& counted() const { return counted_; }

private:
    struct pending_goal {
        goal_id id;
        goal what;
        std::optional<wall_clock::time_point> deadline;
        std::function<void(const stop_reason&)> done;
        bool fresh;  ///< its condition has not been looked at yet
    };
    /// The answer to a host's write that waits for what the write started.
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
    void adapt(const sc_core::sc_time& span, wall_clock::duration took);
    void block(std::optional<wall_clock::time_point> wake);
    bool spin() const;

    const config cfg_;
    const std::unique_ptr<time_driver> driver_;
    struct sockets;  // most who include this header open none
    const std::unique_ptr<sockets> sockets_;

    std::list<pending_goal> goals_;
    goal_id last_goal_ = 0;
    struct attachment {
        std::uint64_t id;
        std::string who, host;
    };
    std::vector<attachment> attachments_;
    std::uint64_t last_attachment_ = 0;
    std::vector<std::function<void(bool, const std::string&)>> observers_;

    bool paused_ = false;
    std::string pause_text_;
    bool quitting_ = false;
    std::string quit_text_;
    bool simulating_ = false;
    std::function<void()> at_rest_;
    std::list<held_answer> held_;

    sc_core::sc_time slice_{10, sc_core::SC_US};
    wall_clock::time_point last_poll_{};
    wall_clock::time_point last_handler_{};
    counters counted_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <systemc>

#include "platform/framework/kernel/time_policy.h"

namespace trn {

/// Implements a time policy (doc/time.md): how far the run loop may simulate, and what an access of
/// a host costs.
class time_driver {
public:
    using wall_clock = std::chrono::steady_clock;

    /// State of the run loop before a slice; times are absolute.
    struct outlook {
        sc_core::sc_time event;   ///< time of the next event; the limit when none is pending
        sc_core::sc_time limit;   ///< first time limit of all goals
        sc_core::sc_time sample;  ///< next evaluation of conditions, which a jump must not skip
        sc_core::sc_time slice_end;
        bool has_waiter = false;  ///< a client waits: empty gaps may be skipped
        /// a host that does not wait would lose processing time by a skip
        bool another_host_acts = false;
    };
    /// Simulate up to `boundary`, or sleep until `wake`; without both, sleep until a handler runs.
    struct plan {
        std::optional<sc_core::sc_time> boundary = {};
        std::optional<wall_clock::time_point> wake = {};
    };

    virtual ~time_driver() = default;
    virtual plan next(const outlook& ahead) const = 0;
    /// Called when simulated time starts: after elaboration and after a pause.
    virtual void restart() {}
    /// Called after each slice.
    virtual void moved() {}
    /// Time to simulate up to for an access that a host makes now; `event` is the time of the next
    /// event.
    virtual sc_core::sc_time access_time(const sc_core::sc_time& event) const = 0;
    /// Additional cost of the access, given its annotated delay.
    virtual sc_core::sc_time access_rest(const sc_core::sc_time& /*delay*/) const {
        return sc_core::SC_ZERO_TIME;
    }
    /// Whether replies to writes are held until the work that they started has finished.
    virtual bool holds_answers() const { return true; }
    /// Whether the handler of a write simulates that work.
    virtual bool simulates_writes() const { return false; }
};

/// `access_cost`: simulated time of an access; lockstep only. `shortest_gap`: shorter waits for an
/// event are not empty gaps; free and realtime.
std::unique_ptr<time_driver> make_time_driver(const time_policy& policy,
                                              const sc_core::sc_time& access_cost,
                                              const sc_core::sc_time& shortest_gap);

}  // namespace trn

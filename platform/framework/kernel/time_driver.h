// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <systemc>

#include "platform/framework/kernel/time_policy.h"

namespace trn {

/// `from` + `by`, at most the last time that there is.
inline sc_core::sc_time later(const sc_core::sc_time& from, const sc_core::sc_time& by) {
    return sc_core::sc_max_time() - from < by ? sc_core::sc_max_time() : from + by;
}

/// A time policy at work, one class per policy (doc/time.md): how far the run loop may simulate,
/// and what an access of a host costs.
class time_driver {
public:
    using wall_clock = std::chrono::steady_clock;

    /// What the run loop knows before a slice; times are absolute.
    struct outlook {
        sc_core::sc_time event;   ///< the next one; the limit when none is pending
        sc_core::sc_time limit;   ///< the first time limit of a goal
        sc_core::sc_time sample;  ///< the next check of conditions, which a jump must not skip
        sc_core::sc_time slice_end;
        bool has_waiter = false;         ///< empty gaps may be jumped
        bool another_host_acts = false;  ///< and would lose the time that is jumped
    };
    /// Simulate up to `boundary`, or wait until `wake`; neither: wait for ever.
    struct plan {
        std::optional<sc_core::sc_time> boundary = {};
        std::optional<wall_clock::time_point> wake = {};
    };

    virtual ~time_driver() = default;
    virtual plan next(const outlook& ahead) const = 0;
    /// Simulated time begins to move: after elaboration and after a pause.
    virtual void restart() {}
    /// A slice has been simulated.
    virtual void moved() {}
    /// Simulated time of an access that a host makes now; `event` is the next one.
    virtual sc_core::sc_time access_time(const sc_core::sc_time& event) const = 0;
    /// What the access costs in addition, by its annotated delay.
    virtual sc_core::sc_time access_rest(const sc_core::sc_time& delay) const;
    /// A host's write is answered when the work that it started has finished.
    virtual bool holds_answers() const { return true; }
    /// That work is simulated within the handler of the write.
    virtual bool simulates_writes() const { return false; }
};

/// `access_cost`: simulated time of one access, lockstep only. `shortest_gap`: a shorter wait for
/// an event is not an empty gap; free and realtime.
std::unique_ptr<time_driver> make_time_driver(const time_policy& policy,
                                              const sc_core::sc_time& access_cost,
                                              const sc_core::sc_time& shortest_gap);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/time_driver.h"

#include <algorithm>

#include "platform/framework/kernel/time_value.h"

namespace trn {

using sc_core::sc_time;
using sc_core::sc_time_stamp;
using sc_core::SC_ZERO_TIME;
using namespace std::chrono_literals;

namespace {

using wall_clock = time_driver::wall_clock;
using outlook = time_driver::outlook;
using plan = time_driver::plan;

// Limit of the lag of simulated time that is made up for; a greater lag is forgotten.
constexpr auto forgotten_lag = 1ms;

double seconds(wall_clock::duration d) {
    return std::chrono::duration<double>(d).count();
}

/// The plan while a client waits: simulated time advances as fast as possible.
plan jump(const outlook& ahead) {
    return {std::min({std::max(ahead.slice_end, ahead.event), ahead.sample, ahead.limit})};
}

/// Relates simulated time to wall time, from a common start.
class pace {
public:
    explicit pace(double factor) : factor_(factor) {}

    void restart() {
        simulated_ = sc_time_stamp();
        wall_ = wall_clock::now();
    }
    /// At most a century after the start, which the clock can represent.
    wall_clock::time_point due(const sc_time& event) const {
        using fractional = std::chrono::duration<double>;
        constexpr fractional century = std::chrono::years(100);
        const fractional wait((event - simulated_).to_seconds() / factor_);
        return wall_ + std::chrono::duration_cast<wall_clock::duration>(std::min(wait, century));
    }
    /// The simulated time that corresponds to the current wall time.
    sc_time now() const {
        const auto passed = seconds(wall_clock::now() - wall_) * factor_;
        return later(simulated_, sc_time{passed, sc_core::SC_SEC});
    }
    /// Seconds of wall time by which simulated time is ahead.
    double ahead() const {
        return (sc_time_stamp() - simulated_).to_seconds() / factor_ -
               seconds(wall_clock::now() - wall_);
    }

private:
    const double factor_;
    sc_time simulated_;
    wall_clock::time_point wall_{};
};

/// Advances simulated time only while a client waits.
class lockstep_driver final : public time_driver {
public:
    explicit lockstep_driver(const sc_time& access_cost) : access_cost_(access_cost) {}

    plan next(const outlook& ahead) const override {
        return ahead.has_waiter ? jump(ahead) : plan{};
    }
    sc_time access_time(const sc_time&) const override {
        return later(sc_time_stamp(), access_cost_);
    }
    sc_time access_rest(const sc_time& delay) const override {
        return delay > access_cost_ ? delay - access_cost_ : SC_ZERO_TIME;
    }
    bool holds_answers() const override { return false; }

private:
    const sc_time access_cost_;
};

/// Base of policies under which gaps without events pass at wall-clock speed.
class paced_driver : public time_driver {
public:
    paced_driver(double factor, const sc_time& shortest_gap)
        : pace_(factor), shortest_gap_(shortest_gap) {}

    void restart() override { pace_.restart(); }
    sc_time access_time(const sc_time& event) const override {
        const auto target = pace_.now();
        return target < event ? target : sc_time_stamp();
    }

protected:
    /// Sleeps until the wall time of `event`, then simulates it.
    plan next_in_gap(const outlook& ahead, const sc_time& event) const {
        if (const auto due = pace_.due(event); wall_clock::now() < due) return {{}, due};
        return {std::max(event, std::min(ahead.slice_end, later(sc_time_stamp(), shortest_gap_)))};
    }

    pace pace_;
    const sc_time shortest_gap_;
};

/// Advances simulated time while there is work; paces empty gaps unless a client waits.
class free_driver final : public paced_driver {
public:
    explicit free_driver(const sc_time& shortest_gap) : paced_driver(1, shortest_gap) {}

    plan next(const outlook& ahead) const override {
        const auto now = sc_time_stamp();
        const auto first = std::min(ahead.event, ahead.limit);
        if (!ahead.has_waiter)
            return ahead.event - now < shortest_gap_ ? plan{ahead.slice_end}
                                                     : next_in_gap(ahead, ahead.event);
        return first - now >= shortest_gap_ && ahead.another_host_acts ? next_in_gap(ahead, first)
                                                                       : jump(ahead);
    }
    void moved() override { pace_.restart(); }
    bool simulates_writes() const override { return true; }
};

/// Limits simulated time to `factor` times wall time.
class realtime_driver final : public paced_driver {
public:
    using paced_driver::paced_driver;

    plan next(const outlook& ahead) const override {
        return next_in_gap(ahead, std::min(ahead.event, ahead.limit));
    }
    void moved() override {
        if (pace_.ahead() < -seconds(forgotten_lag)) pace_.restart();
    }
};

}  // namespace

std::unique_ptr<time_driver> make_time_driver(const time_policy& policy, const sc_time& access_cost,
                                              const sc_time& shortest_gap) {
    switch (policy.mode) {
    case time_policy::kind::lockstep:
        return std::make_unique<lockstep_driver>(access_cost);
    case time_policy::kind::free:
        return std::make_unique<free_driver>(shortest_gap);
    case time_policy::kind::realtime:
        return std::make_unique<realtime_driver>(policy.factor, shortest_gap);
    }
    return nullptr;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/run_loop.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <ctime>
#include <utility>
#include <vector>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/time_value.h"

namespace {

using namespace sc_core;
using namespace std::chrono_literals;
using trn::run_loop;
using trn::started_work;
using trn::stop_reason;
using trn::time_policy;

/// Beats periodically, as firmware with a housekeeping timer does; a period of zero: no beats.
class heart : public sc_module {
public:
    heart(sc_module_name name, sc_time period) : sc_module(name), period_(period) {
        SC_HAS_PROCESS(heart);
        SC_METHOD(beat);
        dont_initialize();
        sensitive << beat_;
        if (period_ > SC_ZERO_TIME) beat_.notify(period_);
    }
    void kick(sc_time delay) { beat_.notify(delay); }

    std::vector<sc_time> beats;
    std::function<void()> on_beat;

private:
    void beat() {
        beats.push_back(sc_time_stamp());
        if (on_beat) on_beat();
        if (period_ > SC_ZERO_TIME) beat_.notify(period_);
    }
    const sc_time period_;
    sc_event beat_;
};

class stuck_queue : public sc_module, public trn::describes_wait {
public:
    explicit stuck_queue(sc_module_name name) : sc_module(name) {}
    std::optional<std::string> describe_wait() const override {
        return "descriptors from the host";
    }
};

run_loop::config with(time_policy::kind kind, double factor = 1) {
    run_loop::config cfg;
    cfg.policy = {kind, factor};
    return cfg;
}

run_loop::goal until(sc_time t) {
    run_loop::goal g{"test", "a time"};
    g.until = t;
    return g;
}

double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}
double wall_since(run_loop::wall_clock::time_point start) {
    return std::chrono::duration<double>(run_loop::wall_clock::now() - start).count();
}

TEST(RunLoopTest, ElaborationRunsOneDeltaCycle) {
    heart first("first", SC_ZERO_TIME), second("second", SC_ZERO_TIME);
    first.on_beat = [&] { second.kick(SC_ZERO_TIME); };
    first.kick(SC_ZERO_TIME);
    run_loop loop(with(time_policy::kind::lockstep));
    loop.elaborate();
    loop.elaborate();
    EXPECT_EQ(first.beats.size(), 1u);
    EXPECT_TRUE(second.beats.empty());
    EXPECT_TRUE(loop.delta());
    EXPECT_EQ(second.beats.size(), 1u);
}

TEST(RunLoopTest, ATimeStepEndsWhenNoProcessIsLeftToRun) {
    heart first("first", sc_time(4, SC_US)), second("second", SC_ZERO_TIME);
    first.on_beat = [&] { second.kick(SC_ZERO_TIME); };
    run_loop loop(with(time_policy::kind::lockstep));
    std::vector<std::pair<sc_time, std::size_t>> steps;  // with the beats of `second`
    loop.on_time_step([&] {
        if (steps.empty() || steps.back().second != second.beats.size())
            steps.emplace_back(sc_time_stamp(), second.beats.size());
    });
    loop.run(until(sc_time(9, SC_US)));
    const sc_time period(4, SC_US);
    EXPECT_EQ(steps, (std::vector<std::pair<sc_time, std::size_t>>{
                         {SC_ZERO_TIME, 0}, {period, 1}, {period * 2, 2}}));
    EXPECT_EQ(sc_time_stamp(), sc_time(9, SC_US));
}

TEST(RunLoopTest, APauseStopsBetweenTheDeltaCyclesOfATimeStep) {
    heart first("first", SC_ZERO_TIME), second("second", SC_ZERO_TIME);
    run_loop loop(with(time_policy::kind::lockstep));
    first.on_beat = [&] {
        second.kick(SC_ZERO_TIME);
        loop.pause("test");
    };
    unsigned steps = 0;
    loop.on_time_step([&] { ++steps; });
    loop.elaborate();
    first.kick(sc_time(1, SC_NS));
    auto goal = until(sc_time(1, SC_US));
    goal.ends_on_pause = true;
    EXPECT_EQ(loop.run(goal).cause, stop_reason::kind::paused);
    EXPECT_TRUE(second.beats.empty());
    EXPECT_EQ(steps, 1u);  // that of time zero
    loop.resume();
    loop.run(until(sc_time(1, SC_US)));
    EXPECT_EQ(second.beats.size(), 1u);
}

TEST(RunLoopTest, SimulatedTimeEndsBeforeTheKernelsDoes) {
    heart h("heart", sc_time(20, SC_SEC) * 86400);
    run_loop loop(with(time_policy::kind::lockstep));
    for (const auto& limit : {sc_max_time(), trn::end_of_time() + sc_time(1, SC_PS)}) {
        const auto reason = loop.run(until(limit));
        EXPECT_EQ(reason.cause, stop_reason::kind::stalled);
        EXPECT_TRUE(reason.text.starts_with("at 17280000 s: simulated time ends\n"));
        EXPECT_EQ(sc_time_stamp(), trn::end_of_time());
    }
    EXPECT_EQ(h.beats.size(), 9u);
    EXPECT_FALSE(loop.step());
    EXPECT_EQ(loop.run(until(sc_time(1, SC_SEC))).cause, stop_reason::kind::time_limit);
}

TEST(RunLoopTest, LimitBeyondTheEndOfTimeEndsARunWithoutEvents) {
    run_loop loop(with(time_policy::kind::lockstep));
    EXPECT_EQ(loop.run(until(sc_max_time())).cause, stop_reason::kind::stalled);
}

TEST(RunLoopTest, RunsExactlyToTheTimeLimit) {
    heart h("heart", sc_time(7, SC_NS));
    run_loop loop(with(time_policy::kind::lockstep));
    const auto reason = loop.run(until(sc_time(100, SC_NS)));
    EXPECT_EQ(reason.cause, stop_reason::kind::time_limit);
    EXPECT_EQ(sc_time_stamp(), sc_time(100, SC_NS));
    EXPECT_EQ(h.beats.size(), 14u);
}

TEST(RunLoopTest, ConditionEndsARunAtATimeIndependentOfTheHost) {
    heart h("heart", sc_time(7, SC_US));
    run_loop loop(with(time_policy::kind::free));
    boost::asio::steady_timer noise(loop.io());  // handlers at arbitrary wall times
    std::function<void()> again = [&] {
        noise.expires_after(10us);
        noise.async_wait([&](auto error) {
            if (!error) again();
        });
    };
    again();
    run_loop::goal g{"test", "100 beats"};
    g.condition = [&] { return h.beats.size() >= 100; };
    const auto reason = loop.run(g);
    EXPECT_EQ(reason.cause, stop_reason::kind::condition);
    EXPECT_EQ(sc_time_stamp(),
              // 700 us is on the grid, but checked after that instant has run.
              sc_time(710, SC_US));
}

TEST(RunLoopTest, ConditionIsPolledOnTheGridWhenSlicesAreShorterThanTheEventGap) {
    heart h("heart", sc_time(7003, SC_NS));  // never on the grid
    h.on_beat = [] {                         // a slow host: slices shrink
        const auto start = run_loop::wall_clock::now();
        while (run_loop::wall_clock::now() - start < 3ms) {
        }
    };
    run_loop loop(with(time_policy::kind::free));
    auto g = until(sc_time(1, SC_MS));
    g.condition = [&] { return h.beats.size() >= 20; };
    EXPECT_EQ(loop.run(g).cause, stop_reason::kind::condition);
    EXPECT_EQ(sc_time_stamp(), sc_time(150, SC_US));
}

TEST(RunLoopTest, GoalStartedOnTheGridIsNotPolledAtSliceEnds) {
    heart h("heart", sc_time(1003, SC_NS));
    h.on_beat = [] {  // a slow host: slices shrink
        const auto start = run_loop::wall_clock::now();
        while (run_loop::wall_clock::now() - start < 3ms) {
        }
    };
    run_loop loop(with(time_policy::kind::free));
    EXPECT_EQ(loop.run(until(sc_time(30, SC_US))).cause, stop_reason::kind::time_limit);
    auto g = until(sc_time(1, SC_MS));
    g.condition = [&, before = h.beats.size()] { return h.beats.size() > before; };
    EXPECT_EQ(loop.run(g).cause, stop_reason::kind::condition);
    EXPECT_EQ(sc_time_stamp(), sc_time(40, SC_US));
}

TEST(RunLoopTest, BackgroundConditionIsPolledAtAnySimulatedTime) {
    heart h("heart", sc_time(7, SC_US));
    run_loop loop(with(time_policy::kind::lockstep));
    loop.run(until(sc_time(3, SC_US)));  // not on the grid; a beat is pending
    bool over = false;
    boost::asio::steady_timer outside(loop.io(), 5ms);
    outside.async_wait([&](auto) { over = true; });
    run_loop::goal g{"test", "something outside"};
    g.background = true;
    g.condition = [&] { return over; };
    g.wall_limit = 10s;
    EXPECT_EQ(loop.run(g).cause, stop_reason::kind::condition);
    EXPECT_EQ(sc_time_stamp(), sc_time(3, SC_US));
}

TEST(RunLoopTest, SliceBoundariesDoNotChangeEventTimes) {
    heart fast("fast", sc_time(3, SC_NS)), slow("slow", sc_time(333, SC_NS));
    run_loop loop(with(time_policy::kind::lockstep));
    std::vector<std::size_t> order;
    fast.on_beat = [&] { order.push_back(slow.beats.size()); };
    for (int i = 1; i <= 100; ++i)
        loop.run(until(sc_time(i * 20, SC_NS)));  // a boundary every 20 ns
    EXPECT_EQ(fast.beats.size(), 666u);
    EXPECT_EQ(slow.beats.size(), 6u);
    for (std::size_t i = 0; i < fast.beats.size(); ++i)
        ASSERT_EQ(fast.beats[i], sc_time(3.0 * static_cast<double>(i + 1), SC_NS));
}

/// Work of a host's write that completes with the n-th beat of a module.
struct work_until_beat {
    work_until_beat(heart& h, std::size_t beats) {
        started_work::collector started;
        share = started_work::current();
        work = started.collected();
        h.on_beat = [this, &h, beats] {
            if (h.beats.size() == beats) share = nullptr;
        };
    }
    started_work::share share;
    started_work work;
};

const auto not_called = [] { FAIL() << "the answer was not held"; };

TEST(RunLoopTest, HostWriteIsAnsweredAfterItsWork) {
    heart busy("busy", sc_time(300, SC_NS)), doorbell("doorbell", sc_time(3, SC_US));
    work_until_beat copy(doorbell, 2);
    run_loop loop(with(time_policy::kind::free));
    loop.elaborate();
    // At once, unless the machine needs more than the budget for twenty events.
    if (!loop.host_wrote(copy.work, [&] { loop.quit("answered"); })) loop.serve();
    EXPECT_TRUE(copy.work.finished());
    EXPECT_LT(sc_time_stamp(), sc_time(200, SC_US));
}

TEST(RunLoopTest, HostWriteWithoutWorkIsAnsweredAtOnce) {
    heart busy("busy", sc_time(300, SC_NS));  // the next event is always near
    run_loop loop(with(time_policy::kind::free));
    loop.elaborate();
    EXPECT_TRUE(loop.host_wrote({}, not_called));
    EXPECT_EQ(sc_time_stamp(), SC_ZERO_TIME);
}

TEST(RunLoopTest, HostWriteOnABusyBoardIsAnsweredAfterItsWork) {
    heart busy("busy", sc_time(1, SC_NS)), doorbell("doorbell", sc_time(100, SC_US));
    work_until_beat copy(doorbell, 1);
    run_loop loop(with(time_policy::kind::free));
    loop.elaborate();
    int answers = 0, handlers = 0;
    ASSERT_FALSE(loop.host_wrote(copy.work, [&] {
        EXPECT_EQ(doorbell.beats.size(), 1u);
        ++answers;
        loop.quit("answered");
    }));
    EXPECT_EQ(answers, 0);
    EXPECT_LT(sc_time_stamp(), sc_time(100, SC_US));
    boost::asio::post(loop.io(), [&] { handlers += answers == 0; });  // serves another host
    loop.serve();
    EXPECT_EQ(answers, 1);
    EXPECT_EQ(handlers, 1);
}

TEST(RunLoopTest, RealtimeDelaysAnswersAtWallClockPace) {
    heart doorbell("doorbell", sc_time(10, SC_US));
    work_until_beat copy(doorbell, 3);
    run_loop loop(with(time_policy::kind::realtime, 1e-3));
    loop.elaborate();
    const auto start = run_loop::wall_clock::now();
    ASSERT_FALSE(loop.host_wrote(copy.work, [&] { loop.quit("answered"); }));
    loop.serve();
    EXPECT_EQ(doorbell.beats.size(), 3u);
    EXPECT_GE(wall_since(start), 0.01);
}

TEST(RunLoopTest, HostWriteWithEndlessWorkIsAnsweredAfterItsBudget) {
    heart busy("busy", sc_time(1, SC_NS));
    work_until_beat ring(busy, 0);
    run_loop loop(with(time_policy::kind::free));
    loop.elaborate();
    ASSERT_FALSE(loop.host_wrote(ring.work, [&] { loop.quit("answered"); }));
    loop.serve();
    EXPECT_FALSE(ring.work.finished());
    EXPECT_GE(sc_time_stamp(), sc_time(200, SC_US));
    EXPECT_LE(sc_time_stamp(), sc_time(300, SC_US));  // and at most one slice
}

TEST(RunLoopTest, PauseAnswersWaitingHosts) {
    heart busy("busy", sc_time(1, SC_NS));
    work_until_beat ring(busy, 0);
    run_loop loop(with(time_policy::kind::free));
    loop.elaborate();
    bool answered = false;
    ASSERT_FALSE(loop.host_wrote(ring.work, [&] { answered = true; }));
    loop.pause("a breakpoint");
    boost::asio::steady_timer later(loop.io(), 1ms);
    later.async_wait([&](auto) { loop.quit("test"); });
    loop.serve();
    EXPECT_TRUE(answered);
    EXPECT_LT(sc_time_stamp(), sc_time(200, SC_US));
}

TEST(RunLoopTest, HostWriteDoesNotWaitForDistantEvents) {
    heart housekeeping("housekeeping", sc_time(50, SC_MS));
    work_until_beat later(housekeeping, 1);
    run_loop loop(with(time_policy::kind::free));
    loop.run(until(sc_time(1, SC_MS)));
    const auto before = sc_time_stamp();
    EXPECT_TRUE(loop.host_wrote(later.work, not_called));
    EXPECT_EQ(sc_time_stamp(), before);
    EXPECT_TRUE(housekeeping.beats.empty());
}

TEST(RunLoopTest, LockstepChargesWritesLikeOtherAccesses) {
    heart h("heart", sc_time(3, SC_US));
    work_until_beat copy(h, 1);
    run_loop loop(with(time_policy::kind::lockstep));
    loop.elaborate();
    EXPECT_TRUE(loop.host_wrote(copy.work, not_called));
    EXPECT_EQ(sc_time_stamp(), SC_ZERO_TIME);
}

TEST(RunLoopTest, LockstepHoldsTimeWhenNoHostWaits) {
    heart h("heart", sc_time(10, SC_NS));
    run_loop loop(with(time_policy::kind::lockstep));
    boost::asio::steady_timer later(loop.io(), 20ms);
    later.async_wait([&](auto) { loop.quit("test"); });
    loop.serve();
    EXPECT_EQ(sc_time_stamp(), SC_ZERO_TIME);
    EXPECT_TRUE(h.beats.empty());
}

TEST(RunLoopTest, LockstepChargesEachHostAccess) {
    heart h("heart", sc_time(400, SC_NS));
    run_loop loop(with(time_policy::kind::lockstep));
    loop.elaborate();
    for (int i = 0; i < 5; ++i) loop.host_access();
    EXPECT_EQ(sc_time_stamp(), sc_time(5, SC_US));
    EXPECT_EQ(h.beats.size(), 12u);
    loop.pause("test");
    loop.host_access();  // already answered: no cost
    EXPECT_EQ(sc_time_stamp(), sc_time(5, SC_US));
}

TEST(RunLoopTest, LockstepChargesTheDurationOfALongAccess) {
    heart h("heart", sc_time(400, SC_NS));
    run_loop loop(with(time_policy::kind::lockstep));
    loop.elaborate();
    const auto access = [&](const sc_time& takes) {
        loop.host_access();
        loop.host_access_took(takes);
    };
    access(sc_time(160, SC_NS));  // within the cost charged for every access
    EXPECT_EQ(sc_time_stamp(), sc_time(1, SC_US));
    access(sc_time(58, SC_US));
    EXPECT_EQ(sc_time_stamp(), sc_time(59, SC_US));
    loop.pause("test");
    access(sc_time(58, SC_US));
    EXPECT_EQ(sc_time_stamp(), sc_time(59, SC_US));
}

TEST(RunLoopTest, FreeDoesNotChargeAccesses) {
    heart h("heart", sc_time(10, SC_SEC));
    run_loop loop(with(time_policy::kind::free));
    loop.elaborate();
    loop.host_access_took(sc_time(5, SC_SEC));
    EXPECT_EQ(sc_time_stamp(), SC_ZERO_TIME);
}

TEST(RunLoopTest, FreeSkipsAGapAtOnceWhenAHostWaits) {
    heart h("heart", sc_time(100, SC_SEC));
    run_loop loop(with(time_policy::kind::free));
    const auto start = run_loop::wall_clock::now();
    loop.run(until(sc_time(1000, SC_SEC)));
    EXPECT_EQ(h.beats.size(), 9u);  // the tenth is due now and has not run
    EXPECT_LT(wall_since(start), 5.0);
}

TEST(RunLoopTest, FreePacesTheWaitOfOneHostWhileAnotherActs) {
    heart h("heart", sc_time(100, SC_SEC));
    run_loop loop(with(time_policy::kind::free));
    const auto first = loop.attach("chip 0", "server 0");
    loop.attach("chip 1", "server 0");
    const auto second = loop.attach("chip 2", "server 1");
    const auto waits = [&](std::uint64_t client, const sc_time& length) {
        const auto start = run_loop::wall_clock::now();
        auto goal = until(sc_time_stamp() + length);
        goal.attachment = client;
        EXPECT_EQ(loop.run(goal).cause, stop_reason::kind::time_limit);
        return wall_since(start);
    };
    EXPECT_GE(waits(first, sc_time(50, SC_MS)), 0.045);
    // If the other also waits, and for longer, both jump.
    auto second_wait = until(sc_time_stamp() + sc_time(1000, SC_SEC));
    second_wait.attachment = second;
    const auto id = loop.wait_for(second_wait, [](const stop_reason&) {});
    EXPECT_LT(waits(first, sc_time(500, SC_SEC)), 5.0);
    loop.cancel(id);
    loop.detach(second);
    EXPECT_LT(waits(first, sc_time(500, SC_SEC)), 5.0);
}

TEST(RunLoopTest, FreePacesAGapAndSleepsWhenNoHostWaits) {
    heart h("heart", sc_time(10, SC_MS));
    run_loop loop(with(time_policy::kind::free));
    h.on_beat = [&] {
        if (h.beats.size() == 10) loop.quit("ten beats");
    };
    const auto start = run_loop::wall_clock::now();
    const auto cpu = cpu_seconds();
    loop.serve();
    EXPECT_GE(wall_since(start), 0.095);
    EXPECT_GT(loop.counted().asleep, 80ms);
    EXPECT_LT(cpu_seconds() - cpu, 0.05);
}

TEST(RunLoopTest, FreeRunsBusyPhasesAtFullSpeedWhenNoHostWaits) {
    heart h("heart", sc_time(1, SC_US));
    run_loop loop(with(time_policy::kind::free));
    h.on_beat = [&] {
        if (h.beats.size() == 200'000) loop.quit("200 ms simulated");
    };
    loop.serve();
    EXPECT_EQ(loop.counted().blocked, 0u);
    EXPECT_GE(sc_time_stamp(), sc_time(200, SC_MS));
}

TEST(RunLoopTest, RealtimeIsNeverFasterThanItsFactor) {
    heart h("heart", sc_time(50, SC_US));
    run_loop loop(with(time_policy::kind::realtime, 2.0));
    const auto start = run_loop::wall_clock::now();
    loop.run(until(sc_time(100, SC_MS)));
    EXPECT_GE(wall_since(start), 0.0498);
    EXPECT_EQ(h.beats.size(), 1999u);
}

TEST(RunLoopTest, RealtimeWaitsForAnEventThatIsDueBeyondTheRangeOfTheClock) {
    heart h("heart", sc_time(10, SC_MS));
    run_loop loop(with(time_policy::kind::realtime, 1e-12));
    boost::asio::steady_timer later(loop.io(), 20ms);
    later.async_wait([&](auto) { loop.quit("test"); });
    loop.serve();
    EXPECT_TRUE(h.beats.empty());
}

TEST(RunLoopTest, AccessDuringAPacedGapSeesTimeAdvance) {
    heart h("heart", sc_time(10, SC_SEC));
    run_loop loop(with(time_policy::kind::free));
    boost::asio::steady_timer later(loop.io(), 20ms);
    later.async_wait([&](auto) {
        loop.host_access();
        loop.quit("test");
    });
    loop.serve();
    EXPECT_GE(sc_time_stamp(), sc_time(15, SC_MS));
    EXPECT_LT(sc_time_stamp(), sc_time(10, SC_SEC));
}

TEST(RunLoopTest, PauseFromAProcessStopsAtItsTimeAndResumeContinues) {
    heart h("heart", sc_time(10, SC_NS));
    run_loop loop(with(time_policy::kind::lockstep));
    std::vector<std::string> seen;
    loop.on_pause_change(
        [&](bool paused, const std::string& why) { seen.push_back(paused ? why : "resumed"); });
    h.on_beat = [&] {
        if (h.beats.size() == 3) loop.pause("breakpoint");
    };
    auto goal = until(sc_time(100, SC_NS));
    goal.ends_on_pause = true;
    auto reason = loop.run(goal);
    EXPECT_EQ(reason.cause, stop_reason::kind::paused);
    EXPECT_EQ(reason.text, "breakpoint");
    EXPECT_EQ(sc_time_stamp(), sc_time(30, SC_NS));
    loop.resume();
    reason = loop.run(goal);
    EXPECT_EQ(reason.cause, stop_reason::kind::time_limit);
    EXPECT_EQ(h.beats.size(), 9u);
    EXPECT_EQ(seen, (std::vector<std::string>{"breakpoint", "resumed"}));
}

TEST(RunLoopTest, StallNamesEveryWaiterAndItsCondition) {
    heart h("heart", SC_ZERO_TIME);
    stuck_queue q("queue");
    run_loop loop(with(time_policy::kind::free));
    run_loop::goal g{"--until", "ready"};
    g.condition = [] { return false; };
    const auto reason = loop.run(g);
    EXPECT_EQ(reason.cause, stop_reason::kind::stalled);
    EXPECT_NE(reason.text.find("--until waits for ready"), std::string::npos) << reason.text;
    EXPECT_NE(reason.text.find("queue waits for descriptors from the host"), std::string::npos);
}

TEST(RunLoopTest, AttachedHostPreventsAStall) {
    heart h("heart", SC_ZERO_TIME);
    run_loop loop(with(time_policy::kind::free));
    loop.attach("host");
    boost::asio::steady_timer acts(loop.io(), 5ms);
    acts.async_wait([&](auto) { h.kick(sc_time(1, SC_NS)); });
    run_loop::goal g{"test", "a beat"};
    g.condition = [&] { return !h.beats.empty(); };
    EXPECT_EQ(loop.run(g).cause, stop_reason::kind::condition);
}

TEST(RunLoopTest, WallClockLimitEndsASleepingRun) {
    heart h("heart", SC_ZERO_TIME);
    run_loop loop(with(time_policy::kind::free));
    loop.attach("host");
    run_loop::goal g{"test", "nothing"};
    g.condition = [] { return false; };
    g.wall_limit = 10ms;
    EXPECT_EQ(loop.run(g).cause, stop_reason::kind::wall_limit);
}

TEST(RunLoopTest, BusyClientDoesNotStarveSimulatedTime) {
    heart h("heart", sc_time(1, SC_US));
    run_loop loop(with(time_policy::kind::free));
    loop.attach("chatty");
    std::function<void()> again = [&] { boost::asio::post(loop.io(), again); };
    again();  // a handler is always ready to run
    EXPECT_EQ(loop.run(until(sc_time(10, SC_MS))).cause, stop_reason::kind::time_limit);
}

TEST(RunLoopTest, StepRunsToTheNextEventEvenWhenPaused) {
    heart h("heart", sc_time(10, SC_NS));
    run_loop loop(with(time_policy::kind::free));
    loop.elaborate();
    loop.pause("start");
    EXPECT_TRUE(loop.step());
    EXPECT_EQ(h.beats.size(), 1u);
    EXPECT_TRUE(loop.step());
    EXPECT_EQ(sc_time_stamp(), sc_time(20, SC_NS));
    EXPECT_EQ(h.beats.size(), 2u);
    EXPECT_TRUE(loop.paused());
}

TEST(RunLoopTest, APausedLoopElaborates) {
    heart h("heart", SC_ZERO_TIME);
    run_loop loop(with(time_policy::kind::free));
    h.kick(SC_ZERO_TIME);
    loop.pause("start");
    loop.elaborate();
    EXPECT_EQ(h.beats.size(), 1u);
    EXPECT_EQ(sc_time_stamp(), SC_ZERO_TIME);
    EXPECT_FALSE(sc_pending_activity());
}

TEST(RunLoopTest, CancelledGoalsAreNotCalled) {
    heart h("heart", sc_time(1, SC_NS));
    run_loop loop(with(time_policy::kind::lockstep));
    bool called = false;
    const auto id = loop.wait_for(until(sc_time(5, SC_NS)), [&](auto&) { called = true; });
    loop.cancel(id);
    loop.run(until(sc_time(10, SC_NS)));
    EXPECT_FALSE(called);
}

TEST(RunLoop, WorkBetweenSlicesRunsAtTheTimeOfItsProcess) {
    heart chip{"chip", sc_time(7, SC_US)};
    run_loop loop(with(time_policy::kind::free));
    std::vector<sc_time> worked;
    chip.on_beat = [&] {
        loop.between_slices([&] {
            EXPECT_EQ(sc_get_current_process_handle().valid(), false);
            worked.push_back(sc_time_stamp());
        });
    };
    loop.run({"the test", "28 us", sc_time(28, SC_US)});
    loop.run({"the test", "30 us", sc_time(30, SC_US)});
    EXPECT_EQ(worked, chip.beats);
    EXPECT_EQ(worked.size(), 4u);
}

TEST(RunLoop, WorkBetweenSlicesDoesNotShortenAnAccess) {
    heart chip{"chip", sc_time(300, SC_NS)};
    run_loop loop(with(time_policy::kind::lockstep));
    loop.elaborate();
    int worked = 0;
    chip.on_beat = [&] { loop.between_slices([&] { ++worked; }); };
    loop.host_access();
    EXPECT_EQ(sc_time_stamp(), sc_time(1, SC_US));
    EXPECT_EQ(worked, 0) << "the access is in progress";
    loop.host_access_took(sc_time(2, SC_US));
    EXPECT_EQ(sc_time_stamp(), sc_time(2, SC_US));
}

}  // namespace

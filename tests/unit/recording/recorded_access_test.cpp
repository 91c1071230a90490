// SPDX-License-Identifier: Apache-2.0
// A recording of accesses that their target defers, and its replay.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "models/pcie/pcie/pcie_endpoint.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/app/recording/event_matcher.h"
#include "platform/app/recording/recorded_function.h"
#include "platform/app/recording/replayed_function.h"
#include "tests/support/deferring_memory.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tlm_driver.h"

namespace trn::recording {
namespace {

using namespace sc_core;

struct slow_system {
    slow_system() {
        std::iota(registers.bytes.begin(), registers.bytes.end(), std::uint8_t{0});
        host.port[0].join(card.link);
        card.bar0.bind(registers.in);
        card.bar4.bind(stack.in);
        engine.out.bind(card.dma);
        registers.latency = sc_time(400, SC_NS);
        stack.latency = sc_time(20, SC_MS);  // more than the completion timeout
        loop.elaborate();
    }
    function_port& function() { return host.function(0); }

    run_loop loop{{.policy = {.mode = time_policy::kind::lockstep}}};
    root_complex host{"host", {}};
    pcie_endpoint card{"card", {.bar0_size = 1 << 20, .bar4_size = 1 << 20}};
    test::deferring_memory registers{"registers"}, stack{"stack"};
    test::tlm_driver engine{"engine"};  // unused
};

struct waiter final : access_waiter {
    void deferred() override { waits = true; }
    void ended(const sc_time&) override { waits = false; }
    bool waits = false;
};

/// Records accesses that wait, resets meanwhile, and a host that leaves; in a process of its own,
/// since SystemC elaborates once.
void record(const test::scratch_folder& folder) {
    const pid_t child = fork();
    if (child == 0) {
        slow_system system;
        event_recorder events(system.loop);
        events.open(folder);
        {
            recorded_function function(events, 0, system.function());
            waiter host;
            function.await_accesses(&host);
            std::mt19937 random(7);
            std::vector<std::uint8_t> bytes;
            for (unsigned n = 0; n < 100; ++n) {
                const std::uint8_t command[2] = {6, 0};
                function.config_write(4, command);
                bytes.assign(1 + random() % 90, static_cast<std::uint8_t>(n));
                const unsigned bar = random() % 10 == 0 ? 4 : 0;
                sc_time delay;
                if (random() % 2 == 0)
                    function.bar_read(bar, random() % 0x800, bytes, delay);
                else
                    function.bar_write(bar, random() % 0x800, bytes, delay);
                EXPECT_TRUE(host.waits);
                sc_start(static_cast<double>(random() % 900), SC_NS);
                if (random() % 6 == 0) function.reset();
                while (host.waits) sc_start(1, SC_US);
            }
            sc_time delay;
            function.bar_read(0, 0, bytes, delay);
            function.detach();
        }
        EXPECT_GT(system.host.counters().timeouts, 0u);
        events.finish();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
}

/// `annotated`: of the target's answers.
event_matcher::findings replay(const test::scratch_folder& folder, const sc_time& annotated) {
    manifest about;
    about.functions = {"card"};
    event_matcher events(about, log_reader(folder), true);
    slow_system system;
    system.registers.annotated = annotated;
    replayed_function host(events, 0, "card", system.function());
    while (const auto e = events.next()) {
        const auto time = sc_time::from_value(e->time);
        if (time > sc_time_stamp()) sc_start(time - sc_time_stamp());
        while (sc_delta_count() < e->deltas && sc_pending_activity_at_current_time())
            sc_start(SC_ZERO_TIME);
        if (e->type == kind::end) break;
        host.repeat(*e);
    }
    events.report_missing();
    return events.found();
}

TEST(RecordedAccess, AReplayGetsTheSameEndsOfAccessesThatWait) {
    const test::scratch_folder folder;
    record(folder);
    const auto found = replay(folder, {});
    EXPECT_GE(found.compared, 100u);
    for (const auto& each : found.first) ADD_FAILURE() << each.time << ": " << each.text;
}

TEST(RecordedAccess, AReplayFindsAnAnswerThatTakesLonger) {
    const test::scratch_folder folder;
    record(folder);
    EXPECT_GT(replay(folder, sc_time(1, SC_PS)).differences, 0u);
}

}  // namespace
}  // namespace trn::recording

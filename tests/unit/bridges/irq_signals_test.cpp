// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/irq_signals.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/bridges/foreign_models.h"

namespace {

using namespace trn;
using foreign::ns;
using edges = std::vector<std::pair<double, bool>>;  // nanoseconds, level

double now() {
    return sc_core::sc_time_stamp() / ns(1);
}

/// Drives a signal at given times.
struct signal_source : sc_core::sc_module {
    sc_core::sc_out<bool> out{"out"};
    SC_HAS_PROCESS(signal_source);
    explicit signal_source(sc_core::sc_module_name name, edges all)
        : sc_module(name), all_(std::move(all)) {
        SC_THREAD(run);
    }
    void run() {
        for (const auto& [at, level] : all_) {
            wait(ns(at) - sc_core::sc_time_stamp());
            out.write(level);
        }
    }
    edges all_;
};

/// Records the edges of a signal.
struct signal_probe : sc_core::sc_module {
    sc_core::sc_in<bool> in{"in"};
    SC_HAS_PROCESS(signal_probe);
    explicit signal_probe(sc_core::sc_module_name name) : sc_module(name) {
        SC_METHOD(record);
        sensitive << in;
        dont_initialize();
    }
    void record() { seen.emplace_back(now(), in.read()); }
    edges seen;
};

edges edges_of_a_line(const edges& sent, const sc_core::sc_time& latency, bool start = false) {
    sc_core::sc_signal<bool> signal("signal", start);
    signal_source source("source", sent);
    signal_to_irq bridge("bridge", latency);
    edges seen;
    irq_in line("line", 1, [&](unsigned, bool level) { seen.emplace_back(now(), level); });
    source.out.bind(signal);
    bridge.in.bind(signal);
    bridge.out.bind(line);
    sc_core::sc_start(ns(1000));
    return seen;
}

TEST(SignalToIrq, EdgesAreAtTheirTimes) {
    EXPECT_EQ(edges_of_a_line({{10, true}, {25, false}, {30, true}}, {}),
              (edges{{10, true}, {25, false}, {30, true}}));
}

TEST(SignalToIrq, EdgesThatAreCloserThanTheLatencyKeepTheirDistance) {
    EXPECT_EQ(edges_of_a_line({{10, true}, {25, false}, {30, true}}, ns(40)),
              (edges{{50, true}, {65, false}, {70, true}}));
}

TEST(SignalToIrq, ASignalThatIsHighAtTheStartRaisesTheLine) {
    EXPECT_EQ(edges_of_a_line({{10, false}}, {}, true), (edges{{0, true}, {10, false}}));
}

struct IrqToSignalTest : testing::Test {
    irq_out line{"line"};
    irq_to_signal bridge{"bridge"};
    sc_core::sc_signal<bool> signal{"signal"};
    signal_probe probe{"probe"};
    IrqToSignalTest() {
        bridge.out.bind(signal);
        probe.in.bind(signal);
    }
    static void run(double nanoseconds) { sc_core::sc_start(ns(nanoseconds)); }
};

TEST_F(IrqToSignalTest, EdgesAreAtTheirTimes) {
    line.bind(bridge.in);
    run(10);
    line.set(true);
    run(20);
    line.set(false);
    run(10);
    EXPECT_EQ(probe.seen, (edges{{10, true}, {30, false}}));
}

TEST_F(IrqToSignalTest, APulseIsSeenForItsMinimumWidth) {
    line.bind(bridge.in);
    run(10);
    line.pulse();
    line.pulse();
    run(10);
    EXPECT_EQ(probe.seen, (edges{{10, true}, {11, false}, {12, true}, {13, false}}));
}

TEST_F(IrqToSignalTest, AnAnnotatedEdgeIsAtItsTime) {
    run(10);
    bridge.set_after(true, ns(7));
    bridge.set_after(false, ns(12));
    run(20);
    EXPECT_EQ(probe.seen, (edges{{17, true}, {22, false}}));
}

}  // namespace

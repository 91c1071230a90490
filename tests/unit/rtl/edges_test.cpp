// SPDX-License-Identifier: Apache-2.0
// What changes at an edge of the clock: lines between blocks, answers of memory, resets.
#include <gtest/gtest.h>

#include "early_writer_rtl.h"
#include "late_writer_rtl.h"
#include "platform/framework/tlm/target_socket.h"
#include "pulse_counter_rtl.h"
#include "pulser_rtl.h"
#include "tests/support/irq_probe.h"
#include "tests/unit/rtl/blocks.h"

namespace {

using namespace trn;
using sc_core::sc_start;
using sc_core::sc_time;
using test::ns, test::us;

struct pulser_block : rtl::block {
    explicit pulser_block(sc_core::sc_module_name name)
        : block(name, rtl::designs::pulser, rtl::clocking{}) {}
    rtl::line_out out{*this, "out", "pulse"};
};

struct counter_block : rtl::block {
    explicit counter_block(sc_core::sc_module_name name)
        : block(name, rtl::designs::pulse_counter, rtl::clocking{}) {}
    rtl::line_in in{*this, "in", "line"};
    rtl::pin count{output("count", 16)};
};

TEST(LinesBetweenBlocks, CarryPulsesOfOneCycleWhicheverBlockIsFirst) {
    pulser_block first("first");
    counter_block second("second");
    first.out.line.bind(second.in.line);
    counter_block third("third");
    pulser_block fourth("fourth");
    fourth.out.line.bind(third.in.line);
    sc_start(10 * us);
    EXPECT_GE(second.count.get(), 122u);  // of 1000 cycles, some in reset
    EXPECT_LE(second.count.get(), 125u);
    EXPECT_EQ(third.count.get(), second.count.get());
}

struct writer_block : rtl::block {
    explicit writer_block(sc_core::sc_module_name name,
                          rtl::make_design* design = rtl::designs::early_writer,
                          const rtl::wiring& pins = {})
        : block(name, design, rtl::clocking{}, pins) {}
    rtl::axi_initiator out{*this, "out", ""};
    rtl::line_out has_read{*this, "has_read", "has_read"};
    rtl::line_out has_written{*this, "has_written", "has_written"};
};

/// Memory whose writes pulse a line: the reset of the block that writes.
struct slow_memory : sc_core::sc_module {
    target_socket<slow_memory> in{"in"};
    irq_out written{"written"};
    sc_time latency;
    slow_memory(sc_core::sc_module_name name, sc_time taken) : sc_module(name), latency(taken) {
        in.register_b_transport(this, &slow_memory::access);
    }
    void access(tlm::tlm_generic_payload& payload, sc_time& delay) {
        if (payload.is_write()) written.pulse();
        delay += latency;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

TEST(AxiManager, WaitsForSlowMemoryAsLongAsThatTakes) {
    writer_block dut("dut");
    slow_memory memory("memory", 200 * us);  // 20,000 cycles
    dut.out.out.bind(memory.in);
    test::irq_probe has_written(dut.has_written.line);
    sc_start(us * 1000);
    EXPECT_TRUE(has_written.level());
}

TEST(AxiManager, HasAnAnswerAtTheSameEdgeWithAStoppedClock) {
    writer_block awake("awake", rtl::designs::late_writer, {.busy = "busy"});
    writer_block asleep("asleep", rtl::designs::late_writer);
    slow_memory first("first", 1 * us), second("second", 1 * us);
    awake.out.out.bind(first.in);
    asleep.out.out.bind(second.in);
    test::irq_probe one(awake.has_read.line, "one"), other(asleep.has_read.line, "other");
    std::uint64_t edges = 0;
    while (!one.level() && ++edges < 1000) {
        EXPECT_FALSE(other.level());
        sc_start(10 * ns);
    }
    EXPECT_TRUE(other.level());
    EXPECT_LT(asleep.cycles(), awake.cycles());
}

TEST(AxiManager, MayResetItselfByAWrite) {
    writer_block dut("dut");
    slow_memory memory("memory", 1 * us);
    dut.out.out.bind(memory.in);
    memory.written.bind(dut.reset);
    test::irq_probe has_read(dut.has_read.line);
    sc_start(20 * us);  // it starts again and again
    EXPECT_GT(has_read.rises(), 4u);
}

}  // namespace

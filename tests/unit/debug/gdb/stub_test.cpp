// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/stub.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "platform/framework/debug/gdb/packet.h"
#include "platform/framework/debug/gdb/server.h"

namespace {

using namespace sc_core;
using trn::debug_target;

/// A debug target that executes one "instruction" of 4 bytes per nanosecond; the one at 0x40 stores
/// to 0x100.
class walker : public sc_module, public debug_target, public trn::address_space {
public:
    explicit walker(sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(walker);
        SC_METHOD(walk);
    }
    std::string state() const override { return halted_ ? "halted" : "walking"; }
    bool sleeps() const override { return false; }
    bool halted() const override { return halted_; }
    void halt() override { halted_ = true; }
    void resume(bool one) override {
        halted_ = false;
        one_ = one;
        skip_ = true;
        wake_.notify(SC_ZERO_TIME);
    }
    void end_wait() override { ++ended_waits; }
    bool leads_to(std::uint64_t to) override { return to == x[pc] + 4; }
    stop last_stop() const override { return stop_; }
    void on_stop(std::function<void()> stopped) override { stopped_ = std::move(stopped); }
    std::optional<std::uint64_t> read_register(unsigned n) override {
        if (n <= pc) return x[n];
        return n == first_csr + 0x300 ? std::optional<std::uint64_t>(0x1800) : std::nullopt;
    }
    bool write_register(unsigned n, std::uint64_t value) override {
        if (n > pc) return false;
        x[n] = value;
        return true;
    }
    address_space& memory() override { return *this; }
    std::size_t peek(std::uint64_t address, std::span<std::byte> bytes) override {
        const auto n =
            address < sizeof ram ? std::min<std::size_t>(bytes.size(), sizeof ram - address) : 0;
        std::memcpy(bytes.data(), ram + address, n);
        return n;
    }
    std::size_t deposit(std::uint64_t address, std::span<const std::byte> bytes) override {
        const auto n =
            address < sizeof ram ? std::min<std::size_t>(bytes.size(), sizeof ram - address) : 0;
        std::memcpy(ram + address, bytes.data(), n);
        return n;
    }
    void add_breakpoint(std::uint64_t a) override { breakpoints.push_back(a); }
    void remove_breakpoint(std::uint64_t a) override {
        breakpoints.erase(std::ranges::find(breakpoints, a));
    }
    void add_watchpoint(const watchpoint& w) override { watchpoints.push_back(w); }
    void remove_watchpoint(const watchpoint& w) override {
        std::erase_if(watchpoints,
                      [&](const auto& k) { return k.address == w.address && k.size == w.size; });
    }

    std::uint64_t x[33] = {};
    unsigned char ram[4096] = {};
    std::vector<std::uint64_t> breakpoints;
    std::vector<watchpoint> watchpoints;
    unsigned ended_waits = 0;

private:
    void walk() {
        // As harts: not while the platform is elaborated. Two cycles keep the order of two walkers.
        if (deltas_ < 2) {
            ++deltas_;
            return next_trigger(SC_ZERO_TIME);
        }
        if (halted_) return next_trigger(wake_);
        if (!std::exchange(skip_, false) && std::ranges::count(breakpoints, x[pc]) > 0)
            return stop_at({stop_kind::breakpoint, 0});
        const bool stores = x[pc] == 0x40;
        const bool watched = std::ranges::any_of(
            watchpoints, [](auto& w) { return w.on_store && w.address == 0x100; });
        if (stores && watched) return stop_at({stop_kind::watchpoint, 0x100, true});
        x[pc] += 4;
        if (std::exchange(one_, false)) return stop_at({stop_kind::step, 0});
        next_trigger(sc_time(1, SC_NS));
    }
    void stop_at(stop why) {
        halted_ = true;
        stop_ = why;
        stopped_();
        next_trigger(wake_);
    }
    unsigned deltas_ = 0;
    bool halted_ = false, one_ = false, skip_ = false;
    stop stop_;
    std::function<void()> stopped_ = [] {};
    sc_event wake_;
};

class chip : public sc_module {
public:
    explicit chip(sc_module_name name) : sc_module(name) {}
    walker mgmt{"mgmt"}, cc{"cc"};
};

class GdbStubTest : public testing::Test {
public:
    GdbStubTest() {
        for (std::size_t i = 0; i < harts.size(); ++i)
            harts[i].target->on_stop([this, i] { session.hart_stopped(i); });
        loop.on_pause_change([this](bool paused, const std::string& why) {
            if (paused) session.platform_paused(why);
        });
        loop.elaborate();
        EXPECT_NE(ask("qSupported:multiprocess+;swbreak+;hwbreak+").find("multiprocess+"),
                  std::string::npos);
    }
    /// The immediate reply to a packet; "" if there is none.
    std::string ask(std::string_view body) {
        sent.clear();
        session.packet(body);
        return sent.empty() ? "(nothing)" : sent.back();
    }
    /// Like ask(), for packets that resume execution.
    std::string go(std::string_view body, sc_time limit = sc_time(10, SC_US)) {
        sent.clear();
        session.packet(body);
        trn::run_loop::goal g{"test", "a stop"};
        g.until = sc_time_stamp() + limit;
        g.ends_on_pause = true;
        loop.run(g);
        return sent.empty() ? "(nothing)" : sent.back();
    }

    chip c0{"chip0"}, c1{"chip1"};
    trn::run_loop loop{{.policy = {trn::time_policy::kind::lockstep}}};
    std::vector<trn::debug_hart> harts = trn::find_harts();
    std::vector<std::string> sent;
    trn::gdb::stub session{{loop, harts, [](std::string_view c) { return "did " + std::string(c); },
                            [this](std::string_view b) { sent.emplace_back(b); }, [] {}}};
};

TEST_F(GdbStubTest, ChipsAreProcessesAndHartsAreThreads) {
    EXPECT_EQ(ask("?"), "T05thread:p1.1;");
    EXPECT_EQ(ask("qfThreadInfo"), "mp1.1,p1.2,p2.3,p2.4");
    EXPECT_EQ(ask("qsThreadInfo"), "l");
    EXPECT_EQ(ask("qThreadExtraInfo,p2.3"), trn::gdb::hex_text("chip1.mgmt: walking"));
    EXPECT_EQ(ask("Hgp2.4"), "OK");
    EXPECT_EQ(ask("qC"), "QCp2.4");
    EXPECT_EQ(ask("Tp2.4"), "OK");
    EXPECT_EQ(ask("Tp2.1"), "E16");
    EXPECT_NE(ask("qXfer:threads:read::0,1000").find("name=\"chip1.cc\""), std::string::npos);
}

TEST_F(GdbStubTest, RegistersAndMemoryOfTheSelectedHart) {
    EXPECT_EQ(ask("Hgp1.2"), "OK");
    EXPECT_EQ(ask("P5=8877665544332211"), "OK");
    EXPECT_EQ(c0.cc.x[5], 0x1122334455667788u);
    EXPECT_EQ(ask("p5"), "8877665544332211");
    EXPECT_EQ(ask("g").substr(16 * 5, 16), "8877665544332211");
    EXPECT_EQ(ask("p342"), "E16");  // a CSR that this hart does not have
    EXPECT_EQ(ask("M10,3:a1b2c3"), "OK");
    EXPECT_EQ(ask("m10,4"), "a1b2c300");
    EXPECT_EQ(ask(std::string_view("X20,2:}\0", 8)), "OK");  // the framing handles escapes
    EXPECT_EQ(c0.cc.ram[0x20], '}');
    EXPECT_EQ(ask("mffe,8"), "0000");  // truncated to the end of memory
    EXPECT_EQ(ask("m100000,4"), "E0e");
}

TEST_F(GdbStubTest, WriteOverTheEndOfMemoryWritesNothing) {
    EXPECT_EQ(ask("Mffe,4:01020304").front(), 'E');
    EXPECT_EQ(ask("mffe,2"), "0000");
    EXPECT_EQ(ask("Xffe,4:abcd").front(), 'E');
    EXPECT_EQ(ask("mffe,2"), "0000");
    EXPECT_EQ(ask("Mffe,2:0102"), "OK");
}

TEST_F(GdbStubTest, TargetDescriptionListsImplementedCsrs) {
    const auto xml = ask("qXfer:features:read:target.xml:0,3fff");
    EXPECT_EQ(xml[0], 'l');
    EXPECT_NE(xml.find("name=\"mstatus\""), std::string::npos);
    EXPECT_EQ(xml.find("name=\"satp\""), std::string::npos);
    EXPECT_EQ(ask("qXfer:features:read:target.xml:ffffff,10"), "l");
    EXPECT_EQ(ask("qXfer:features:read:other.xml:0,10"), "E00");
}

TEST_F(GdbStubTest, BreakpointStopsTheWholePlatform) {
    EXPECT_EQ(ask("Z0,20,4"), "OK");
    EXPECT_TRUE(c1.mgmt.breakpoints.empty());  // another process
    EXPECT_EQ(go("vCont;c"), "T05swbreak:;thread:p1.1;");
    EXPECT_EQ(c0.mgmt.x[32], 0x20u);
    EXPECT_TRUE(loop.paused());
    const auto now = sc_time_stamp();
    // The other hart of the chip stopped at the same time, and is reported without time passing.
    EXPECT_EQ(go("vCont;c"), "T05swbreak:;thread:p1.2;");
    EXPECT_EQ(sc_time_stamp(), now);
    EXPECT_EQ(ask("z0,20,4"), "OK");
    EXPECT_EQ(go("vCont;c"), "(nothing)");
    EXPECT_GT(c0.mgmt.x[32], 0x20u);
}

TEST_F(GdbStubTest, SteppingOneHartHoldsTheOthersOnRequest) {
    EXPECT_EQ(go("vCont;s:p1.2"), "T05thread:p1.2;");
    EXPECT_EQ(c0.cc.x[32], 4u);
    EXPECT_EQ(c0.mgmt.x[32], 0u);
    EXPECT_EQ(c1.mgmt.x[32], 0u);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(go("vCont;s:p1.2;c"), "T05thread:p1.2;");
    EXPECT_EQ(c0.cc.x[32], 20u);
    EXPECT_GT(c0.mgmt.x[32], 0u);
    EXPECT_EQ(go("s"), "T05thread:p1.2;");
    EXPECT_EQ(c0.cc.x[32], 24u);
}

TEST_F(GdbStubTest, WatchpointStopReportsItsAddress) {
    EXPECT_EQ(ask("Z2,100,8"), "OK");
    EXPECT_EQ(go("vCont;c"), "T05watch:100;thread:p1.1;");
    EXPECT_EQ(ask("z2,100,8"), "OK");
    EXPECT_TRUE(c0.mgmt.watchpoints.empty());
}

TEST_F(GdbStubTest, ControlCStopsRunningHarts) {
    session.packet("vCont;c");
    sent.clear();
    session.interrupt();
    EXPECT_EQ(sent, std::vector<std::string>{"T02thread:p1.1;"});
    session.interrupt();  // already stopped: no report
    EXPECT_EQ(sent.size(), 1u);
}

TEST_F(GdbStubTest, DetachRemovesBreakpointsAndResumes) {
    ask("Z0,20,4");
    ask("Z3,100,4");
    go("vCont;s:p1.1");
    EXPECT_EQ(ask("D"), "OK");
    EXPECT_TRUE(c0.mgmt.breakpoints.empty());
    EXPECT_TRUE(c0.mgmt.watchpoints.empty());
    EXPECT_FALSE(loop.paused());
    EXPECT_FALSE(c0.cc.halted());
}

TEST_F(GdbStubTest, DetachOfOneProcessLeavesTheOthersStopped) {
    ask("Z0,20,4");
    EXPECT_EQ(ask("Hgp2.3"), "OK");
    ask("Z0,20,4");
    EXPECT_EQ(ask("D;1"), "OK");
    EXPECT_TRUE(c0.mgmt.breakpoints.empty());
    EXPECT_EQ(c1.mgmt.breakpoints.size(), 1u);
    EXPECT_TRUE(loop.paused());
    EXPECT_EQ(ask("qfThreadInfo"), "mp2.3,p2.4");
    EXPECT_EQ(ask("Hgp1.1"), "E16");
    EXPECT_EQ(ask("vCont;c:p1.1"), "E16");
    EXPECT_EQ(ask("D;1"), "E16") << "it is detached";
    EXPECT_EQ(go("vCont;s:p2.3"), "T05thread:p2.3;");
    EXPECT_FALSE(c0.mgmt.halted()) << "what is detached runs";
    EXPECT_EQ(go("vCont;c:p2.-1"), "T05swbreak:;thread:p2.3;");
    EXPECT_GE(c0.mgmt.x[32], 0x20u);
    EXPECT_EQ(ask("D;2"), "OK");
    EXPECT_FALSE(loop.paused());
    EXPECT_EQ(ask("qfThreadInfo"), "l");
    EXPECT_EQ(ask("vAttach;2"), "T05thread:p2.3;");
    EXPECT_TRUE(loop.paused());
}

TEST_F(GdbStubTest, HartsRunAfterEachWayOfLeavingInEachState) {
    const std::map<std::string, std::function<void()>> states = {
        {"stopped", [] {}},
        {"running", [&] { session.packet("vCont;c"); }},
        {"stepping, not executed", [&] { session.packet("vCont;s:p1.1"); }},
        {"stepping beside others, not executed", [&] { session.packet("vCont;s:p2.4;c"); }},
        {"stepping all, not executed", [&] { session.packet("vCont;s"); }},
        {"step interrupted",
         [&] {
             session.packet("vCont;s:p1.2");
             session.interrupt();
         }},
        {"stepped, others halted", [&] { go("vCont;s:p1.1"); }},
        {"at a breakpoint",
         [&] {
             for (auto* hart : {&c0.mgmt, &c0.cc, &c1.mgmt, &c1.cc}) hart->x[32] = 0;
             go("vCont;c");
         }},
        {"between the stops of two harts", [&] {
             for (auto* hart : {&c0.mgmt, &c0.cc}) hart->x[32] = 0;
             go("vCont;c");
             go("vCont;s:p1.1");
         }}};
    const std::map<std::string, std::function<void()>> ways = {
        {"detach", [&] { ask("D"); }},
        {"detach each process",
         [&] {
             ask("D;1");
             ask("D;2");
         }},
        {"disconnect", [&] { session.detach(); }}};
    for (const auto& [state, enter] : states)
        for (const auto& [way, leave] : ways) {
            SCOPED_TRACE(state + ", " + way);
            ask("vAttach;2");
            ask("vAttach;1");
            ask("Z0,20,4");
            ask("Z1,24,4");
            ask("Z2,100,8");
            enter();
            if (way != "disconnect") session.interrupt();  // GDB detaches while all is stopped
            leave();
            for (auto* hart : {&c0.mgmt, &c0.cc, &c1.mgmt, &c1.cc}) {
                EXPECT_FALSE(hart->halted());
                EXPECT_TRUE(hart->breakpoints.empty());
                EXPECT_TRUE(hart->watchpoints.empty());
                hart->x[32] = 0x1c;
            }
            trn::run_loop::goal g{"test", "a stop"};
            g.until = sc_time_stamp() + sc_time(1, SC_US);
            g.ends_on_pause = true;
            EXPECT_EQ(loop.run(g).cause, trn::stop_reason::kind::time_limit);
            for (auto* hart : {&c0.mgmt, &c0.cc, &c1.mgmt, &c1.cc}) EXPECT_GT(hart->x[32], 0x200u);
        }
}

TEST_F(GdbStubTest, ControlCEndsAStepThatWasNotExecuted) {
    session.packet("vCont;s:p1.1");
    sent.clear();
    session.interrupt();
    EXPECT_EQ(sent, std::vector<std::string>{"T02thread:p1.1;"});
    EXPECT_EQ(go("vCont;c"), "(nothing)") << "no stop that GDB did not ask for";
    EXPECT_GT(c0.mgmt.x[32], 8u);
}

TEST_F(GdbStubTest, StepsThatEndTogetherAreReportedOnce) {
    EXPECT_EQ(go("vCont;s:p1.1;s:p1.2"), "T05thread:p1.1;");
    EXPECT_EQ(c0.cc.x[32], 4u);
    EXPECT_EQ(go("vCont;s:p1.2"), "T05thread:p1.2;");
    EXPECT_EQ(c0.cc.x[32], 8u) << "its second step is executed";
    EXPECT_TRUE(go("vCont;s:p1.1;s:p1.2").starts_with("T05"));
    EXPECT_EQ(go("vCont;c"), "(nothing)");
}

TEST_F(GdbStubTest, RegistersAndMemoryOfADetachedProcessAreRefused) {
    ask("D");
    for (const auto* body : {"g", "p5", "P5=8877665544332211", "m10,4", "M10,3:a1b2c3", "X10,1:a"})
        EXPECT_EQ(ask(body), "E16") << body;
    EXPECT_EQ(c0.mgmt.ram[0x10], 0u);
}

TEST_F(GdbStubTest, OnlyABreakpointAtAReturnAddressEndsTheWait) {
    ask("Hgp1.1");
    c0.mgmt.x[2] = 0x400;                // sp
    const std::uint64_t outer = 0x1234;  // saved by a function
    std::memcpy(c0.mgmt.ram + 0x408, &outer, sizeof outer);
    c0.mgmt.x[1] = 0x5678;  // ra
    const auto runs_to = [&](const std::string& address) {
        ask("Z0," + address + ",4");
        session.packet("vCont;c");
        session.interrupt();
        ask("z0," + address + ",4");
        return std::exchange(c0.mgmt.ended_waits, 0u);
    };
    EXPECT_EQ(runs_to("4000"), 0u);
    EXPECT_EQ(runs_to("1234"), 1u);
    EXPECT_EQ(runs_to("5678"), 1u);
    session.packet("vCont;c");
    session.interrupt();
    EXPECT_EQ(c0.mgmt.ended_waits, 0u);
    EXPECT_EQ(c0.cc.ended_waits, 0u);
}

TEST_F(GdbStubTest, StepBreakpointEndsTheWaitUnlessGdbReadTheTargetDescription) {
    const auto steps = [&](const std::string& id, walker& hart) {
        ask("Hg" + id);
        hart.x[32] = 0x200;
        ask("Z0,204,4");
        session.packet("vCont;c");
        session.interrupt();
        ask("z0,204,4");
        return std::exchange(hart.ended_waits, 0u);
    };
    EXPECT_EQ(steps("p1.1", c0.mgmt), 1u);
    ask("Hgp1.1");
    ask("qXfer:features:read:target.xml:0,10");
    EXPECT_EQ(steps("p1.1", c0.mgmt), 0u) << "a breakpoint of the user's";
    EXPECT_EQ(steps("p2.3", c1.mgmt), 1u);
    EXPECT_EQ(c1.cc.ended_waits, 0u);
}

TEST_F(GdbStubTest, SoftwareAndHardwareBreakpointsAtOneAddressAreSeparate) {
    ask("Z0,20,4");
    ask("Z1,20,4");
    EXPECT_EQ(go("vCont;c:p1.1"), "T05swbreak:;thread:p1.1;");
    EXPECT_EQ(ask("z0,20,4"), "OK");
    c0.mgmt.x[32] = 0;
    EXPECT_EQ(go("vCont;c:p1.1"), "T05hwbreak:;thread:p1.1;");
    EXPECT_EQ(ask("z1,20,4"), "OK");
    EXPECT_TRUE(c0.mgmt.breakpoints.empty());
}

TEST_F(GdbStubTest, StopAtARemovedWatchpointIsNotReported) {
    ask("Z2,100,8");
    EXPECT_EQ(go("vCont;c"), "T05watch:100;thread:p1.1;");
    ask("z2,100,8");  // the other hart of the chip has stopped there too
    EXPECT_EQ(go("vCont;c"), "(nothing)");
    EXPECT_GT(c0.cc.x[32], 0x40u);
}

TEST_F(GdbStubTest, WatchpointsReachTheEndOfTheAddressSpace) {
    for (const auto* place : {"fffffffffffffff8,8", "ffffffffffffffff,1"}) {
        EXPECT_EQ(ask(std::string("Z2,") + place), "OK");
        EXPECT_EQ(ask(std::string("z2,") + place), "OK");
    }
    EXPECT_TRUE(c0.mgmt.watchpoints.empty());
}

TEST_F(GdbStubTest, MonitorOutputIsSplitIntoPackets) {
    sent.clear();
    session.packet("qRcmd," + trn::gdb::hex_text("status"));
    EXPECT_EQ(sent, (std::vector<std::string>{"O" + trn::gdb::hex_text("did status"), "OK"}));
}

TEST_F(GdbStubTest, ProgramExitIsReported) {
    session.packet("vCont;c");
    session.exited(3);
    EXPECT_EQ(sent.back(), "W03;process:1");
}

TEST_F(GdbStubTest, MalformedPacketsAreRefusedAndChangeNothing) {
    for (const auto* packet : {"m",
                               "m,",
                               "mx,4",
                               "m10",
                               "M10,3:a1b2",
                               "M10,3:zz",
                               "Mffffffffffffffff,8:0011223344556677",
                               "P5",
                               "P5=12",
                               "P=0",
                               "Pffffffff=0000000000000000",
                               "G00",
                               "p",
                               "pfffffffffffffffffff",
                               "Z0",
                               "Z0,",
                               "Z0,zz,4",
                               "Z2,0,0",
                               "Z2,0,fffffff",
                               "Z2,fffffffffffffff8,9",
                               "Z4,ffffffffffffffff,2",
                               "H",
                               "Hg",
                               "Hgp9.9",
                               "Hgpx",
                               "T",
                               "vCont;",
                               "vCont;x",
                               "vCont;c:p9.9",
                               "vAttach;99",
                               "cnowhere",
                               "qRcmd,1",
                               "qXfer:features:read:target.xml:",
                               "qXfer:features:write:target.xml:0,1",
                               "qThreadExtraInfo,p7.7"}) {
        const auto reply = ask(packet);
        EXPECT_TRUE(reply.starts_with("E")) << packet << " -> " << reply;
    }
    for (const auto* packet :
         {"", "vMustReplyEmpty", "qOffsets", "QNonStop:1", "Z9,0,4", "i", "vFile:open:00"})
        EXPECT_EQ(ask(packet), "") << packet;
    EXPECT_TRUE(loop.paused());
    EXPECT_EQ(sc_time_stamp(), SC_ZERO_TIME);
}

TEST_F(GdbStubTest, BreakpointsAreBounded) {
    std::string reply = "OK";
    std::size_t set = 0;
    while (reply == "OK" && set < 10'000) reply = ask("Z0," + std::to_string(++set) + ",4");
    EXPECT_EQ(set, trn::gdb::points::max_points + 1);
}

TEST_F(GdbStubTest, SurvivesRandomPackets) {
    std::mt19937_64 random(7);
    const std::string_view letters = "gGpPmMXHTZzcsvqQDk?!0123456789abcdef,;:=.-";
    for (int i = 0; i < 20'000; ++i) {
        std::string packet;
        for (auto n = random() % 24; n > 0; --n) packet += letters[random() % letters.size()];
        session.packet(packet);
        session.interrupt();
        session.packet(i % 2 == 0 ? "vAttach;1" : "vAttach;2");
    }
    sent.clear();
    session.packet("?");
    EXPECT_TRUE(sent.back().starts_with("T")) << sent.back();
}

TEST(MonitorCommandTest, CallsControlMethodsByName) {
    trn::run_loop loop{{.policy = {trn::time_policy::kind::lockstep}}};
    trn::control api{loop, {"0.1.0", "b", "d"}};
    EXPECT_NE(trn::monitor_command(api, "status").find("\"paused\": false"), std::string::npos);
    EXPECT_NE(trn::monitor_command(api, "help").find("peek"), std::string::npos);
    EXPECT_TRUE(
        trn::monitor_command(api, "peek space=nowhere address=0x10").starts_with("error: "));
    EXPECT_TRUE(trn::monitor_command(api, "peek nowhere").starts_with("error: "));
    EXPECT_TRUE(trn::monitor_command(api, "wait for=\"1 us\"").starts_with("error: "));
}

}  // namespace

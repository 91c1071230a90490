// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/inside_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "platform/app/in_process/absent_function.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/scenario/language/step.h"
#include "tests/support/tlm_driver.h"

namespace trn::scenario {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

struct printer : sc_core::sc_module, console {
    explicit printer(sc_core::sc_module_name) {}
    void on_output(sink added) override { sinks.push_back(std::move(added)); }
    std::size_t type(std::string_view text) override { return text.size(); }
    void print(std::string_view text) const {
        for (const auto& each : sinks) each(text);
    }
    std::vector<sink> sinks;
};

/// The agent of a guest: what a test says that it answers.
struct agent : sc_core::sc_module, byte_channel {
    explicit agent(sc_core::sc_module_name) {}
    void on_output(console::sink added) override { sinks.push_back(std::move(added)); }
    std::size_t type(std::string_view bytes) override {
        typed += bytes;
        if (answers) answers();
        return std::min(bytes.size(), room);
    }
    void say(std::string_view text) const {
        for (const char c : text)
            for (const auto& each : sinks) each({&c, 1});
    }
    void always(const std::string& answer) {
        answers = [this, answer] { say(answer); };
    }
    std::string typed;
    std::size_t room = 1 << 20;
    std::function<void()> answers;
    std::vector<console::sink> sinks;
};

struct server : sc_core::sc_module {
    explicit server(sc_core::sc_module_name) {
        nobody.out.bind(exchange.in);
        nothing.out.bind(ram.in);
    }
    printer uart{"uart"};
    struct agent agent {
        "agent"
    };
    memory exchange{"exchange", {.size = 4096}};
    memory ram{"ram", {.size = 1 << 20}};
    test::tlm_driver nobody{"nobody"}, nothing{"nothing"};
};

struct InsideHosts : testing::Test {
    /// Returns the failure, "" without.
    std::string play(const std::function<void(waits&)>& work) {
        std::string failure = "it still waits";
        cpu.run([&] {
            device none(transport);
            waits passing(none);
            try {
                work(passing);
                failure.clear();
            } catch (const step_failure& wrong) {
                failure = wrong.what();
            }
        });
        sc_core::sc_start(1, sc_core::SC_SEC);
        return failure;
    }
    std::string run(const std::string& command, inside_host::answer* answer = nullptr) {
        return play([&](waits& passing) {
            auto found = all.find("").run(command, passing, 1000);
            if (answer != nullptr) *answer = std::move(found);
        });
    }
    /// The failure of a command with this response.
    std::string answered(const std::string& response) {
        first.agent.say("ready\n");
        first.agent.always(response);
        return run("x");
    }

    server first{"linux0"}, second{"linux1"};
    console_log consoles;
    inside_hosts all{consoles};
    absent_function function;
    host_cpu cpu{function, {.name = "steps"}};
    trn_transport transport = cpu.transport();
};

TEST_F(InsideHosts, AreReadyWhenEachAgentRuns) {
    first.agent.say("noise\nready\n");
    EXPECT_THAT(play([&](waits& w) { all.await_ready(w, 1000); }),
                AllOf(HasSubstr("linux1: no agent within"), HasSubstr("does not run yet")));
    second.agent.say(std::string(10'000, 'x') + "ready\n");
    EXPECT_EQ(play([&](waits& w) { all.await_ready(w, 1000); }), "");
}

TEST_F(InsideHosts, RunACommandAndGetItsOutput) {
    EXPECT_THAT(run("x"), HasSubstr("Linux has not booted"));
    first.agent.say("ready\n");
    first.agent.always(std::string("done 3 6\na\n\xff\0b\n", 15));
    inside_host::answer answer;
    EXPECT_EQ(run("echo\n'a' ", &answer), "");
    EXPECT_EQ(answer.status, 3);
    EXPECT_EQ(answer.bytes, std::string("a\n\xff\0b\n", 6));
    EXPECT_EQ(first.agent.typed, "run 9 -\necho\n'a' ");
    EXPECT_EQ(second.agent.typed, "");
}

TEST_F(InsideHosts, AnAnswerThatIsNoHeaderEndsTheWait) {
    for (const char* wrong :
         {"hello\n", "done\n", "done 3\n", "done  5\n", "done 0x5\n", "done 0 5x\n", "done 0 -1\n",
          "done 99999999999 0\n", "done 0 99999999999999999999\n", "done 0 0 0\n"})
        EXPECT_THAT(answered(wrong), HasSubstr("its agent answers '")) << wrong;
}

/// A line without an end is not waited for.
TEST_F(InsideHosts, AHeaderIsShort) {
    EXPECT_THAT(answered(std::string(300, 'x')), HasSubstr("its agent answers 'xxx"));
}

TEST_F(InsideHosts, AnAnswerIsBounded) {
    EXPECT_THAT(answered("done 0 4194305\n"), HasSubstr("with 4194305 bytes, at most 4194304"));
    first.agent.room = 3;
    EXPECT_THAT(run("1234"), HasSubstr("is too long"));
}

TEST_F(InsideHosts, ARebootedAgentDoesNotAnswer) {
    EXPECT_THAT(answered("ready\n"), HasSubstr("linux0: its Linux has booted again"));
    first.agent.always("done 0 0\n");
    EXPECT_EQ(run("x"), "");
}

TEST_F(InsideHosts, WaitsEndAtTheirLimit) {
    EXPECT_THAT(answered("done 0 5\n123"),
                HasSubstr("linux0: no answer within 1 us: 12 bytes have come"));
    first.agent.always("done 0 0\n");
    EXPECT_EQ(run("x"), "");
}

TEST_F(InsideHosts, AKernelThatEndsSaysSo) {
    first.agent.say("ready\n");
    first.agent.answers = [this] {
        second.uart.print("[    2.5] Kernel panic - not syncing: of the other\n");
        first.uart.print("~ # echo Kernel panic - not syncing: no\n[    1.8");
        first.uart.print("44] Kernel panic - not syncing: sysrq\r\n[    1.9] more\n");
    };
    EXPECT_THAT(run("x"), HasSubstr("linux0: its kernel says '[    1.844] Kernel panic - not "
                                    "syncing: sysrq'"));
}

TEST_F(InsideHosts, ABootThatEndsNamesAllThatAreNotReady) {
    const auto wait = [&] { return play([&](waits& w) { all.await_ready(w, 1000); }); };
    EXPECT_THAT(wait(), AllOf(HasSubstr("linux0: no agent within"),
                              EndsWith("does not run yet; not ready either: linux1")));
    first.uart.print("[    0.001 ms] host boot ROM\n\n[    0.0");
    EXPECT_THAT(wait(), HasSubstr("its console's last line is '[    0.001 ms] host boot ROM'"));
    first.uart.print("02 ms] error: loader: the image store is empty\n");
    EXPECT_THAT(wait(), HasSubstr("its kernel says '[    0.002 ms] error: loader: the image "
                                  "store is empty'"));
}

TEST_F(InsideHosts, ReturnMemoryThatIsZero) {
    std::memset(first.ram.bytes().data(), 1, 8192);
    std::memset(first.ram.bytes().data(), 0, 4096);
    first.agent.say("ready\n");
    second.agent.say("ready\n");
    EXPECT_EQ(first.ram.bytes().resident(), 8192u);
    EXPECT_EQ(play([&](waits& w) { all.await_ready(w, 1000); }), "");
    EXPECT_EQ(first.ram.bytes().resident(), 4096u);
}

TEST_F(InsideHosts, AMachineThatIsOffSaysSoUntilItsNextBoot) {
    first.agent.say("ready\n");
    first.agent.answers = [this] { first.uart.print("[    2.5] reboot: Power down\n"); };
    EXPECT_THAT(run("x"), HasSubstr("its kernel says '[    2.5] reboot: Power down'"));
    first.agent.always("done 0 0\n");
    EXPECT_THAT(run("x"), HasSubstr("Power down"));
    first.agent.say("ready\n");
    EXPECT_EQ(run("x"), "");
}

TEST_F(InsideHosts, AMachineThatRestartsIsNotReadyUntilItHasBooted) {
    first.agent.say("ready\n");
    second.agent.say("ready\n");
    first.uart.print("[    2.5] reboot: Restarting system\n");
    EXPECT_THAT(run("x"), HasSubstr("Linux has not booted"));
    EXPECT_THAT(play([&](waits& w) { all.await_ready(w, 1000); }), HasSubstr("linux0: no agent"));
    first.agent.say("ready\n");
    EXPECT_EQ(play([&](waits& w) { all.await_ready(w, 1000); }), "");
}

TEST_F(InsideHosts, GetAndPutFilesThroughTheExchange) {
    first.agent.say("ready\n");
    first.agent.always("done 0 0\n");
    EXPECT_EQ(play([&](waits& w) { all.find("linux0").put("/a b", "xyz", w, 1000); }), "");
    EXPECT_EQ(first.agent.typed, "put 3 /a b\n");
    EXPECT_EQ(first.exchange.bytes().data()[2], 'z');
    EXPECT_THAT(play([&](waits& w) { all.find("").put("/a", std::string(4097, 'x'), w, 1000); }),
                HasSubstr("no room for a file of 4097 bytes"));

    std::string got;
    const auto get = [&](const std::string& response) {
        first.agent.always(response);
        return play([&](waits& w) { got = all.find("").get("/a", w, 1000).bytes; });
    };
    EXPECT_EQ(get("done 0 2\n3\n"), "");
    EXPECT_EQ(got, "xyz");
    EXPECT_EQ(get("done 0 2\n0\n"), "");
    EXPECT_EQ(got, "");
    EXPECT_THAT(get("done 0 5\n4097\n"), HasSubstr("/a has 4097 bytes, which have no room"));
    EXPECT_THAT(get("done 0 2\nx\n"), HasSubstr("says that /a has 'x' bytes"));
    EXPECT_THAT(get("done 0 0\n"), HasSubstr("says that /a has '' bytes"));
}

TEST_F(InsideHosts, AreFoundByTheirNames) {
    EXPECT_EQ(all.find("").name(), "linux0");
    EXPECT_EQ(all.find("linux1").name(), "linux1");
    EXPECT_THAT(play([&](waits&) { all.find("linx1"); }),
                AllOf(HasSubstr("there is no server 'linx1'"), HasSubstr("'linux1'")));
}

/// What the agent says is not for people.
TEST_F(InsideHosts, AgentIsNoConsole) {
    EXPECT_EQ(consoles.all().size(), 2u);
    EXPECT_EQ(consoles.find("linux0.agent"), nullptr);
}

}  // namespace
}  // namespace trn::scenario

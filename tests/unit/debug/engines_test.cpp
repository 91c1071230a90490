// SPDX-License-Identifier: Apache-2.0
// The control methods about engines, over a module whose two engines are in a known state.
#include "platform/framework/debug/engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "platform/framework/kernel/runs_programs.h"

namespace trn::test {
namespace {

using rpc::code;
using rpc::json;

/// `first` was never started; `second` has the state `now`.
class programmed_core : public sc_core::sc_module, public runs_programs {
public:
    explicit programmed_core(const sc_core::sc_module_name& name) : sc_module(name) {}

    std::vector<std::string_view> engine_names() const override { return {"first", "second"}; }
    bool has_started(unsigned engine) const override { return engine == 1; }
    program_state inspect(unsigned engine) const override {
        program_state idle;
        idle.state = "idle";
        return engine == 1 ? now : idle;
    }
    void order(unsigned engine, command ordered) override { orders.emplace_back(engine, ordered); }
    bool set_register(unsigned engine, unsigned number, std::uint32_t value) override {
        if (number >= now.registers.size()) return false;
        written.emplace_back(engine, number, value);
        now.registers[number] = value;
        return true;
    }
    void add_break(unsigned engine, std::uint32_t pc) override { all_breaks[engine].insert(pc); }
    void remove_break(unsigned engine, std::uint32_t pc) override { all_breaks[engine].erase(pc); }
    std::vector<std::uint32_t> breaks(unsigned engine) const override {
        const auto found = all_breaks.find(engine);
        if (found == all_breaks.end()) return {};
        return {found->second.begin(), found->second.end()};
    }
    void break_at_next(unsigned engine) override { next.push_back(engine); }
    void on_break(std::function<void(const std::string&)> hit) override { paused = std::move(hit); }

    program_state now{
        "failed",      "waits for S[4] >= 16, which is 2", "nop", "bad_operand at 7", 7, 3,
        {0, 11, 0, 13}};
    std::vector<std::pair<unsigned, command>> orders;
    std::vector<std::tuple<unsigned, unsigned, std::uint32_t>> written;
    std::map<unsigned, std::set<std::uint32_t>> all_breaks;
    std::vector<unsigned> next;
    std::function<void(const std::string&)> paused;
};

class silent_caller : public rpc::caller {
public:
    void notify(std::string_view, const json&) override {}
};

struct EngineMethods : testing::Test {
    programmed_core core{"core"};
    run_loop loop{{.policy = {time_policy::kind::lockstep}}};
    control api{loop, {"0.1.0", "test-board", "abc"}};
    silent_caller client;

    EngineMethods() {
        loop.elaborate();
        add_engines(api);
    }
    json ask(std::string_view method, const json& params) {
        std::string text;
        rpc::execute(
            api.methods(),
            json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}}.dump(),
            client, [&](std::string t) { text = std::move(t); });
        return json::parse(text);
    }
    json result(std::string_view method, const json& params) {
        const auto reply = ask(method, params);
        EXPECT_TRUE(reply.contains("result")) << reply.dump();
        return reply.value("result", json());
    }
    std::string refusal(std::string_view method, const json& params) {
        const auto reply = ask(method, params);
        EXPECT_TRUE(reply.contains("error")) << reply.dump();
        return reply.contains("error") ? reply["error"]["message"].get<std::string>() : "";
    }
    std::string refused_command(const std::string& state, const std::string& command) {
        core.now.state = state;
        return refusal("engine_control", {{"engine", "core.second"}, {"command", command}});
    }
};

TEST_F(EngineMethods, ListShowsStartedEnginesWithWaitAndError) {
    const json all = {{{"name", "core.second"},
                       {"state", "failed"},
                       {"pc", 7},
                       {"wait", "waits for S[4] >= 16, which is 2"},
                       {"error", "bad_operand at 7"}}};
    EXPECT_EQ(result("list", {{"what", "engines"}}), all);
    core.now.wait = core.now.error = "";
    const json brief = {{{"name", "core.second"}, {"state", "failed"}, {"pc", 7}}};
    EXPECT_EQ(result("list", {{"what", "engines"}}), brief);
}

TEST_F(EngineMethods, EngineShowsEveryFieldAndRegistersThatAreNotZero) {
    core.add_break(1, 9);
    EXPECT_EQ(result("engine", {{"engine", "core.second"}}),
              (json{{"name", "core.second"},
                    {"state", "failed"},
                    {"pc", 7},
                    {"wait", "waits for S[4] >= 16, which is 2"},
                    {"error", "bad_operand at 7"},
                    {"retired", 3},
                    {"instruction", "nop"},
                    {"breaks", {9}},
                    {"registers", {{"R1", 11}, {"R3", 13}}}}));
    EXPECT_EQ(result("engine", {{"engine", "core.first"}})["state"], "idle");
}

TEST_F(EngineMethods, EngineWritesARegisterFirst) {
    EXPECT_EQ(
        result("engine",
               {{"engine", "core.second"}, {"register", "R2"}, {"value", 5}})["registers"]["R2"],
        5);
    result("engine", {{"engine", "core.second"}, {"register", "r0"}, {"value", 0xffff'ffffu}});
    EXPECT_EQ(core.written, (std::vector<std::tuple<unsigned, unsigned, std::uint32_t>>{
                                {1, 2, 5}, {1, 0, 0xffff'ffff}}));
}

TEST_F(EngineMethods, EngineRefusesOtherNamesAndValues) {
    const auto write = [&](const std::string& engine, const std::string& name, std::uint64_t v) {
        return refusal("engine", {{"engine", engine}, {"register", name}, {"value", v}});
    };
    EXPECT_THAT(write("core.secnd", "R1", 1), testing::HasSubstr("did you mean 'core.second'"));
    EXPECT_THAT(write("core.first", "R1", 1), testing::HasSubstr("core.first was never started"));
    for (const auto* name : {"", "R", "3", "x1", "R1x", "-1"})
        EXPECT_THAT(write("core.second", name, 1), testing::HasSubstr("R0 to R63")) << name;
    EXPECT_THAT(write("core.second", "R1", 1ull << 32), testing::HasSubstr("32 bits"));
    EXPECT_THAT(write("core.second", "R4", 1), testing::HasSubstr("R4 of core.second cannot"));
    EXPECT_TRUE(core.written.empty());
}

TEST_F(EngineMethods, ControlGivesOrdersThatTheStateAllows) {
    const auto control = [&](const std::string& state, const std::string& command) {
        core.now.state = state;
        result("engine_control", {{"engine", "core.second"}, {"command", command}});
    };
    using c = runs_programs::command;
    control("running", "stop");
    control("stopped", "continue");
    control("stopped", "step");
    EXPECT_EQ(core.orders,
              (std::vector<std::pair<unsigned, c>>{{1, c::stop}, {1, c::resume}, {1, c::step}}));
    control("running", "step");  // pauses before the next instruction; no order
    control("waiting", "step");
    EXPECT_EQ(core.orders.size(), 3u);
    EXPECT_EQ(core.next, (std::vector<unsigned>{1, 1, 1}));
    EXPECT_EQ(refused_command("running", "continue"), "core.second is running, not stopped");
    EXPECT_EQ(refused_command("failed", "step"), "core.second is failed");
    EXPECT_THAT(refused_command("idle", "halt"),
                testing::HasSubstr("stop, continue, step, break or clear"));
    EXPECT_EQ(core.orders.size(), 3u);
    EXPECT_EQ(refusal("engine_control", {{"engine", "core.first"}, {"command", "stop"}}),
              "core.first was never started");
}

TEST_F(EngineMethods, BreakpointsAreSetAndClearedOnAnyEngineUpTo256) {
    const auto at = [](const char* engine, const char* command, std::uint64_t pc) {
        return json{{"engine", engine}, {"command", command}, {"pc", pc}};
    };
    EXPECT_EQ(result("engine_control", at("core.first", "break", 0xffff'ffff))["breaks"],
              (json{0xffff'ffffu}));
    EXPECT_EQ(result("engine_control", at("core.first", "clear", 0xffff'ffff))["breaks"],
              json::array());
    EXPECT_THAT(refusal("engine_control", at("core.first", "break", 1ull << 32)),
                testing::HasSubstr("32 bits"));
    for (unsigned pc = 0; pc < 256; ++pc) result("engine_control", at("core.second", "break", pc));
    EXPECT_EQ(refusal("engine_control", at("core.second", "break", 256)),
              "an engine has at most 256 breakpoints");
    ASSERT_TRUE(core.paused);
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/control.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "platform/framework/kernel/faults.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/deferring_memory.h"

namespace {

using namespace sc_core;
using trn::rpc::code;
using trn::rpc::json;

/// A module with statistics, an output line on request, faults, and a ready time of 1 ms.
class gadget : public sc_module,
               public trn::publishes_statistics,
               public trn::accepts_faults,
               public trn::reports_ready,
               public trn::console {
public:
    explicit gadget(sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(gadget);
        SC_METHOD(tick);
    }
    void publish(trn::statistics& out) const override { out.count("ticks", ticks); }
    std::vector<fault> faults() override {
        return {{"stop_ticking",
                 "no ticks any more",
                 {trn::fault_argument::number("at", 0, 1000, "a tick")},
                 [this](const trn::fault_values& given) { stop_at = given.number("at"); }}};
    }
    bool ready() const override { return ticks >= 100; }
    void on_output(sink to) override { out = std::move(to); }
    std::size_t type(std::string_view characters) override {
        typed += characters;
        return characters.size();
    }

    std::uint64_t ticks = 0, stop_at = ~0ull;
    std::string typed;
    sink out;

private:
    bool begun_ = false;

    void tick() {
        // As harts: not while the platform is elaborated.
        if (!std::exchange(begun_, true)) return next_trigger(SC_ZERO_TIME);
        if (++ticks == 50 && out) out("boot: half way\xff\n");
        if (ticks < stop_at) next_trigger(sc_time(10, SC_US));
    }
};

class listener : public trn::rpc::caller {
public:
    listener() { name = "test"; }
    void notify(std::string_view method, const json& params) override {
        received.emplace_back(method, params);
    }
    std::vector<std::pair<std::string, json>> received;
};

class ControlTest : public testing::Test {
public:
    ControlTest() {
        noc.initiator.bind(ram.in);
        noc.initiator.bind(slow.in);
        noc.map({.base = 0x1000, .size = 0x1000, .target_base = 0, .port = 0});
        noc.map({.base = 0x2000, .size = 0x1000, .target_base = 0, .port = 1});
    }

    json ask(const json& request) {
        std::string text;
        trn::rpc::execute(api.methods(),
                          request.is_string() ? request.get<std::string>() : request.dump(), client,
                          [&](std::string t) { text = std::move(t); });
        return text.empty() ? json() : json::parse(text);
    }
    json result(std::string_view method, const json& params = json::object()) {
        const auto reply =
            ask({{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}});
        EXPECT_TRUE(reply.contains("result")) << reply.dump();
        return reply.value("result", json());
    }
    int error(std::string_view method, const json& params = json::object()) {
        const auto reply =
            ask({{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}});
        EXPECT_TRUE(reply.contains("error")) << reply.dump();
        return reply["error"]["code"];
    }

    trn::memory ram{"ram", {.size = 0x1000}};
    trn::router noc{"noc", {}};
    trn::test::deferring_memory slow{"slow"};
    gadget g{"gadget"};
    trn::run_loop loop{{.policy = {trn::time_policy::kind::lockstep}}};
    trn::control api{loop, {"0.1.0", "test-board", "abc"}};
    listener client;
};

TEST_F(ControlTest, HelloSucceedsWhenEveryFieldMatches) {
    const auto r =
        result("hello", {{"protocol", 1}, {"board", "test-board"}, {"endianness", "little"}});
    EXPECT_EQ(r["digest"], "abc");
    EXPECT_TRUE(client.greeted);
}

TEST_F(ControlTest, HelloMismatchIsRefusedWithOneSentence) {
    auto reply =
        ask({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "hello"}, {"params", {{"protocol", 2}}}});
    EXPECT_EQ(reply["error"]["message"],
              "the client speaks control protocol 2, this trnvp 0.1.0 speaks 1");
    reply = ask({{"jsonrpc", "2.0"},
                 {"id", 1},
                 {"method", "hello"},
                 {"params", {{"protocol", 1}, {"board", "other"}}}});
    EXPECT_EQ(reply["error"]["message"],
              "the client expects board 'other', this platform is 'test-board'");
    EXPECT_FALSE(client.greeted);
}

TEST_F(ControlTest, AWriteThatItsTargetDefersIsPosted) {
    loop.elaborate();
    result("poke", {{"space", "noc"}, {"address", 0x2010}, {"value", 0x1234}});
    result("bus_write", {{"space", "noc"}, {"address", 0x2018}, {"value", 7}, {"width", 1}});
    EXPECT_EQ(slow.bytes[0x10], 0);
    sc_start(1, SC_US);
    EXPECT_EQ(slow.bytes[0x10], 0x34);
    EXPECT_EQ(slow.bytes[0x18], 7);
    slow.latency = sc_time(1, SC_SEC);
    for (unsigned n = 0; n < 64; ++n)
        result("poke", {{"space", "slow"}, {"address", 4 * n}, {"value", 1}});
    EXPECT_EQ(error("poke", {{"space", "slow"}, {"address", 0}, {"value", 1}}),
              static_cast<int>(code::failed));
    sc_start(20, SC_MS);  // they are dropped
    EXPECT_EQ(slow.bytes[0], 0);
    slow.latency = sc_time(30, SC_NS);
    result("poke", {{"space", "slow"}, {"address", 0}, {"value", 1}});
    sc_start(1, SC_US);
    EXPECT_EQ(slow.bytes[0], 1);
}

TEST_F(ControlTest, PeekAndPokeReachMemoriesThroughEveryNamedSpace) {
    loop.elaborate();
    result("poke", {{"space", "ram"}, {"address", 16}, {"data", "0102ABcd"}});
    EXPECT_EQ(result("peek", {{"space", "noc"}, {"address", "0x1010"}, {"size", 4}}),
              (json{{"data", "0102abcd"}, {"value", 0xcdab0201u}}));
    result("poke", {{"space", "noc.target"}, {"address", 0x1020}, {"value", 0x1234}, {"width", 2}});
    EXPECT_EQ(result("peek", {{"space", "ram.in"}, {"address", 0x20}, {"size", 8}})["value"],
              0x1234);
}

TEST_F(ControlTest, BusAccessesAreAnsweredByTheTarget) {
    loop.elaborate();
    result("bus_write", {{"space", "noc"}, {"address", 0x1008}, {"value", 7}, {"width", 8}});
    EXPECT_EQ(result("bus_read", {{"space", "ram"}, {"address", 8}})["value"], 7);
    const auto reply = ask({{"jsonrpc", "2.0"},
                            {"id", 1},
                            {"method", "bus_read"},
                            {"params", {{"space", "noc"}, {"address", 0x9000}}}});
    EXPECT_EQ(reply["error"]["message"], "noc returned TLM_ADDRESS_ERROR_RESPONSE at 0x9000");
    EXPECT_EQ(error("bus_read", {{"space", "ram"}, {"address", 0}, {"width", 3}}),
              static_cast<int>(code::invalid_params));
}

TEST_F(ControlTest, BusAccessesDoNotCutTheirNumbers) {
    const json at = {{"space", "noc"}, {"address", 0x1000}};
    const auto with = [&](const json& more) {
        auto all = at;
        all.update(more);
        return all;
    };
    EXPECT_EQ(error("bus_write", with({{"width", 1}, {"value", 0x100}})),
              static_cast<int>(code::invalid_params));
    EXPECT_EQ(error("bus_read", with({{"width", (1ull << 32) + 4}})),
              static_cast<int>(code::invalid_params));
}

TEST_F(ControlTest, PeekOutsideAnyTargetSaysWhere) {
    loop.elaborate();
    const auto reply = ask({{"jsonrpc", "2.0"},
                            {"id", 1},
                            {"method", "peek"},
                            {"params", {{"space", "noc"}, {"address", 0x9000}}}});
    EXPECT_EQ(reply["error"]["message"], "no response from noc at 0x9000");
    EXPECT_EQ(error("peek", {{"space", "nowhere"}, {"address", 0}}),
              static_cast<int>(code::not_found));
}

TEST_F(ControlTest, BadParametersNameTheParameter) {
    loop.elaborate();
    for (const json& params :
         {json{{"space", "ram"}, {"address", -1}}, json{{"space", "ram"}, {"address", "12q"}},
          json{{"space", "ram"}, {"address", 0}, {"size", 0}},
          json{{"space", "ram"}, {"address", 0}, {"size", 1 << 30}},
          json{{"space", 5}, {"address", 0}}, json{{"space", "ram"}, {"address", 0}, {"sise", 1}},
          json::array({1, 2})})
        EXPECT_EQ(error("peek", params), static_cast<int>(code::invalid_params)) << params;
    for (const json& params : {json{{"space", "ram"}, {"address", 0}, {"data", "123"}},
                               json{{"space", "ram"}, {"address", 0}, {"data", "zz"}},
                               json{{"space", "ram"}, {"address", 0}, {"value", 256}, {"width", 1}},
                               json{{"space", "ram"}, {"address", 0}, {"value", 1}, {"width", 3}},
                               json{{"space", "ram"}, {"address", 0}}})
        EXPECT_EQ(error("poke", params), static_cast<int>(code::invalid_params)) << params;
    EXPECT_EQ(error("run", {{"for", "10"}}), static_cast<int>(code::invalid_params));
    EXPECT_EQ(error("run", {{"for", 10}}), static_cast<int>(code::invalid_params));
    EXPECT_EQ(error("wait", {{"wall_limit", -1}}), static_cast<int>(code::invalid_params));
    const json byte = {{"space", "ram"}, {"address", 0}, {"width", 1}, {"equals", 0x1ff}};
    EXPECT_EQ(error("wait", {{"memory", byte}}), static_cast<int>(code::invalid_params));
    EXPECT_FALSE(loop.paused());
}

TEST_F(ControlTest, MalformedRequestsGetTheErrorsOfTheSpecification) {
    EXPECT_EQ(ask("{nonsense")["error"]["code"], -32700);
    EXPECT_EQ(ask("[]")["error"]["code"], -32600);
    EXPECT_EQ(ask("3")["error"]["code"], -32600);
    EXPECT_EQ(ask(R"({"jsonrpc":"1.0","id":1,"method":"status"})")["error"]["code"], -32600);
    EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":[[1]],"method":"status"})")["error"]["code"], -32600);
    EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":7})")["error"]["code"], -32600);
    EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"fly"})")["error"]["code"], -32601);
    EXPECT_TRUE(ask(R"({"jsonrpc":"2.0","method":"status"})").is_null());  // a notification
    EXPECT_EQ(ask(std::string(100'000, '['))["error"]["code"], -32700);
}

TEST_F(ControlTest, RunForPausesExactlyAtItsEndTime) {
    json reply;
    trn::rpc::execute(api.methods(),
                      R"({"jsonrpc":"2.0","id":1,"method":"run","params":{"for":"250 us"}})",
                      client, [&](std::string text) {
                          reply = json::parse(text);
                          loop.quit("answered");
                      });
    EXPECT_TRUE(reply.is_null());
    loop.serve();
    EXPECT_EQ(reply["result"]["reason"], "time_limit");
    EXPECT_EQ(reply["result"]["time_ps"], 250'000'000u);
    EXPECT_TRUE(loop.paused());
    EXPECT_EQ(g.ticks, 25u);
}

TEST_F(ControlTest, WaitReturnsOnChipReadyOrMatchingConsoleOutput) {
    client.attachment = loop.attach("test");
    std::vector<json> replies;
    const auto collect = [&](std::string text) {
        replies.push_back(json::parse(text));
        if (replies.size() == 3) loop.quit("answered");
    };
    loop.elaborate();
    for (
        const auto* request :
        {R"({"jsonrpc":"2.0","id":1,"method":"wait","params":{"condition":"ready"}})",
         R"({"jsonrpc":"2.0","id":2,"method":"wait","params":{"uart":{"module":"gadget","text":"half way"}}})",
         R"({"jsonrpc":"2.0","id":3,"method":"wait","params":{"memory":{"space":"ram","address":0,"equals":0}}})"})
        trn::rpc::execute(api.methods(), request, client, collect);
    result("subscribe", {{"topics", {"uart"}}});
    loop.serve();
    ASSERT_EQ(replies.size(), 3u);
    EXPECT_EQ(replies[0]["id"], 3);
    EXPECT_EQ(replies[1]["id"], 2);
    EXPECT_EQ(replies[1]["result"]["time_ps"], 500'000'000u);
    EXPECT_EQ(replies[2]["id"], 1);
    EXPECT_EQ(replies[2]["result"]["reason"], "condition");
    ASSERT_EQ(client.received.size(), 1u);
    EXPECT_EQ(client.received[0].first, "uart");
    EXPECT_EQ(result("console", {{"module", "gadget"}})["printed"], 16);
}

TEST_F(ControlTest, RefusedRunLeavesThePlatformPaused) {
    loop.elaborate();
    loop.pause("the test");
    for (int n = 0; n < 64; ++n)
        ask({{"jsonrpc", "2.0"}, {"id", n}, {"method", "wait"}, {"params", {{"until", "5 s"}}}});
    EXPECT_EQ(error("run", {{"until", "1 s"}}), static_cast<int>(code::refused));
    EXPECT_TRUE(loop.paused());
    EXPECT_EQ(error("run", {{"until", "soon"}}), static_cast<int>(code::invalid_params));
    EXPECT_TRUE(loop.paused());
    EXPECT_THROW(api.call("run", {{"until", "1 s"}}), trn::rpc::error);  // as GDB's monitor
    EXPECT_TRUE(loop.paused());
    api.forget(client);
    ask({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "run"}, {"params", {{"until", "1 s"}}}});
    EXPECT_FALSE(loop.paused());
}

TEST_F(ControlTest, WaitsOfADisconnectedClientAreCancelled) {
    bool answered = false;
    trn::rpc::execute(api.methods(),
                      R"({"jsonrpc":"2.0","id":1,"method":"wait","params":{"for":"10 us"}})",
                      client, [&](const std::string&) { answered = true; });
    api.forget(client);
    trn::run_loop::goal g{"test", "time"};
    g.until = sc_time(1, SC_MS);
    loop.run(g);
    EXPECT_FALSE(answered);
}

TEST_F(ControlTest, FaultsStatisticsAndConsoleInputReachTheModule) {
    loop.elaborate();
    const auto faults = result("list", {{"what", "faults"}})[0];
    EXPECT_EQ(faults["type"], "gadget");
    EXPECT_EQ(faults["modules"], json::array({"gadget"}));
    EXPECT_EQ(faults["faults"][0]["fault"], "stop_ticking");
    EXPECT_EQ(faults["faults"][0]["arguments"][0], json({{"name", "at"},
                                                         {"type", "number"},
                                                         {"range", "0 to 1000"},
                                                         {"min", 0},
                                                         {"max", 1000},
                                                         {"required", true},
                                                         {"meaning", "a tick"}}));
    const json wanted{{"module", "gad*"}, {"fault", "stop_ticking"}, {"arguments", {{"at", 5}}}};
    EXPECT_EQ(result("inject", wanted)["modules"], json::array({"gadget"}));
    EXPECT_EQ(g.stop_at, 5u);
    EXPECT_EQ(error("inject", {{"module", "gadget"}, {"fault", "melt"}}),
              static_cast<int>(code::invalid_params));
    EXPECT_EQ(error("inject", {{"module", "ram"}, {"fault", "melt"}}),
              static_cast<int>(code::invalid_params));
    const auto reply = ask({{"jsonrpc", "2.0"},
                            {"id", 7},
                            {"method", "inject"},
                            {"params", {{"module", "gadgte"}, {"fault", "melt"}}}});
    EXPECT_EQ(reply["error"]["message"],
              "no module 'gadgte' has the fault 'melt'  did you mean 'gadget'?  (known: gadget)");
    EXPECT_EQ(result("statistics")["gadget"]["ticks"], 0);
    EXPECT_EQ(result("type", {{"module", "gadget"}, {"text", "ls\n"}})["taken"], 3);
    EXPECT_EQ(g.typed, "ls\n");
}

TEST_F(ControlTest, AddedSpacesReplaceThoseOfModulesBeforeAndAfterTheFirstLookUp) {
    struct view final : trn::address_space {
        std::size_t peek(std::uint64_t, std::span<std::byte>) override { return 0; }
        std::size_t deposit(std::uint64_t, std::span<const std::byte>) override { return 0; }
    } early, late;
    loop.elaborate();
    api.spaces().add("ram", early);
    api.spaces().add("hart", early);
    EXPECT_EQ(api.spaces().find("ram"), &early);
    EXPECT_EQ(api.spaces().find("hart"), &early);
    EXPECT_NE(api.spaces().find("noc"), nullptr);
    api.spaces().add("noc", late);
    EXPECT_EQ(api.spaces().find("noc"), &late);
}

TEST_F(ControlTest, ListsNameModulesMemoriesSpacesAndMethods) {
    loop.elaborate();
    const auto modules = result("list", {{"what", "modules"}});
    EXPECT_EQ(modules[0], (json{{"name", "ram"}, {"type", "memory"}}));
    EXPECT_EQ(result("list", {{"what", "memories"}})[0]["size"], 0x1000);
    const auto spaces = result("list", {{"what", "spaces"}});
    EXPECT_NE(std::find(spaces.begin(), spaces.end(), "noc"), spaces.end());
    EXPECT_EQ(error("list", {{"what", "dragons"}}), static_cast<int>(code::invalid_params));
    std::set<std::string> names;
    for (const auto& m : result("methods")) names.insert(m["name"]);
    for (const auto* name : {"hello", "run", "pause", "step", "status", "list", "peek", "poke",
                             "inject", "statistics", "subscribe", "wait", "quit"})
        EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(ControlTest, MethodsTellParametersResultsAndErrors) {
    for (const auto& m : result("methods")) {
        const auto name = m["name"].get<std::string>();
        EXPECT_FALSE(m["description"].get<std::string>().empty()) << name;
        for (const auto& one : m["takes"]) EXPECT_FALSE(one["type"].empty()) << name;
    }
    const auto all = result("methods");
    const auto peek = std::ranges::find(all, "peek", [](const json& m) { return m["name"]; });
    ASSERT_NE(peek, all.end());
    EXPECT_EQ((*peek)["parameters"], "[space] [address] [size] [register] [index] [instance]");
    EXPECT_EQ((*peek)["takes"][2]["type"], "1 to 1048576");
    EXPECT_EQ((*peek)["returns"][1]["name"], "value");
    EXPECT_EQ((*peek)["fails"][0]["code"], static_cast<int>(code::not_found));
}

TEST_F(ControlTest, ParametersThatAMethodDoesNotHaveAreRefused) {
    for (const auto& m : result("methods"))
        EXPECT_EQ(error(m["name"].get<std::string>(), {{"protocoll", 1}}),
                  static_cast<int>(code::invalid_params))
            << m["name"];
    EXPECT_THROW(api.call("status", {{"protocoll", 1}}), trn::rpc::error);
}

TEST_F(ControlTest, StepMovesToTheNextEventAndPauses) {
    loop.elaborate();
    EXPECT_TRUE(result("step")["moved"]);
    EXPECT_TRUE(result("step")["moved"]);
    EXPECT_EQ(g.ticks, 2u);
    EXPECT_TRUE(result("status")["paused"]);
    EXPECT_EQ(sc_time_stamp(), sc_time(10, SC_US));
}

TEST_F(ControlTest, InProcessCallsUseTheSameMethods) {
    loop.elaborate();
    EXPECT_EQ(api.call("status")["paused"], false);
    EXPECT_THROW(api.call("wait", {{"for", "1 us"}}), trn::rpc::error);
    EXPECT_THROW(api.call("fly"), trn::rpc::error);
}

}  // namespace

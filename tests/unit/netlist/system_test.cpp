// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/system.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tlm_driver.h"
#include "tests/unit/netlist/sample_kinds.h"

namespace {

using namespace trn;
using testing::ElementsAre;

plan board(const std::string& yaml, plan_options options = {}) {
    return plan_text(yaml, "board.yaml", test::sample_kinds(), options);
}

const std::string pair_of_memories = R"(board: pair
description: two memories behind one router
parameters: {room: 64 KiB}
modules:
  noc: {type: router, hop_latency: 2 ns}
  ram: {type: memory, count: 2, size: "${room}", each: {read_only: [false, true]}}
  dev: {type: gadget, weights: [3, 4, 5], sizes: [1 KiB], latency: 7 ns, paint: green, factor: -1.25}
bind:
  - {bind: "noc.initiator -> ram${i}.in", at: [0x0, 0x10_0000], size: "${room}"}
  - noc.initiator -> ram0.in @ 0x8000_0000 + 4 KiB => 0x1000
  - noc.initiator -> dev.regs @ 0x4000_0000 + 4 KiB
  - dev.mem -> noc.target
  - dev.irq -> dev.reset[2]
  - {bind: "dev.alarm[${i}] -> dev.reset", line: 0, count: 2}
)";

TEST(System, BuildsTheModulesOfTheBoard) {
    trn::system built(board(pair_of_memories));
    auto* dev = built.find<test::gadget>("dev");
    ASSERT_NE(dev, nullptr);
    EXPECT_STREQ(dev->name(), "dev");
    EXPECT_THAT(dev->cfg.weights, ElementsAre(3u, 4u, 5u));
    EXPECT_THAT(dev->cfg.sizes, ElementsAre(1024u));
    EXPECT_EQ(dev->cfg.up.latency, sc_core::sc_time(7, sc_core::SC_NS));
    EXPECT_EQ(dev->cfg.paint, test::color::green);
    EXPECT_EQ(dev->cfg.factor, -1.25);
    EXPECT_EQ(dev->cfg.queues, 16u);
    EXPECT_EQ(built.find<memory>("ram1")->settings().size, 64u << 10);
    EXPECT_TRUE(built.find<memory>("ram1")->settings().read_only);
    EXPECT_FALSE(built.find<memory>("ram0")->settings().read_only);
    EXPECT_EQ(built.all<memory>().size(), 2u);
    EXPECT_EQ(built.find<memory>("noc"), nullptr);
    EXPECT_EQ(built.find("ram2"), nullptr);
}

TEST(System, SendsEachRangeToItsTarget) {
    trn::system built(board(pair_of_memories));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    auto& noc = *built.find<router>("noc");
    ASSERT_EQ(noc.ranges().size(), 4u);
    auto& dev = *built.find<test::gadget>("dev");
    const auto write = [&](std::uint64_t address, std::uint32_t value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(tlm::TLM_WRITE_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_core::sc_time delay;
        dev.mem->b_transport(payload, delay);
        return payload.get_response_status();
    };
    EXPECT_EQ(write(0x8000'0010, 0x1234), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(built.find<memory>("ram0")->bytes().data()[0x1010], 0x34);
    EXPECT_EQ(write(0x10'0000, 1), tlm::TLM_COMMAND_ERROR_RESPONSE);  // ram1 is read-only
    EXPECT_EQ(write(0x4000'0ff0, 1), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(dev.last_address, 0xff0u);
    EXPECT_EQ(write(0x2'0000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(System, BindsInterruptLinesByNumber) {
    trn::system built(board(pair_of_memories));
    auto& dev = *built.find<test::gadget>("dev");
    dev.irq.set(true);
    dev.alarm[1].set(true);
    EXPECT_FALSE(dev.reset.level(0));
    EXPECT_TRUE(dev.reset.level(1));
    EXPECT_TRUE(dev.reset.level(2));
}

TEST(System, JoinsInterfaceUsersWithProviders) {
    trn::system built(board(R"(board: b
modules:
  d: {type: gadget}
  pulse: {type: beat, start: 9}
bind:
  - d.mem -> d.regs
  - d.irq -> none
  - d.pace -> pulse.out
  - d.second_pace -> pulse.out
)"));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    auto& d = *built.find<test::gadget>("d");
    EXPECT_EQ(d.pace->count(), 9u);
    ASSERT_NE(d.second_pace, nullptr);
    EXPECT_EQ(d.second_pace->count(), 9u);
}

TEST(System, JoinsPlugs) {
    trn::system built(board(R"(board: b
modules:
  one: {type: socket_strip}
  other: {type: socket_strip, outlets: 2}
bind:
  - one.feed <-> other.outlet[1]
  - other.feed <-> none
)"));
    auto& one = *built.find<test::socket_strip>("one");
    auto& other = *built.find<test::socket_strip>("other");
    EXPECT_EQ(one.feed.peer(), &other.outlet[1]);
    EXPECT_EQ(other.outlet[1].peer(), &one.feed);
    EXPECT_FALSE(other.feed.joined());
    tlm::tlm_generic_payload payload;
    set_message(payload);
    sc_core::sc_time delay;
    one.feed.send(payload, delay);
    EXPECT_EQ(other.last, 1u);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    other.outlet[1].send(payload, delay);
    EXPECT_EQ(one.last, 100u);
}

/// "from -> to" of every binding, in order of the board.
std::vector<std::string> bindings(const plan& board) {
    std::vector<std::string> all;
    for (const auto& b : board.bindings)
        all.push_back(board.text(b.source) + " " + board.text(b.target));
    return all;
}

TEST(Plan, ExpandsTwoCountersAndFurtherVariables) {
    const auto board = plan_text(R"(board: b
modules:
  strip: {type: socket_strip, count: 3, outlets: 8}
  cable: {type: socket_strip, count: 2}
bind:
  - {bind: "strip${i}.feed <-> none", count: 3}
  - {bind: "cable${i}.feed <-> none", count: 2}
  - bind: "strip${i}.outlet[${j}] <-> strip${other}.outlet[${n}]"
    first: 1
    count: [2, 2]
    with: {other: [0, 0, 0, 2], n: {first: 0, stride: 1}}
  - {bind: "cable${i}.outlet[${j}] <-> strip${to}.outlet[${at}]", count: [2, 2], with: {to: [0, 2], at: [4, 5, 6, 7]}}
)",
                                 "b.yaml", test::sample_kinds(), {});
    EXPECT_EQ(bindings(board),
              (std::vector<std::string>{
                  "strip1.outlet[0] strip0.outlet[0]", "strip1.outlet[1] strip0.outlet[1]",
                  "strip2.outlet[0] strip0.outlet[2]", "strip2.outlet[1] strip2.outlet[3]",
                  "cable0.outlet[0] strip0.outlet[4]", "cable0.outlet[1] strip0.outlet[5]",
                  "cable1.outlet[0] strip2.outlet[6]", "cable1.outlet[1] strip2.outlet[7]"}));
}

TEST(Plan, NumbersInstancesByASeries) {
    const auto board = plan_text(R"(board: b
parameters: {base: 0x10}
modules:
  strip: {type: socket_strip, count: 3, each: {outlets: {first: "${base}", stride: 2}}}
bind:
  - {bind: "strip${i}.feed <-> none", count: 3}
)",
                                 "b.yaml", test::sample_kinds(), {".", {"base=1"}});
    const auto outlets = [&](const char* name) {
        return board.parameters_of(*board.find(name)).at(0).second;
    };
    EXPECT_EQ(outlets("strip0"), "1");
    EXPECT_EQ(outlets("strip2"), "5");
}

TEST(Plan, PresetValuesYieldToExplicitOnes) {
    const auto value = [](std::vector<std::string> set, std::size_t parameter) {
        const auto board = plan_text(R"(board: b
parameters: {fabric: table, links: 1, switches: 1}
presets:
  fabric:
    table: {links: 4}
    headline: {links: 8, switches: 2}
modules: {}
)",
                                     "b.yaml", test::sample_kinds(), {".", std::move(set)});
        return board.parameters.at(parameter).second;
    };
    constexpr std::size_t links = 1, switches = 2;
    EXPECT_EQ(value({}, links), "4");
    EXPECT_EQ(value({}, switches), "1");
    EXPECT_EQ(value({"fabric=headline"}, links), "8");
    EXPECT_EQ(value({"fabric=headline"}, switches), "2");
    EXPECT_EQ(value({"fabric=headline", "links=3"}, links), "3");
}

TEST(System, E54NamesTheHostWhoseBusHasNoRoomForItsBars) {
    trn::system built(board(R"(board: b
modules:
  dev: {type: gadget}
  host: {type: root_complex}
  card: {type: pcie_endpoint, bar4_size: 32 TiB}
bind:
  - host.port[0] <-> card.link
  - card.bar0 -> dev.regs
  - dev.mem -> card.dma
  - dev.irq -> none
)"));
    try {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        FAIL();
    } catch (const sc_core::sc_report& why) {
        try {
            built.refuse(why);
        } catch (const config_error& error) {
            EXPECT_EQ(error.list().at(0).code, mistake::refused_by_model);
            EXPECT_EQ(error.list().at(0).line, 4);
            EXPECT_EQ(error.list().at(0).column, 3);
        }
    }
}

TEST(System, RefusesAMemoryLargerThanTheHostAllows) {
    try {
        trn::system built(
            board("board: b\nmodules:\n  d: {type: gadget}\n"
                  "  ram: {type: memory, size: 512 TiB}\n"
                  "bind:\n  - d.mem -> ram.in\n  - d.irq -> none\n"
                  "  - d.extra -> d.regs\n"));
        FAIL();
    } catch (const config_error& error) {
        EXPECT_EQ(error.list().at(0).code, mistake::refused_by_model);
        EXPECT_EQ(error.list().at(0).line, 4);
    }
}

class Nested : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directories(folder / "chips");
        std::ofstream(folder / "chips/chip.yaml") << R"(assembly: chip
parameters: {routing_id: 0, room: 4 KiB}
modules:
  axi: {type: router}
  ram: {type: memory, size: "${room}"}
  core: {type: gadget, queues: "${routing_id}"}
bind:
  - axi.initiator -> ram.in @ 0x100 + 2 KiB => 0x100
  - core.mem -> axi.target
  - core.irq -> none
ports:
  access: axi.target
  registers: core.regs
  reset: core.reset
)";
    }
    plan rack(const std::string& parameters = "") {
        return board(
            "board: rack\nmodules:\n  noc: {type: router}\n  host: {type: gadget}\n"
            "  chip:\n    type: chips/chip\n    count: 3\n    routing_id: ${i}\n" +
                parameters + R"(bind:
  - host.mem -> noc.target
  - {bind: "noc.initiator -> chip${i}.access", at: 0x0, stride: 1 MiB, size: 1 MiB, count: 3}
  - {bind: "noc.initiator -> chip${i}.registers", at: 0x1000_0000, stride: 4 KiB, size: 4 KiB, count: 3}
  - host.irq -> chip2.reset[1]
  - noc.initiator -> host.regs @ 0x2000_0000 + 4 KiB
)",
            {folder, {}});
    }
    const test::scratch_folder folder;
};

TEST_F(Nested, ChipsHaveTheirOwnParametersAndNames) {
    trn::system built(rack());
    auto* core = built.find<test::gadget>("chip2.core");
    ASSERT_NE(core, nullptr);
    EXPECT_STREQ(core->name(), "chip2.core");
    EXPECT_EQ(core->cfg.queues, 2u);
    EXPECT_EQ(
        built.board().find("chip1")->parameters,
        (std::vector<std::pair<std::string, std::string>>{{"routing_id", "1"}, {"room", "4 KiB"}}));
    EXPECT_EQ(built.all<test::gadget>().size(), 4u);
    built.find<test::gadget>("host")->irq.set(true);
    EXPECT_TRUE(core->reset.level(1));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

TEST_F(Nested, PlugsAreExportedSinglyOrAsArrays) {
    std::ofstream(folder / "chips/strip.yaml") << R"(assembly: strip
modules:
  inner: {type: socket_strip}
ports:
  feed: inner.feed
  first: inner.outlet[0]
  port: {port: "inner.outlet[${i}]", count: 3}
)";
    trn::system built(board(R"(board: b
modules:
  strip: {type: chips/strip, count: 2}
bind:
  - strip0.first <-> strip1.port2
  - strip0.port1 <-> strip1.feed
  - strip0.feed <-> none
)",
                            {folder, {}}));
    auto& one = *built.find<test::socket_strip>("strip0.inner");
    auto& other = *built.find<test::socket_strip>("strip1.inner");
    EXPECT_EQ(one.outlet[0].peer(), &other.outlet[2]);
    EXPECT_EQ(other.feed.peer(), &one.outlet[1]);
}

TEST_F(Nested, InstancesOfAFileAreBoundByTheirOwnVariables) {
    std::ofstream(folder / "chips/inner.yaml") << R"(assembly: inner
parameters: {used: 0}
modules: {strip: {type: socket_strip}}
bind: [strip.feed <-> none]
ports: {out: "strip.outlet[${used}]"}
)";
    std::ofstream(folder / "chips/outer.yaml") << R"(assembly: outer
parameters: {used: 0, parts: 1, start: 7}
modules:
  part: {type: chips/inner, count: "${parts}", used: "${used}"}
  sink: {type: socket_strip, count: "${parts}"}
  pace: {type: beat, start: "${start}"}
bind:
  - {bind: "part${i}.out <-> sink${i}.feed", count: "${parts}"}
)";
    const auto planned = board(R"(board: b
modules:
  plain: {type: chips/outer, count: 2}
  other: {type: chips/outer, used: 2}
  large: {type: chips/outer, parts: 2}
  slow: {type: chips/outer, start: 9}
)",
                               {folder, {}});
    std::vector<std::string> bound;
    for (const auto& b : planned.bindings)
        bound.push_back(planned.text(b.source) + " " + planned.text(b.target));
    EXPECT_THAT(bound, ElementsAre("plain0.part0.strip.outlet[0] plain0.sink0.feed",
                                   "plain1.part0.strip.outlet[0] plain1.sink0.feed",
                                   "other.part0.strip.outlet[2] other.sink0.feed",
                                   "large.part0.strip.outlet[0] large.sink0.feed",
                                   "large.part1.strip.outlet[0] large.sink1.feed",
                                   "slow.part0.strip.outlet[0] slow.sink0.feed"));
}

TEST_F(Nested, VariantIsAFileWithOtherDefaults) {
    std::ofstream(folder / "chips/large.yaml")
        << "assembly: large\nvariant_of: chips/chip\nparameters: {room: 8 KiB}\n";
    std::ofstream(folder / "one.yaml") << R"(board: one
parameters: {type: chip, id: 1}
modules:
  noc: {type: router}
  chip: {type: "chips/${type}", routing_id: "${id}"}
  host: {type: gadget}
bind:
  - noc.initiator -> chip.access @ 0x0 + 1 MiB
  - noc.initiator -> chip.registers @ 0x1000_0000 + 4 KiB
  - noc.initiator -> host.regs @ 0x2000_0000 + 4 KiB
  - host.mem -> noc.target
  - host.irq -> chip.reset[1]
)";
    std::ofstream(folder / "big-one.yaml")
        << "board: big-one\nvariant_of: one\nparameters: {type: large}\n";
    const auto planned =
        plan_board(folder / "big-one.yaml", test::sample_kinds(), {folder, {"id=3"}});
    EXPECT_EQ(planned.name, "big-one");
    EXPECT_EQ(planned.find("chip")->type, "chips/large");
    EXPECT_EQ(planned.find("chip")->parameters, (std::vector<std::pair<std::string, std::string>>{
                                                    {"routing_id", "3"}, {"room", "8 KiB"}}));
}

TEST_F(Nested, BoardAndItsVariantsAllowViolations) {
    std::ofstream(folder / "one.yaml") << R"(board: one
parameters: {times: 3}
modules: {beat: {type: beat}}
bind: []
misuse:
  allow:
    - {rule: TRN-REG-003, at: beat, count: "${times}", reason: a driver of another project}
)";
    std::ofstream(folder / "two.yaml") << "board: two\nvariant_of: one\nparameters: {times: 4}\n"
                                          "misuse: {allow: [{rule: TRN-FW-001, reason: x}]}\n";
    std::ofstream(folder / "three.yaml") << "board: three\nvariant_of: two\n";
    const auto planned = plan_board(folder / "three.yaml", test::sample_kinds(), {folder, {}});
    ASSERT_EQ(planned.allowances.size(), 2u);
    EXPECT_EQ(planned.allowances[0].text(),
              "rule=TRN-REG-003,at=beat,count=4,reason=a driver of another project");
    EXPECT_THAT(planned.allowances[0].place, testing::EndsWith("one.yaml:7:7"));
    EXPECT_EQ(planned.allowances[1].text(), "rule=TRN-FW-001,reason=x");
}

TEST_F(Nested, InheritedParametersHaveTheValuesOfTheFile) {
    std::ofstream(folder / "chips/inner.yaml")
        << "assembly: inner\nparameters: {id: 0, room: 4 KiB}\nmodules: {}\n";
    std::ofstream(folder / "chips/outer.yaml") << R"(assembly: outer
parameters: {id: 5, room: 16 KiB, start: 3}
modules:
  whole: {type: chips/inner, inherit: true}
  some: {type: chips/inner, inherit: true, room: 8 KiB}
  each: {type: chips/inner, inherit: true, count: 2, each: {id: [8, 9]}}
  own: {type: chips/inner}
  beat: {type: beat, inherit: true}
)";
    const auto planned = board(R"(board: b
parameters: {room: 2 KiB, unused: 1}
modules:
  outer: {type: chips/outer, inherit: true, start: 6}
)",
                               {folder, {"room=1KiB"}});
    using list = std::vector<std::pair<std::string, std::string>>;
    const auto parameters = [&](std::string_view path) {
        return planned.parameters_of(*planned.find(path));
    };
    EXPECT_EQ(parameters("outer.whole"), (list{{"id", "5"}, {"room", "1KiB"}}));
    EXPECT_EQ(parameters("outer.some"), (list{{"id", "5"}, {"room", "8 KiB"}}));
    EXPECT_EQ(parameters("outer.each1"), (list{{"id", "9"}, {"room", "1KiB"}}));
    EXPECT_EQ(parameters("outer.own"), (list{{"id", "0"}, {"room", "4 KiB"}}));
    EXPECT_EQ(parameters("outer.beat"), (list{{"start", "6"}}));
}

TEST_F(Nested, AssemblyPresetsFollowTheInstantiatingBoard) {
    std::ofstream(folder / "chips/preset.yaml") << R"(assembly: preset
parameters: {fabric: table, links: 1}
presets: {fabric: {table: {links: 4}, headline: {links: 8}}}
modules: {}
)";
    std::ofstream(folder / "chips/other.yaml") << R"(assembly: other
variant_of: chips/preset
parameters: {fabric: headline}
)";
    std::ofstream(folder / "chips/third.yaml") << R"(assembly: third
variant_of: chips/preset
parameters: {links: 3}
)";
    const auto board = plan_text(R"(board: b
modules:
  a: {type: chips/preset}
  b: {type: chips/preset, fabric: headline}
  c: {type: chips/preset, fabric: headline, links: 2}
  d: {type: chips/other}
  e: {type: chips/third}
)",
                                 "b.yaml", test::sample_kinds(), {folder, {}});
    const auto links = [&](const char* name) { return board.find(name)->parameters.at(1).second; };
    EXPECT_EQ(links("a"), "4");
    EXPECT_EQ(links("b"), "8");
    EXPECT_EQ(links("c"), "2");
    EXPECT_EQ(links("d"), "8");
    EXPECT_EQ(links("e"), "3");
}

TEST_F(Nested, FlattenedMapFollowsRoutersToBlocks) {
    const auto made = rack();
    const auto map = address_maps(made).flattened(made.index_of("noc"));
    ASSERT_EQ(map.size(), 7u);
    EXPECT_EQ(made.text(map[1].target), "chip1.ram.in");
    EXPECT_EQ(map[1].window.base, 0x10'0100u);
    EXPECT_EQ(map[1].window.size, 2048u);
    EXPECT_EQ(map[1].window.target_base, 0x100u);
    ASSERT_EQ(map[1].through.size(), 2u);
    EXPECT_EQ(place_text(map[1].through[0]), "board.yaml:11");
    EXPECT_THAT(place_text(map[1].through[1]), testing::EndsWith("chips/chip.yaml:8"));
}

TEST_F(Nested, DigestDependsOnEveryValue) {
    const auto first = rack().digest;
    EXPECT_EQ(first, rack().digest);
    EXPECT_EQ(first, rack("    room: 4 KiB\n").digest);
    EXPECT_NE(first, rack("    room: 8 KiB\n").digest);
}

TEST(Digest, IsTheSameOnEveryHost) {
    EXPECT_EQ(board(pair_of_memories).digest, 0x2940c5d4e165e6ceu);
}

TEST(System, ALineOfAMemoryClearsIt) {
    trn::system built(board(pair_of_memories +
                            "  - dev.irq -> ram0.power_lost\n"
                            "  - {bind: \"dev.alarm[0] -> ram0.power_lost\"}\n"));
    const auto* line = sc_core::sc_find_object("ram0.power_lost");
    ASSERT_NE(line, nullptr);
    EXPECT_EQ(line->get_parent_object(), built.find("ram0"));

    auto& ram = *built.find<memory>("ram0");
    const std::uint8_t image[] = {1};
    ASSERT_TRUE(ram.load(0, image));
    built.find<test::gadget>("dev")->irq.set(true);
    EXPECT_EQ(ram.bytes().data()[0], 0);
}

/// A configuration that sets every required parameter.
std::any some_config(const kind& k) {
    auto config = k.defaults();
    for (const auto& p : k.parameters) {
        const std::string text = p.type == "size" ? "64 KiB" : "1";
        if (p.required) p.assign(config, std::vector{text}, [](auto, const auto&) { FAIL(); });
    }
    return config;
}

TEST(Kinds, NameThePortsOfTheirClasses) {
    for (const auto& k : test::sample_kinds()) {
        const auto config = some_config(k);
        const auto built = k.make(k.name.c_str(), config);
        std::set<std::string> objects;
        for (const auto* child : built->get_child_objects()) objects.insert(child->basename());
        for (const auto& p : k.ports) {
            if (p.join || p.role == port_role::provides) continue;
            EXPECT_THAT(objects, testing::Contains(p.count ? p.name + "_0" : p.name)) << k.name;
        }
    }
}

TEST(Kinds, AcceptTheirOwnDefaults) {
    for (const auto& k : test::sample_kinds()) {
        const auto config = some_config(k);
        if (k.check) {
            EXPECT_EQ(k.check(config), std::nullopt) << k.name;
        }
        for (const auto& p : k.parameters) {
            if (p.list()) continue;
            auto copy = k.defaults();
            p.assign(copy, std::vector{p.show(config)}, [&](auto, const config::refusal& why) {
                ADD_FAILURE() << k.name << "." << p.name << ": " << why.message;
            });
            EXPECT_EQ(p.show(copy), p.show(config)) << k.name << "." << p.name;
        }
    }
}

TEST(Kinds, HaveDescriptions) {
    for (const auto& k : kinds()) {
        EXPECT_THAT(k.doc, testing::EndsWith(".")) << k.name;
        for (const auto& p : k.parameters) {
            EXPECT_FALSE(p.doc.empty()) << k.name << "." << p.name;
            EXPECT_THAT(p.name, testing::Not(testing::AnyOf("type", "count", "each"))) << k.name;
        }
    }
}

TEST(Plan, ParameterOf0SwitchesAPartOff) {
    const auto parts = [](const std::string& n) {
        const auto board = plan_text(R"(board: b
parameters: {more: )" + n + R"(}
modules:
  noc: {type: router}
  ram: {type: memory, size: 64 KiB}
  extra: {type: memory, count: "${more}", size: 64 KiB}
  dev: {type: gadget}
bind:
  - noc.initiator -> ram.in @ 0x0 + 64 KiB
  - {bind: "noc.initiator -> extra${i}.in", at: 0x1_0000, stride: 64 KiB, size: 64 KiB, count: "${more}"}
  - noc.initiator -> dev.regs @ 0x10_0000 + 4 KiB
  - dev.mem -> noc.target
  - dev.irq -> none
)",
                                     "board.yaml", test::sample_kinds(), {});
        return std::pair{board.modules.size(), board.bindings.size()};
    };
    const auto without = parts("0"), with = parts("2");
    EXPECT_EQ(with.first, without.first + 2);
    EXPECT_EQ(with.second, without.second + 2);
}

}  // namespace

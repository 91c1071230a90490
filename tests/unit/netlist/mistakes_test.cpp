// SPDX-License-Identifier: Apache-2.0
// One test per error in a board: YAML input, expected code, line and column (house style R15).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <ctime>
#include <fstream>

#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "tests/support/finding.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/netlist/sample_kinds.h"

namespace {

using namespace trn;
using test::finding;
using testing::HasSubstr;

std::vector<diagnostic> mistakes(const std::string& yaml, plan_options options = {}) {
    try {
        plan_text(yaml, "board.yaml", test::sample_kinds(), options);
    } catch (const config_error& error) {
        return error.list();
    }
    return {};
}

std::vector<finding> findings(const std::string& yaml) {
    std::vector<finding> list;
    for (const auto& one : mistakes(yaml)) list.push_back({one.code, one.line, one.column});
    return list;
}

/// Keeps errors of one code: other errors of a short board are not under test.
std::vector<diagnostic> only(mistake code, std::vector<diagnostic> list) {
    std::erase_if(list, [&](const diagnostic& one) { return one.code != code; });
    return list;
}

/// A board of a router and a memory, with `more` below `modules:` and `bind:`.
std::string with_modules(const std::string& more) {
    return "board: b\nmodules:\n" + more;
}
std::string with_bind(const std::string& lines) {
    return R"(board: b
modules:
  noc: {type: router}
  ram: {type: memory, size: 64 KiB}
  dev: {type: gadget}
bind:
)" + lines;
}
const std::string whole_bind = R"(  - noc.initiator -> ram.in @ 0x0 + 64 KiB
  - noc.initiator -> dev.regs @ 0x10_0000 + 4 KiB
  - dev.mem -> noc.target
  - dev.irq -> none
)";

/// Assemblies written to a folder of this test.
class Assemblies : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder / "chips"); }

    void write(const std::string& name, const std::string& text) {
        std::ofstream(folder / name) << text;
    }
    std::vector<diagnostic> mistakes(const std::string& yaml) {
        return ::mistakes(yaml, {folder, {}});
    }
    finding first(const std::string& yaml) {
        const auto list = mistakes(yaml);
        return list.empty() ? finding{} : finding{list[0].code, list[0].line, list[0].column};
    }
    const trn::test::scratch_folder folder;
};

TEST(Board, ValidBoardHasNoMistakes) {
    EXPECT_EQ(findings(with_bind(whole_bind)), std::vector<finding>{});
}

TEST(Board, E09RequiresANameModulesAndTypes) {
    EXPECT_THAT(findings("modules: {}\n"),
                testing::ElementsAre(finding{mistake::missing_key, 1, 1}));
    EXPECT_THAT(findings("board: b\n"), testing::ElementsAre(finding{mistake::missing_key, 1, 1}));
    EXPECT_THAT(findings(with_modules("  a: {size: 1 B}\n")),
                testing::ElementsAre(finding{mistake::missing_key, 3, 3}));
}

TEST(Board, E10SuggestsTheNearestKind) {
    const auto list = mistakes(with_modules("  a: {type: memroy}\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].text().substr(0, 66),
              "board.yaml:3:13: E10 no kind 'memroy'\n  a: {type: memroy}\n        ");
    EXPECT_THAT(list[0].suggestion, HasSubstr("did you mean 'memory'?"));
}

TEST(Board, LimitsBoundWhatIsSet) {
    const std::string board =
        "board: b\nparameters: {devices: 1}\nlimits: {devices: [1, 16]}\nmodules: {}\n";
    const auto said = [&](const std::string& setting) {
        const auto list = mistakes(board, {{}, {setting}});
        return list.empty() ? "" : list[0].file + ": " + list[0].message;
    };
    EXPECT_EQ(said("devices=16"), "");
    EXPECT_EQ(said("devices=99"), "command line: devices is 1 to 16; here it is 99");
    EXPECT_EQ(said("devices=0"), "command line: devices is 1 to 16; here it is 0");
    EXPECT_EQ(said("devices"),
              "command line: --set devices: NAME=VALUE was expected, such as devices=1");
}

TEST(Board, LimitsNameParametersAndTwoNumbers) {
    EXPECT_EQ(findings("board: b\nparameters: {devices: 1}\nlimits: {device: [1, 16]}\n"
                       "modules: {}\n"),
              (std::vector<finding>{{mistake::unknown_parameter, 3, 10}}));
    EXPECT_EQ(findings("board: b\nparameters: {devices: 1}\nlimits: {devices: [1]}\n"
                       "modules: {}\n"),
              (std::vector<finding>{{mistake::wrong_shape, 3, 19}}));
}

TEST(Board, E12SuggestsTheNearestParameter) {
    const auto list = mistakes(with_modules("  a: {type: router, hop_latancy: 1 ns}\n"));
    ASSERT_EQ(list.size(), 1u) << list[1].text();
    EXPECT_EQ(list[0].code, mistake::unknown_parameter);
    EXPECT_EQ(list[0].column, 21);
    EXPECT_EQ(list[0].suggestion, "did you mean 'hop_latency'?  (known: hop_latency)");
}

TEST(Board, E14NamesTheMissingParameter) {
    EXPECT_THAT(findings(with_modules("  a: {type: memory}\n")),
                testing::ElementsAre(finding{mistake::missing_parameter, 3, 3}));
}

TEST(Board, E15RefusesUnknownVariables) {
    EXPECT_THAT(findings(with_modules("  a: {type: memory, size: \"${big}\"}\n")),
                testing::Contains(finding{mistake::unknown_variable, 3, 27}));
    EXPECT_THAT(findings(with_modules("  a: {type: memory, size: \"${i} KiB\"}\n")),
                testing::Contains(finding{mistake::unknown_variable, 3, 27}));
    EXPECT_THAT(findings(with_modules("  a: {type: memory, size: \"${i\"}\n")),
                testing::Contains(finding{mistake::unknown_variable, 3, 27}));
}

TEST(Board, E07RefusesAParameterGivenTwice) {
    EXPECT_THAT(findings(with_modules("  a: {type: memory, size: 1 KiB, size: 2 KiB}\n")),
                testing::Contains(finding{mistake::duplicate_key, 3, 34}));
    EXPECT_THAT(findings(with_modules("  a: {type: memory, count: 2, size: 1 KiB, each: {size: "
                                      "[1 KiB, 2 KiB]}}\n")),
                testing::Contains(finding{mistake::duplicate_key, 3, 51}));
}

TEST(Board, E20ToE26ReadEveryTypeOfParameter) {
    const auto value = [](const std::string& setting) {
        const auto list = findings(with_modules("  a: {type: gadget, " + setting + "}\n"));
        return list.empty() ? finding{} : list[0];
    };
    const int at = 21;
    EXPECT_EQ(value("queues: x").code, mistake::not_a_number);
    EXPECT_EQ(value("queues: 5000000000").code, mistake::out_of_range);
    EXPECT_EQ(value("factor: -2").code, mistake::out_of_range);
    EXPECT_EQ(value("fast: yes").code, mistake::not_a_boolean);
    EXPECT_EQ(value("factor: much").code, mistake::not_a_number);
    EXPECT_EQ(value("paint: blue").code, mistake::not_a_choice);
    EXPECT_EQ(value("clock: 7"), (finding{mistake::unit_missing, 3, at + 7}));
    EXPECT_EQ(value("rate: 7 GHz"), (finding{mistake::unknown_unit, 3, at + 6}));
    EXPECT_EQ(value("latency: 0.0001 ps").code, mistake::not_whole);
    EXPECT_EQ(value("weights: [1, x]"), (finding{mistake::not_a_number, 3, at + 13}));
    EXPECT_EQ(value("weights: 1"), (finding{mistake::wrong_shape, 3, at + 9}));
    EXPECT_EQ(value("queues: [1]"), (finding{mistake::wrong_shape, 3, at + 8}));
}

TEST(Board, E27RefusesNamesThatAreNotIdentifiers) {
    EXPECT_THAT(findings(with_modules("  a-b: {type: router}\n")),
                testing::Contains(finding{mistake::bad_name, 3, 3}));
    EXPECT_THAT(findings("board: b\nparameters: {i: 1}\nmodules: {}\n"),
                testing::Contains(finding{mistake::bad_name, 2, 14}));
}

TEST(Board, E40SuggestsTheNearestModule) {
    const auto list = mistakes(with_bind(whole_bind + "  - dev.extra -> nco.target\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::unknown_module, 11, 5}));
    EXPECT_THAT(list[0].suggestion, HasSubstr("(known: dev, noc, ram)"));
}

TEST(Board, E41ListsTheSocketsOfTheKind) {
    const auto list = mistakes(with_bind(whole_bind + "  - dev.extra -> noc.targte\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::unknown_port);
    EXPECT_EQ(list[0].suggestion, "did you mean 'target'?  (known: target, initiator)");
}

TEST(Board, E42ExplainsTheArrowDirection) {
    const auto list = mistakes(with_bind(whole_bind + "  - noc.target -> dev.extra\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::wrong_direction);
    EXPECT_EQ(list[0].message, "'noc.target' is a target and 'dev.extra' is an initiator");
    EXPECT_THAT(list[0].suggestion, HasSubstr("arrow"));
    EXPECT_THAT(findings(with_bind(whole_bind + "  - dev.extra -> dev.reset\n")),
                testing::ElementsAre(finding{mistake::wrong_direction, 11, 5}));
}

TEST(Board, E42JoinsOnlyUsersWithProviders) {
    EXPECT_THAT(findings(with_bind(whole_bind + "  - dev.pace -> noc.target\n")),
                testing::ElementsAre(finding{mistake::wrong_direction, 11, 5}));
}

TEST(Board, E43NamesTheEarlierBinding) {
    const auto list = mistakes(with_bind(whole_bind + "  - dev.mem -> noc.target\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::bound_twice);
    EXPECT_EQ(list[0].suggestion, "first at board.yaml:9");
    EXPECT_THAT(findings(with_bind(whole_bind + "  - dev.extra -> ram.in\n")),
                testing::ElementsAre(finding{mistake::bound_twice, 11, 5}));
}

TEST(Board, E44FindsUnboundPorts) {
    const auto list = mistakes(with_bind(R"(  - noc.initiator -> ram.in @ 0x0 + 64 KiB
  - dev.mem -> noc.target
)"));
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::unbound, 5, 3}));
    EXPECT_EQ(list[0].message, "target 'dev.regs' is not bound");
    EXPECT_EQ(list[1].message, "irq_out 'dev.irq' is not bound");
    EXPECT_THAT(findings(with_bind("  - dev.mem -> none\n")),
                testing::Contains(finding{mistake::unbound, 7, 5}));
}

TEST(Board, E44SkipsPortsThatFaultyBindLinesMayBind) {
    // Misspelt: a module, a port, a kind of arrow. Not bound: the gadget's irq.
    const auto list = mistakes(with_bind(R"(  - nok.initiator -> ram.in @ 0x0 + 64 KiB
  - dev.regz -> noc.target
  - dev.mem <-> noc.target
)"));
    EXPECT_TRUE(only(mistake::unbound, list).empty());  // 'dev' may refer to any of its ports
    const auto more =
        only(mistake::unbound, mistakes(with_bind(R"(  - nok.initiator -> ram.in @ 0x0 + 64 KiB
  - {bind: "dev.mem -> noc.target[${i}]", count: 3}
)")));
    ASSERT_EQ(more.size(), 2u);
    EXPECT_EQ(more[0].message, "target 'dev.regs' is not bound");
    EXPECT_EQ(more[1].message, "irq_out 'dev.irq' is not bound");
}

TEST(Board, E45NamesTheLineOfTheOverlappingRange) {
    const auto list = mistakes(with_bind(R"(  - noc.initiator -> ram.in @ 0x1000 + 8 KiB
  - noc.initiator -> dev.regs @ 0x2fff + 1 KiB
  - dev.mem -> noc.target
  - dev.irq -> none
)"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::range_overlap, 8, 5}));
    EXPECT_EQ(list[0].suggestion, "by 'ram.in' at board.yaml:7");
}

TEST(Board, E46ComparesARangeWithItsTarget) {
    EXPECT_THAT(findings(with_bind("  - noc.initiator -> ram.in @ 0x0 + 65 KiB\n")),
                testing::Contains(finding{mistake::range_too_large, 7, 5}));
    EXPECT_THAT(findings(with_bind("  - noc.initiator -> ram.in @ 0x0 + 64 KiB => 0x1\n")),
                testing::Contains(finding{mistake::range_too_large, 7, 5}));
    EXPECT_THAT(findings(with_bind("  - noc.initiator -> ram.in @ 0x0 + 1 KiB => 1 TiB\n")),
                testing::Contains(finding{mistake::range_too_large, 7, 5}));
}

TEST(Board, E47ExplainsTheBindSyntax) {
    for (const char* line : {"dev.mem", "dev.mem -> noc", "dev.mem noc.target", "-> noc.target",
                             "dev.mem ->", "a b.c -> noc.target", "dev.irq -> dev.reset[1",
                             "noc.initiator -> ram.in @ 0x0", "dev.mem[ -> noc.target"})
        EXPECT_THAT(findings(with_bind("  - " + std::string(line) + "\n")),
                    testing::Contains(finding{mistake::bad_bind_line, 7, 5}))
            << line;
    EXPECT_THAT(findings(with_bind("  - noc.initiator -> ram.in @ 0x0 + 64\n")),
                testing::Contains(finding{mistake::unit_missing, 7, 5}));
    EXPECT_THAT(findings(with_bind("  - noc.initiator -> ram.in @ here + 64 KiB\n")),
                testing::Contains(finding{mistake::not_a_number, 7, 5}));
}

TEST(Board, E48RequiresRangesAtDecodingPorts) {
    EXPECT_THAT(findings(with_bind("  - noc.initiator -> ram.in\n")),
                testing::Contains(finding{mistake::range_expected, 7, 5}));
    EXPECT_THAT(findings(with_bind("  - dev.mem -> noc.target @ 0x0 + 1 KiB\n")),
                testing::Contains(finding{mistake::range_expected, 7, 5}));
    EXPECT_THAT(findings(with_bind(
                    "  - {bind: noc.initiator -> ram.in @ 0x0 + 1 KiB, at: 0x0, size: 1 KiB}\n")),
                testing::Contains(finding{mistake::range_expected, 7, 12}));
}

TEST(Board, E49BoundsInterruptLinesAndElements) {
    for (const char* line :
         {"dev.irq -> dev.reset[4]", "dev.alarm[2] -> dev.reset[0]", "dev.alarm -> dev.reset",
          "dev.mem[0] -> noc.target", "dev.irq -> dev.reset[18446744073709551615]"})
        EXPECT_THAT(findings(with_bind("  - " + std::string(line) + "\n")),
                    testing::Contains(finding{mistake::line_outside, 7, 5}))
            << line;
}

TEST(Board, E50BoundsCountsAndLists) {
    EXPECT_THAT(findings(with_modules("  a: {type: router, count: 0}\n")),
                testing::Contains(finding{mistake::bad_count, 3, 28}));
    EXPECT_THAT(findings(with_modules("  a: {type: router, count: 200001}\n")),
                testing::Contains(finding{mistake::bad_count, 3, 28}));
    EXPECT_THAT(
        findings(with_modules("  a: {type: memory, count: 3, each: {size: [1 KiB, 2 KiB]}}\n")),
        testing::Contains(finding{mistake::bad_count, 3, 44}));
    EXPECT_THAT(findings(with_modules(
                    "  a: {type: memory, count: 2, each: {size: [1 KiB, 2 KiB, 3 KiB]}}\n")),
                testing::Not(testing::Contains(finding{mistake::bad_count, 3, 44})));
    EXPECT_THAT(findings(with_bind("  - {bind: noc.initiator -> ram.in, at: [0, 1], to: [1], "
                                   "size: 1 KiB}\n")),
                testing::Contains(finding{mistake::bad_count, 7, 53}));
}

TEST(Board, E50BoundsTwoCountersAndListsBesideThem) {
    const auto first_of = [](const std::string& rest) {
        return findings(with_bind("  - {bind: \"dev.irq -> dev.reset[${i}]\", " + rest + "}\n"))
            .at(0);
    };
    EXPECT_EQ(first_of("count: [2]"), (finding{mistake::bad_count, 7, 49}));
    EXPECT_EQ(first_of("count: [2, 0]"), (finding{mistake::bad_count, 7, 53}));
    EXPECT_EQ(first_of("count: [2000000, 2000000]"), (finding{mistake::too_many_modules, 7, 49}));
    EXPECT_EQ(first_of("count: [2, 2], with: {n: [0, 1, 2]}"),
              (finding{mistake::bad_count, 7, 67}));
}

TEST(Board, E27AndE08AndE09AndE11AndE22CheckFurtherVariables) {
    const auto first_of = [](const std::string& with) {
        return findings(with_bind("  - {bind: dev.irq -> none, count: 2, with: {" + with + "}}\n"))
            .at(0);
    };
    EXPECT_EQ(first_of("i: [1, 2]"), (finding{mistake::bad_name, 7, 46}));
    EXPECT_EQ(first_of("\"1\": [1, 2]"), (finding{mistake::bad_name, 7, 46}));
    EXPECT_EQ(first_of("n: 3"), (finding{mistake::wrong_shape, 7, 49}));
    EXPECT_EQ(first_of("n: {first: 3}"), (finding{mistake::missing_key, 7, 49}));
    EXPECT_EQ(first_of("n: {first: 0, stride: 1, last: 9}"),
              (finding{mistake::unknown_key, 7, 71}));
    EXPECT_EQ(first_of("n: {first: 1, stride: 0xffff_ffff_ffff_ffff}"),
              (finding{mistake::out_of_range, 7, 68}));
}

TEST(Board, E26SuggestsTheNearestPreset) {
    const std::string yaml = R"(board: b
parameters: {fabric: table, links: 1}
presets:
  fabric:
    table: {links: 4}
    headline: {links: 8}
modules: {}
)";
    const auto set = [&](std::string text) { return mistakes(yaml, {".", {std::move(text)}}); };
    EXPECT_TRUE(set("fabric=headline").empty());
    const auto list = set("fabric=headlin");
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::not_a_choice);
    EXPECT_THAT(list[0].suggestion, HasSubstr("did you mean 'headline'?"));
    EXPECT_EQ(findings("board: b\nparameters: {p: x}\npresets: {p: {y: {}}}\nmodules: {}\n"),
              (std::vector<finding>{{mistake::not_a_choice, 2, 14}}));
}

TEST(Board, E08AndE12AndE24CheckUnusedPresetsToo) {
    EXPECT_EQ(findings(R"(board: b
parameters: {fabric: table, links: 1}
presets:
  fabri: {}
  fabric:
    table: {}
    headline: {link: 8}
    third: {links: many}
    fourth: {links: [8]}
modules: {}
)"),
              (std::vector<finding>{{mistake::unknown_parameter, 4, 3},
                                    {mistake::unknown_parameter, 7, 16},
                                    {mistake::not_a_number, 8, 20},
                                    {mistake::wrong_shape, 9, 21}}));
}

TEST(Board, E51FindsDuplicateNamesMadeByACount) {
    const auto list =
        only(mistake::module_twice,
             mistakes(with_modules("  a: {type: router, count: 2}\n  a1: {type: router}\n")));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].suggestion, "first at board.yaml:3");
}

TEST(Board, E53BoundsTheNumberOfModules) {
    EXPECT_THAT(findings(with_modules("  a: {type: router, count: 150000}\n"
                                      "  b: {type: router, count: 150000}\n")),
                testing::Contains(finding{mistake::too_many_modules, 4, 3}));
}

TEST(Board, E54ReportsTheModelsRefusal) {
    EXPECT_THAT(findings(with_modules("  a: {type: gadget, queues: 33}\n")),
                testing::Contains(finding{mistake::refused_by_model, 3, 3}));
}

TEST(Board, E55SuggestsTheNearestBoard) {
    const trn::test::scratch_folder folder;
    setenv("TRNVP_BOARDS", folder.text().c_str(), 1);
    std::ofstream(folder / "little.yaml") << "board: little\n";
    try {
        find_board("litle");
        FAIL();
    } catch (const config_error& error) {
        EXPECT_EQ(error.list().at(0).code, mistake::unknown_board);
        EXPECT_THAT(error.what(), HasSubstr("did you mean 'little'?"));
    }
}

/// Two modules with plugs, connected by `lines`.
std::string with_plugs(const std::string& lines) {
    return R"(board: b
modules:
  one: {type: socket_strip}
  other: {type: socket_strip}
  ram: {type: memory, size: 64 KiB}
  dev: {type: gadget}
bind:
  - dev.mem -> ram.in
  - {bind: dev.irq -> none}
  - dev.extra -> dev.regs
)" + lines;
}

TEST(Board, JoinsPlugsInEitherOrder) {
    EXPECT_EQ(
        findings(with_plugs("  - one.feed <-> other.feed\n"
                            "  - {bind: \"one.outlet[${i}] <-> other.outlet[${i}]\", count: 2}\n"
                            "  - one.outlet[2] <-> none\n")),
        std::vector<finding>{});
    EXPECT_EQ(findings(with_plugs("  - one.feed <-> none\n  - other.feed <-> none\n")),
              std::vector<finding>{});
}

TEST(Board, E56RefusesAnArrowBetweenPlugs) {
    const auto list = mistakes(with_plugs("  - one.feed -> other.feed\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::not_two_plugs);
    EXPECT_EQ(list[0].message, "'one.feed' is a plug, which works both ways");
    EXPECT_EQ(list[0].suggestion, "write 'one.feed <-> other.feed'");
    EXPECT_EQ(
        mistakes(with_plugs("  - one.feed -> none\n  - other.feed <-> none\n")).at(0).suggestion,
        "write 'one.feed <-> none'");
    const finding here{mistake::not_two_plugs, 11, 5};
    for (const auto* line : {"one.feed <-> ram.in", "dev.extra <-> one.feed", "dev.mem <-> ram.in",
                             "dev.irq <-> none", "one.feed -> ram.in", "dev.irq -> one.outlet[0]"})
        EXPECT_THAT(findings(with_plugs("  - " + std::string(line) + "\n")),
                    testing::Contains(here))
            << line;
}

TEST(Board, E56RefusesAPlugJoinedToItself) {
    const auto list =
        only(mistake::not_two_plugs, mistakes(with_plugs("  - one.outlet[1] <-> one.outlet[1]\n")));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].message, "'one.outlet[1]' is joined to itself");
}

TEST(Board, E40AndE41AndE49CheckPlugEnds) {
    const auto list =
        mistakes(with_plugs("  - one.feed <-> othr.feed\n"
                            "  - one.outlt[0] <-> other.feed\n"
                            "  - one.outlet[3] <-> other.feed\n"
                            "  - one.outlet <-> other.feed\n"));
    ASSERT_EQ(list.size(), 4u);
    EXPECT_EQ(list[0].code, mistake::unknown_module);
    EXPECT_THAT(list[0].suggestion, HasSubstr("did you mean 'other'?"));
    EXPECT_EQ(list[1].code, mistake::unknown_port);
    EXPECT_THAT(list[1].suggestion, HasSubstr("did you mean 'outlet'?"));
    EXPECT_EQ(list[2].code, mistake::line_outside);
    EXPECT_EQ(list[3].code, mistake::line_outside);
}

/// Parts with lanes, and `lines` below `bind:`, which is line 8.
std::string with_lanes(const std::string& switch_parameters, const std::string& lines) {
    return R"(board: b
modules:
  host: {type: root_complex, link_width: 16}
  hub: {type: pcie_switch}
  wire: {type: pcie_link, links: 5, count: 5}
  switch: {type: neuron_switch)" +
           switch_parameters + R"(}
  other: {type: neuron_switch, planes: 9}
bind:
)" + lines;
}
const std::string five_wires = R"(  - host.port[0] <-> hub.up
  - {bind: "wire${i}.a <-> switch.port[${i}]", count: 5}
  - {bind: "wire${i}.b <-> other.port[${i}]", count: 5}
)";

TEST(Board, E57RefusesMoreLanesThanTheSwitchPartsHave) {
    const auto list = mistakes(with_lanes("", five_wires));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::too_many_lanes, 10, 12}));
    EXPECT_EQ(list[0].message, "'switch' has 160 lanes, 'switch.port[4]' makes it 200");
    EXPECT_TRUE(mistakes(with_lanes(", planes: 2", five_wires)).empty());
    EXPECT_TRUE(mistakes(with_lanes(", part: lanes320", five_wires)).empty());
}

TEST(Board, E58ComparesTheLanesOfTheTwoEndsOfAWire) {
    const auto narrow = mistakes(R"(board: b
modules:
  host: {type: root_complex, link_width: 8, ports: 2}
  hub: {type: pcie_switch}
  wire: {type: pcie_link, lanes: 4}
  strip: {type: socket_strip}
bind:
  - host.port[0] <-> hub.up
  - host.port[1] <-> wire.a
  - wire.b <-> strip.feed
)");
    ASSERT_EQ(narrow.size(), 2u);
    EXPECT_EQ((finding{narrow[0].code, narrow[0].line, narrow[0].column}),
              (finding{mistake::lane_mismatch, 8, 5}));
    EXPECT_EQ(narrow[0].message, "'host.port[0]' has 8 lanes and 'hub.up' 16");
    EXPECT_EQ(narrow[1].line, 9);
}

/// The links of a chip are in four blocks of five x8 links.
TEST_F(Assemblies, E57RefusesMoreLinksThanTheBlocksOfAChipHave) {
    const auto of = [&](unsigned links) {
        return ::mistakes(
            "board: b\nmodules:\n  host: {type: root_complex}\n  chip: {type: "
            "chips/trainium3}\n  wire: {type: pcie_link, count: 2, links: " +
                std::to_string(links) +
                "}\n  far: {type: neuron_switch, planes: 9}\nbind:\n"
                "  - host.port[0] <-> chip.link\n"
                "  - {bind: \"chip.port${i} <-> wire${i}.a\", count: 2}\n"
                "  - {bind: \"wire${i}.b <-> far.port[${i}]\", count: 2}\n",
            {boards_folder(), {}});
    };
    EXPECT_TRUE(only(mistake::too_many_lanes, of(10)).empty());
    const auto list = only(mistake::too_many_lanes, of(11));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].line, 9);
    EXPECT_EQ(list[0].message, "'neuron_link' has 160 lanes, 'neuron_link.port[1]' makes it 176");
}

/// Within the chip's lanes, but not within one block: two x16 links leave 8 of 40 lanes.
TEST_F(Assemblies, E59RefusesALinkWithoutAFreeBlock) {
    const auto of = [&](unsigned first, unsigned second, unsigned lanes) {
        const auto wire = [&](unsigned links) {
            return "{type: pcie_link, links: " + std::to_string(links) +
                   ", lanes: " + std::to_string(lanes) + "}\n";
        };
        return only(mistake::no_block_has_room,
                    ::mistakes("board: b\nmodules:\n  host: {type: root_complex}\n  chip: {type: "
                               "chips/trainium3}\n  one: " +
                                   wire(first) + "  two: " + wire(second) +
                                   "  far: {type: neuron_switch, planes: 9}\nbind:\n"
                                   "  - host.port[0] <-> chip.link\n"
                                   "  - chip.port1 <-> two.a\n"
                                   "  - chip.port0 <-> one.a\n"
                                   "  - one.b <-> far.port[0]\n"
                                   "  - two.b <-> far.port[1]\n",
                               {boards_folder(), {}}));
    };
    EXPECT_TRUE(of(4, 4, 16).empty());
    EXPECT_TRUE(of(20, 20, 4).empty());
    EXPECT_TRUE(of(12, 8, 8).empty());  // two links of port 0 are in the third block
    const auto list = of(4, 5, 16);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::no_block_has_room, 10, 5}));
    EXPECT_EQ(list[0].message,
              "'neuron_link.port[1]' is 5 x16, for which no block of 40 lanes has room");
}

TEST(Board, E43RefusesAPlugUsedTwice) {
    const auto list =
        mistakes(with_plugs("  - one.feed <-> other.feed\n"
                            "  - one.outlet[0] <-> other.feed\n"
                            "  - other.feed <-> none\n"));
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].code, mistake::bound_twice);
    EXPECT_EQ(list[0].suggestion, "first at board.yaml:11");
    EXPECT_EQ(list[1].code, mistake::bound_twice);
}

TEST(Board, E44FindsAnUnusedPlug) {
    const auto list = mistakes(with_plugs("  - one.feed <-> other.outlet[0]\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::unbound);
    EXPECT_EQ(list[0].message, "plug 'other.feed' is not bound");
}

TEST(Board, E48RefusesARangeForPlugs) {
    EXPECT_THAT(findings(with_plugs("  - one.feed <-> other.feed @ 0x0 + 4 KiB\n")),
                testing::Contains(finding{mistake::range_expected, 11, 5}));
}

TEST(Board, ReportsAllMistakesOfAFileInOrder) {
    const auto list = findings(R"(board: b
colour: red
modules:
  noc: {type: ruoter}
  ram: {type: memory, size: 64}
bind:
  - nok.initiator -> ram.out
)");
    EXPECT_THAT(list, testing::ElementsAre(finding{mistake::unknown_key, 2, 1},
                                           finding{mistake::unknown_type, 4, 15},
                                           finding{mistake::unit_missing, 5, 29},
                                           finding{mistake::unknown_module, 7, 5},
                                           finding{mistake::unknown_port, 7, 5}));
}

TEST(Board, MistakesInLargeCountsAreReportedQuickly) {
    std::string many = "board: b\nmodules:\n  a: {type: router, count: 100000}\nbind:\n";
    many += "  - {bind: \"a${i}.x -> a${i}.y\", count: 2000000}\n";
    EXPECT_FALSE(findings(many).empty());
}

TEST(Board, VeryLongListsArePlanned) {
    std::string many =
        "board: b\nmodules:\n  noc: {type: router}\n  ram: {type: memory, count: 40000, "
        "size: 4 KiB}\n  d: {type: gadget}\nbind:\n  - d.mem -> noc.target\n"
        "  - d.irq -> none\n  - noc.initiator -> d.regs @ 0x1_0000_0000_0000 + 4 KiB\n"
        "  - bind: noc.initiator -> ram${i}.in\n    size: 4 KiB\n    at: [0";
    for (int i = 1; i < 40'000; ++i) many += "," + std::to_string(i * 4096);
    EXPECT_EQ(findings(many + "]\n"), std::vector<finding>{});
}

TEST_F(Assemblies, E10ListsTheSearchedFolders) {
    write("chips/big.yaml", "assembly: big\nmodules: {}\n");
    const auto list = mistakes(with_modules("  a: {type: chips/bigg}\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::unknown_type);
    EXPECT_THAT(list[0].suggestion, HasSubstr("'chips/big'"));
}

TEST_F(Assemblies, E11IsReportedInTheAssemblysFile) {
    write("chips/big.yaml", "assembly: big\nmodules: {}\nboard: no\n");
    const auto list = mistakes(with_modules("  a: {type: chips/big, count: 3}\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::unknown_key, 3, 1}));
    EXPECT_THAT(list[0].file, testing::EndsWith("chips/big.yaml"));
}

TEST_F(Assemblies, E12AndE20CheckTheParametersOfAnAssembly) {
    write("chips/big.yaml", "assembly: big\nparameters: {room: 4 KiB, id: 0}\nmodules: {}\n");
    EXPECT_EQ(first(with_modules("  a: {type: chips/big, rom: 1 KiB}\n")),
              (finding{mistake::unknown_parameter, 3, 24}));
    EXPECT_EQ(first(with_modules("  a: {type: chips/big, room: 1}\n")),
              (finding{mistake::unit_missing, 3, 30}));
    EXPECT_EQ(first(with_modules("  a: {type: chips/big, id: x}\n")),
              (finding{mistake::not_a_number, 3, 28}));
}

TEST_F(Assemblies, E09AndE24AndE26CheckWhatIsInherited) {
    write("chips/big.yaml", "assembly: big\nparameters: {room: 4 KiB, id: 0}\nmodules: {}\n");
    const auto board = [](const std::string& parameters, const std::string& inherit) {
        return "board: b\nparameters: {" + parameters + "}\nmodules:\n" +
               "  a: {type: chips/big, inherit: " + inherit + "}\n";
    };
    EXPECT_EQ(first(board("size: 1", "true")), (finding{mistake::missing_key, 4, 33}));
    EXPECT_EQ(first(board("room: word", "true")), (finding{mistake::not_a_number, 4, 33}));
    EXPECT_EQ(first(board("room: 1 KiB", "yes")), (finding{mistake::not_a_choice, 4, 33}));
}

TEST_F(Assemblies, E40HidesTheModulesInsideAnAssembly) {
    write("chips/big.yaml",
          "assembly: big\nmodules:\n  ram: {type: memory, size: 4 KiB}\nports: {data: ram.in}\n");
    const std::string head =
        "board: b\nmodules:\n  chip: {type: chips/big}\n  dev: {type: gadget}\n";
    const auto list =
        only(mistake::unknown_port, mistakes(head + "bind:\n  - dev.mem -> chip.dta\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].line, 6);
}

TEST_F(Assemblies, E44NamesTheUnboundAssemblyPort) {
    write("chips/big.yaml",
          "assembly: big\nmodules:\n  ram: {type: memory, size: 4 KiB}\nports: {data: ram.in}\n");
    const auto list = mistakes("board: b\nmodules:\n  chip: {type: chips/big}\n");
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ((finding{list[0].code, list[0].line, list[0].column}),
              (finding{mistake::unbound, 3, 3}));
    EXPECT_EQ(list[0].message, "port 'chip.data' is not bound");
}

TEST_F(Assemblies, E52ShowsTheChainOfACycle) {
    write("chips/a.yaml", "assembly: a\nmodules:\n  b: {type: chips/b}\n");
    write("chips/b.yaml", "assembly: b\nmodules:\n  a: {type: chips/a}\n");
    const auto list = mistakes(with_modules("  a: {type: chips/a}\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::include_cycle);
    EXPECT_EQ(list[0].line, 3);
    EXPECT_THAT(list[0].suggestion, HasSubstr("board.yaml -> "));
}

TEST_F(Assemblies, E05BoundsTheDepthOfAssembliesAndOfVariants) {
    const auto number = [](int i) { return std::to_string(i); };
    for (int i = 0; i < 3000; ++i) {
        write("chips/a" + number(i) + ".yaml",
              "assembly: a\nmodules:\n  n: {type: chips/a" + number(i + 1) + "}\n");
        write("chips/v" + number(i) + ".yaml",
              "assembly: v\nvariant_of: chips/v" + number(i + 1) + "\n");
    }
    for (const std::string kind : {"a", "v"}) {
        const auto list = mistakes(with_modules("  x: {type: chips/" + kind + "0}\n"));
        ASSERT_EQ(list.size(), 1u);
        EXPECT_EQ(list[0].code, mistake::nested_too_deep);
        EXPECT_THAT(list[0].file, testing::EndsWith(kind + (kind == "a" ? "31.yaml" : "32.yaml")));
        write("chips/" + kind + "31.yaml", "assembly: end\nmodules: {}\n");
        EXPECT_TRUE(mistakes(with_modules("  x: {type: chips/" + kind + "0}\n")).empty());
    }
}

TEST_F(Assemblies, E52ReportsACyclicVariant) {
    write("chips/a.yaml", "assembly: a\nvariant_of: chips/b\n");
    write("chips/b.yaml", "assembly: b\nvariant_of: chips/a\n");
    const auto list = mistakes(with_modules("  a: {type: chips/a}\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::include_cycle);
    EXPECT_EQ(list[0].line, 2);
}

/// A board of two modules, with `allow` below `misuse:`.
std::string with_misuse(const std::string& allow) {
    return "board: b\nmodules: {beat: {type: beat, count: 2}}\nbind: []\nmisuse:\n" + allow;
}

TEST(Board, E40AllowancesNameModules) {
    const auto list =
        mistakes(with_misuse("  allow:\n"
                             "    - {rule: TRN-REG-003, at: 'be*', count: 2, reason: x}\n"
                             "    - {rule: TRN-REG-003, at: baet1, reason: x}\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::unknown_module);
    EXPECT_EQ(std::pair(list[0].line, list[0].column), std::pair(7, 31));
    EXPECT_THAT(list[0].suggestion, HasSubstr("did you mean 'beat1'?"));
}

TEST(Board, MistakesInItsAllowancesHaveTheirPlaces) {
    const auto found = [](const std::string& allow) { return findings(with_misuse(allow)); };
    using testing::ElementsAre;
    EXPECT_THAT(found("  allow:\n    - {rule: TRN-DMA-404, reason: x}\n"),
                ElementsAre(finding{mistake::not_a_choice, 6, 14}));
    EXPECT_THAT(found("  allow:\n    - {rule: '${x}', reason: x}\n"),
                ElementsAre(finding{mistake::unknown_variable, 6, 14}));
    EXPECT_THAT(found("  allow: []\n  policy: fail\n"),
                ElementsAre(finding{mistake::unknown_key, 6, 3}));
    EXPECT_THAT(found("  []\n"), ElementsAre(finding{mistake::wrong_shape, 5, 3}));
}

TEST_F(Assemblies, E11OnlyBoardsHaveAllowances) {
    write("chips/a.yaml", "assembly: a\nmodules: {}\nmisuse: {allow: []}\n");
    EXPECT_EQ(first(with_modules("  a: {type: chips/a}\n")), (finding{mistake::unknown_key, 3, 1}));
    write("chips/a.yaml", "assembly: a\nvariant_of: chips/b\nmisuse: {allow: []}\n");
    write("chips/b.yaml", "assembly: b\nmodules: {}\n");
    EXPECT_EQ(first(with_modules("  a: {type: chips/a}\n")), (finding{mistake::unknown_key, 3, 1}));
}

TEST_F(Assemblies, E12AndE20CheckTheDefaultsOfAVariant) {
    write("chips/big.yaml", "assembly: big\nparameters: {room: 4 KiB}\nmodules: {}\n");
    const auto first_of = [&](const std::string& parameters) {
        write("chips/small.yaml",
              "assembly: small\nvariant_of: chips/big\nparameters: {" + parameters + "}\n");
        return first(with_modules("  a: {type: chips/small}\n"));
    };
    EXPECT_EQ(first_of("rom: 1 KiB"), (finding{mistake::unknown_parameter, 3, 14}));
    EXPECT_EQ(first_of("room: 1"), (finding{mistake::unit_missing, 3, 14}));
}

TEST_F(Assemblies, E10AndE11CheckVariantsToo) {
    write("chips/a.yaml", "assembly: a\nvariant_of: chips/none\n");
    EXPECT_EQ(first(with_modules("  a: {type: chips/a}\n")),
              (finding{mistake::unknown_type, 2, 13}));
    write("chips/b.yaml", "assembly: b\nmodules: {}\n");
    write("chips/a.yaml", "assembly: a\nvariant_of: chips/b\nmodules: {}\n");
    EXPECT_EQ(first(with_modules("  a: {type: chips/a}\n")), (finding{mistake::unknown_key, 3, 1}));
}

TEST_F(Assemblies, E53BoundsNestedCounts) {
    write("chips/a.yaml", "assembly: a\nmodules:\n  b: {type: chips/b, count: 1000}\n");
    write("chips/b.yaml", "assembly: b\nmodules:\n  c: {type: router, count: 1000}\n");
    const auto list = mistakes(with_modules("  a: {type: chips/a, count: 1000}\n"));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].code, mistake::too_many_modules);
}

TEST_F(Assemblies, FaultyAssemblyCausesNoFollowUpMistakes) {
    write("chips/a.yaml",
          "assembly: a\nmodules:\n  m: {type: memry}\n  n: {type: memory, size: 1 KiB}\n"
          "ports: {in: m.in, other: n.in}\n");
    const auto list = mistakes(R"(board: b
modules:
  noc: {type: router}
  a: {type: chips/a, count: 3}
bind:
  - {bind: "noc.initiator -> a${i}.in", at: 0x0, stride: 1 KiB, size: 1 KiB, count: 3}
  - {bind: "nok.initiator -> a${i}.in", at: 0x0, stride: 1 KiB, size: 1 KiB, count: 3}
)");
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0].code, mistake::unknown_type);                  // memry
    EXPECT_EQ(list[1].message, "target 'noc.target' is not bound");  // no line would have bound it
    EXPECT_EQ(list[2].code, mistake::unknown_module);                // nok
}

TEST_F(Assemblies, E46AndE49AreFoundInLaterInstancesToo) {
    write("chips/big.yaml",
          "assembly: big\nparameters: {outlets: 3, room: 8 KiB}\nmodules:\n"
          "  a: {type: socket_strip, outlets: \"${outlets}\"}\n  b: {type: socket_strip}\n"
          "  noc: {type: router}\n  ram: {type: memory, size: \"${room}\"}\nbind:\n"
          "  - a.feed <-> none\n  - a.outlet[2] <-> b.feed\n"
          "  - noc.initiator -> ram.in @ 0x0 + 8 KiB\n"
          "ports: {in: noc.target}\n");
    const auto found = [this](const std::string& parameters) {
        const auto list = mistakes(
            "board: b\nmodules:\n  noc: {type: router}\n  d: {type: gadget}\n"
            "  one: {type: chips/big, count: 2}\n  other: {type: chips/big" +
            parameters + "}\nbind:\n  - d.mem -> noc.target\n  - d.irq -> none\n" +
            "  - noc.initiator -> d.regs @ 0x0 + 4 KiB\n"
            "  - {bind: \"noc.initiator -> ${x}.in\", with: {x: [one0, one1, other]}, "
            "at: [0x1_0000, 0x2_0000, 0x3_0000], size: 4 KiB}\n");
        std::vector<finding> all;
        for (const auto& one : list) all.push_back({one.code, one.line, one.column});
        return all;
    };
    EXPECT_EQ(found(""), std::vector<finding>{});
    EXPECT_EQ(found(", outlets: 2"), (std::vector<finding>{{mistake::line_outside, 10, 5}}));
    EXPECT_EQ(found(", room: 4 KiB"), (std::vector<finding>{{mistake::range_too_large, 11, 5}}));
}

TEST_F(Assemblies, MistakeIsReportedOncePerFile) {
    write("chips/a.yaml", "assembly: a\nmodules:\n  r: {type: memory, size: 5}\n");
    EXPECT_EQ(mistakes(with_modules("  a: {type: chips/a, count: 100}\n")).size(), 1u);
}

TEST_F(Assemblies, ExpandedTextIsBounded) {
    write("chips/a.yaml", "assembly: a\nparameters: {t: x}\nmodules: {}\n");
    const std::string longest(3000, 'x');
    EXPECT_EQ(first("board: b\nparameters: {t: " + longest +
                    "}\nmodules:\n  a: {type: chips/a, t: \"${t}${t}\"}\n"),
              (finding{mistake::out_of_range, 4, 25}));
}

TEST(Board, TakesItsParametersFromTheCommandLine) {
    const std::string yaml = "board: b\nparameters: {room: 4 KiB}\nmodules: {}\n";
    const auto set = [&](const std::string& text) {
        const auto list = mistakes(yaml, {".", {text}});
        return list.empty() ? mistake{} : list[0].code;
    };
    EXPECT_EQ(set("room=8 KiB"), mistake{});
    EXPECT_EQ(set("rom=8 KiB"), mistake::unknown_parameter);
    EXPECT_EQ(set("room=8"), mistake::unit_missing);
    EXPECT_EQ(set("room"), mistake::not_a_choice);
    EXPECT_EQ(set("room="), mistake::not_a_number);
}

TEST(Board, E07RefusesAParameterSetTwiceOnTheCommandLine) {
    const auto list = mistakes("board: b\nparameters: {room: 4 KiB}\nmodules: {}\n",
                               {".", {"room=8 KiB", "room=16 KiB"}});
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].text(), "command line: E07 'room' is set twice: '8 KiB' and '16 KiB'\n");
}

/// A board whose gadget reaches the router `a`.
std::string routers(const std::string& modules, const std::string& binds) {
    return "board: b\nmodules:\n  dev: {type: gadget}\n  a: {type: router}\n" + modules +
           "bind:\n  - dev.mem -> a.target\n  - dev.irq -> none\n"
           "  - a.initiator -> dev.regs @ 0x0 + 4 KiB\n" +
           binds;
}

TEST(Board, E60RefusesRangesThatLeadBackToThemselves) {
    const auto two = mistakes(routers("  b: {type: router}\n",
                                      "  - a.initiator -> b.target @ 0x1000 + 4 KiB => 0x1000\n"
                                      "  - b.initiator -> a.target @ 0x1000 + 4 KiB => 0x1000\n"));
    ASSERT_EQ(two.size(), 1u);
    EXPECT_EQ((finding{two[0].code, two[0].line, two[0].column}),
              (finding{mistake::endless_access, 10, 5}));
    EXPECT_EQ(two[0].suggestion, "b.target -> a.target -> b.target");
    const auto itself = mistakes(routers("", "  - a.initiator -> a.target @ 0x1000 + 4 KiB\n"));
    EXPECT_TRUE(itself.empty());  // 0x1000 leads to 0 of the same router
    EXPECT_THAT(findings(routers("", "  - a.initiator -> a.target @ 0x1000 + 4 KiB => 0xff0\n")),
                testing::Contains(finding{mistake::endless_access, 9, 5}));
    EXPECT_THAT(findings(routers("  w: {type: ram_window, size: 4 KiB, base: 0x1000}\n",
                                 "  - a.initiator -> w.in @ 0x1000 + 4 KiB\n"
                                 "  - w.out -> a.target\n")),
                testing::Contains(finding{mistake::endless_access, 10, 5}));
    EXPECT_THAT(findings(routers("  d: {type: die_to_die}\n",
                                 "  - a.initiator -> d.from_die_0 @ 0x1000 + 4 KiB => 0x1000\n"
                                 "  - a.initiator -> d.control @ 0x2000 + 4 KiB\n"
                                 "  - d.to_die_1 -> d.from_die_1\n  - d.to_die_0 -> a.target\n")),
                testing::Contains(finding{mistake::endless_access, 10, 5}));
}

TEST(Board, RoutersMayLeadBackToOtherRanges) {
    EXPECT_THAT(findings(routers("  b: {type: router}\n",
                                 "  - a.initiator -> b.target @ 0x1000 + 12 KiB\n"
                                 "  - b.initiator -> a.target @ 0x2000 + 4 KiB => 0x1000\n")),
                testing::IsEmpty());  // a+0x3000 -> b+0x2000 -> a+0x1000 -> b+0
    EXPECT_THAT(findings(routers("  w: {type: ram_window, size: 4 KiB}\n",
                                 "  - a.initiator -> w.in @ 0x1000 + 4 KiB\n"
                                 "  - w.out -> a.target\n")),
                testing::IsEmpty());
}

TEST(Board, E60BoundsTheRoutersInARow) {
    const auto chain = [](unsigned count) {
        std::string modules, binds;
        for (unsigned i = 0; i < count; ++i) {
            modules += fmt::format("  r{}: {{type: router}}\n", i);
            binds += fmt::format("  - {}.initiator -> r{}.target @ 0x1000 + 4 KiB => 0x1000\n",
                                 i == 0 ? "a" : fmt::format("r{}", i - 1), i);
        }
        return findings(routers(modules, binds));
    };
    const auto is_bounded =
        testing::Contains(testing::Field(&finding::code, mistake::endless_access));
    EXPECT_THAT(chain(60), testing::Not(is_bounded));
    EXPECT_THAT(chain(66), is_bounded);
    const auto start = std::clock();
    EXPECT_FALSE(chain(20'000).empty());
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
}

TEST(Board, E60BoundsThePathsThroughRouters) {
    // Each router has two ranges, of half the size of those that lead to it.
    const auto fan = [](unsigned count) {
        std::string modules, binds = "  - a.initiator -> r0.target @ 128 TiB + 64 TiB\n";
        for (unsigned i = 0; i < count; ++i) {
            modules += fmt::format("  r{}: {{type: router}}\n", i);
            const auto size = std::uint64_t{32} << 40 >> i;
            for (const auto at : {std::uint64_t{0}, size})
                if (i + 1 < count)
                    binds += fmt::format("  - r{}.initiator -> r{}.target @ {} + {} B\n", i, i + 1,
                                         at, size);
        }
        return findings(routers(modules, binds));
    };
    const auto is_bounded =
        testing::Contains(testing::Field(&finding::code, mistake::endless_access));
    EXPECT_THAT(fan(16), testing::Not(is_bounded));
    const auto start = std::clock();
    EXPECT_THAT(fan(40), is_bounded);
    EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
}

TEST(Board, E60RefusesRingsOfSwitchesAndCables) {
    const auto of = [](const std::string& binds) {
        return findings(R"(board: b
modules:
  host: {type: root_complex}
  hub: {type: pcie_switch, up_lanes: 8, count: 2}
  wire: {type: pcie_link, count: 2}
bind:
  - host.port[0] <-> hub0.up
)" + binds);
    };
    EXPECT_THAT(of("  - hub0.down[0] <-> hub1.up\n  - wire0.a <-> hub1.down[0]\n"
                   "  - wire0.b <-> none\n  - wire1.a <-> none\n  - wire1.b <-> none\n"),
                testing::IsEmpty());
    EXPECT_THAT(of("  - hub0.down[0] <-> hub0.down[1]\n"),
                testing::Contains(finding{mistake::endless_access, 8, 5}));
    EXPECT_THAT(of("  - wire0.a <-> wire0.b\n"),
                testing::Contains(finding{mistake::endless_access, 8, 5}));
    EXPECT_THAT(of("  - hub0.down[0] <-> wire0.a\n  - wire0.b <-> wire1.a\n"
                   "  - wire1.b <-> hub0.down[1]\n"),
                testing::Contains(finding{mistake::endless_access, 10, 5}));
}

TEST(Board, E42RefusesLinksBetweenPortsOfOneSide) {
    const auto of = [](const std::string& binds) {
        return findings(R"(board: b
modules:
  host: {type: root_complex, ports: 3, link_width: 8}
  hub: {type: pcie_switch, up_lanes: 8, count: 2}
  wire: {type: pcie_link, lanes: 8, count: 2}
bind:
)" + binds);
    };
    const std::string ups = "  - host.port[0] <-> hub0.up\n  - host.port[1] <-> hub1.up\n";
    const std::string no_wires =
        "  - wire0.a <-> none\n  - wire0.b <-> none\n  - wire1.a <-> none\n  - wire1.b <-> none\n";
    EXPECT_THAT(of(ups + no_wires), testing::IsEmpty());
    EXPECT_THAT(of(ups + no_wires + "  - hub0.down[0] <-> hub1.down[1]\n"),
                testing::ElementsAre(finding{mistake::wrong_direction, 13, 5}));
    EXPECT_THAT(of("  - hub0.up <-> hub1.up\n" + no_wires),
                testing::ElementsAre(finding{mistake::wrong_direction, 7, 5}));
    EXPECT_THAT(of(ups + no_wires + "  - host.port[2] <-> hub1.down[1]\n"),
                testing::ElementsAre(finding{mistake::wrong_direction, 13, 5}));
    // Through two cables: reported once.
    EXPECT_THAT(of(ups + "  - hub0.down[0] <-> wire0.a\n  - wire0.b <-> wire1.b\n"
                         "  - wire1.a <-> hub1.down[1]\n"),
                testing::ElementsAre(finding{mistake::wrong_direction, 9, 5}));
    EXPECT_THAT(of("  - host.port[0] <-> hub0.up\n  - hub0.down[0] <-> wire0.a\n"
                   "  - wire0.b <-> wire1.b\n  - wire1.a <-> hub1.up\n"),
                testing::IsEmpty());
}

TEST(Board, E46RefusesABarThatIsSmallerThanItsWindows) {
    const auto board = [](const std::string& bars) {
        return R"(board: b
modules:
  dev: {type: gadget}
  pcie: {type: pcie_endpoint, )" +
               bars + R"(}
  windows: {type: router}
  ram: {type: memory, size: 1 MiB}
  end: {type: finisher}
bind:
  - dev.mem -> dev.regs
  - dev.irq -> none
  - pcie.link <-> none
  - dev.extra -> pcie.dma
  - pcie.bar0 -> windows.target
  - windows.initiator -> ram.in @ 0x10_0000 + 1 MiB
  - pcie.bar4 -> end.in
  - end.power_off -> none
  - end.reset -> none
)";
    };
    EXPECT_THAT(findings(board("bar0_size: 2 MiB, bar4_size: 4 KiB")), testing::IsEmpty());
    EXPECT_THAT(findings(board("bar0_size: 1 MiB, bar4_size: 4 KiB")),
                testing::ElementsAre(finding{mistake::range_too_large, 14, 5}));
    EXPECT_THAT(findings(board("bar0_size: 2 MiB, bar4_size: 0 B")),
                testing::ElementsAre(finding{mistake::range_too_large, 15, 5}));
}

TEST(Board, E06BoundsParametersAndKeys) {
    std::string many;
    for (int i = 0; i <= 1000; ++i) many += fmt::format("p{}: 1, ", i);
    EXPECT_THAT(findings("board: b\nparameters: {" + many + "}\nmodules: {}\n"),
                testing::Contains(finding{mistake::too_many_values, 2, 13}));
    EXPECT_THAT(findings(with_modules("  a: {type: router, " + many + "}\n")),
                testing::Contains(finding{mistake::too_many_values, 3, 3}));
    EXPECT_THAT(findings(with_modules("  a: {type: router, count: 2, each: {" + many + "}}\n")),
                testing::Contains(finding{mistake::too_many_values, 3, 37}));
}

TEST(Board, MistakesOfManyModulesTakeLinearTime) {
    std::string modules, binds = "bind:\n";
    for (int i = 0; i < 20'000; ++i) {
        modules += fmt::format("  good_{}x: {{type: router}}\n  bad_{}x: {{type: rooter}}\n", i, i);
        binds += fmt::format("  - good_{}x.initiator -> god_{}x.target\n", i, i);
    }
    const auto start = std::clock();
    EXPECT_EQ(findings(with_modules(modules + binds)).size(), 100u);
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "models/neuron_isa/assembler/program_set.h"
#include "platform/app/scenario/files/load.h"
#include "tests/support/scratch_folder.h"

namespace trn::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ScenarioFile : testing::Test {
    diagnostics problems;
    const test::scratch_folder folder;

    std::vector<scenario> read(const std::string& text) {
        const auto file = folder / "scenario.yaml";
        std::ofstream(file) << text;
        return loaded(file);
    }
    std::vector<scenario> loaded(const std::filesystem::path& file, const board_check& check = {}) {
        auto all = load(file, check);
        const auto found = mistakes_of(all);
        for (const auto& one : found.list()) problems.add(one);
        return all;
    }
    /// Writes a second file to the scenario's folder.
    void write_other(const std::string& text) const {
        std::ofstream(folder / "other.yaml") << text;
    }
    /// line:column: code of each mistake
    std::vector<std::string> mistakes() const {
        std::vector<std::string> all;
        for (const auto& one : problems.list())
            all.push_back(std::to_string(one.line) + ":" + std::to_string(one.column) + ":E" +
                          std::to_string(static_cast<unsigned>(one.code)));
        return all;
    }
    static std::string head() { return "scenario: x\nboard: b\n"; }  // two lines
};

TEST_F(ScenarioFile, IsReadWithItsDefaults) {
    const auto all = read(head() + "steps:\n  - boot: {within: 1 s}\n  - wait: 3 us\n");
    EXPECT_THAT(mistakes(), ElementsAre());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].name, "x");
    EXPECT_EQ(all[0].seed, 1u);
    EXPECT_EQ(all[0].steps.size(), 2u);
    EXPECT_EQ(all[0].steps[1].place.line, 5);
    EXPECT_EQ(all[0].steps[1].text, "wait 3 us");
}

TEST_F(ScenarioFile, SetsParametersOfItsBoard) {
    const auto all = read(head() + "set: {fabric: headline160, devices: '${n}'}\n" +
                          "matrix:\n  n: [2]\nsteps:\n  - wait: 1 us\n");
    EXPECT_THAT(mistakes(), ElementsAre());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_THAT(all[0].set, ElementsAre("fabric=headline160", "devices=2"));
    read(head() + "set: [a]\nsteps:\n  - wait: 1 us\n");
    EXPECT_EQ(mistakes().size(), 1u);
}

TEST_F(ScenarioFile, BecomesOneScenarioPerPointOfItsMatrix) {
    const auto all =
        read(head() +
             "matrix:\n  size: [1 B, 64 KiB]\n  stack: [0, 3]\n"
             "steps:\n  - copy: {from: host, to: 'hbm${stack}@1 MiB', size: '${size}'}\n");
    EXPECT_THAT(mistakes(), ElementsAre());
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[1].name, "x [size=1 B, stack=3]");
    EXPECT_EQ(all[2].steps[0].text, "copy host to hbm0@0x100000, 65536 bytes");
}

TEST_F(ScenarioFile, ReportsTheLineAndColumnOfEveryMistake) {
    read(head() +
         "steps:\n"
         "  - cpoy: {from: host}\n"                         // 4: no such step
         "  - copy: {from: disk, to: hbm0, size: 4}\n"      // 5: no place, no unit
         "  - wait: 3\n"                                    // 6: no unit
         "  - memset: {at: hbm0, size: 1 B, value: 256}\n"  // 7: range
         "  - reset: {core: 1}\n"                           // 8: unknown key
         "  - wait: 1 us\n    probe: {}\n"                  // 10: a second step
         "  - copy: {from: host, to: hbm0}\n"               // 11: missing size
         "  - engine: {engine: 0, is: broken}\n"            // 12: no choice
         "  - wait: ${time}\n"                              // 13: not in the matrix
         "  - expect_uart: {matches: '['}\n"                // 14: no expression
         "  - fails: aborted\n"                             // 15: no step
         "  - probe: {}\n    saying: gone\n"                // 17: no failure that has a message
         "  - probe: {}\n    fails: busy\n    may_fail: busy\n"  // 20: both
         "  - probe: {}\n    may_fail: [busy, bsy]\n"            // 22: no status
         "  - probe: {}\n    may_fail: []\n");                   // 24: no choice
    EXPECT_THAT(mistakes(),
                ElementsAre("4:5:E10", "5:18:E26", "5:40:E20", "6:11:E20", "7:42:E22", "8:13:E11",
                            "9:5:E11", "11:11:E9", "12:29:E26", "13:11:E26", "14:28:E26", "15:5:E9",
                            "17:5:E11", "20:5:E11", "22:22:E26", "24:15:E8"));
}

TEST_F(ScenarioFile, RefusesValuesThatCannotPass) {
    read(head() +
         "time_limit: 0 s\n"                                                              // 3
         "wall_limit: 0 s\n"                                                              // 4
         "memory_limit: 1 B\n"                                                            // 5
         "steps:\n"                                                                       // 6
         "  - traffic: {pattern: local, size: 1 MiB, descriptor: 0 B}\n"                  // 7
         "  - traffic: {pattern: local, size: 0 B}\n"                                     // 8
         "  - traffic: {pattern: local, size: 1 MiB, engines: 0}\n"                       // 9
         "  - traffic: {pattern: local, size: 1 GiB, descriptor: 1 B}\n"                  // 10
         "  - efa: {pattern: next, operation: write, size: 1 MiB, block: 0 B}\n"          // 11
         "  - fill: {at: hbm0, size: 36 GiB, value: 0}\n"                                 // 12
         "  - verify: {at: host, size: 4 B, value: 0}\n"                                  // 13
         "  - copy: {from: hbm0, to: hbm9, size: 4 B}\n"                                  // 14
         "  - copy: {from: host, to: hbm0, size: 8 GiB}\n"                                // 15
         "  - figure: {name: f, bytes: 0 B, time_of: [wait: 1 us]}\n"                     // 16
         "  - figure: {name: f, time_of: [wait: 1 us], at_least: 2 us, at_most: 1 us}\n"  // 17
         "  - expect: {misuse: TRN-RST-001, at_least: 2, at_most: 1}\n"                   // 18
         "  - peek: {space: s, address: 0, width: 3, equals: 0}\n"                        // 19
         "  - together: {}\n"                                                             // 20
         "  - wait: ''\n"                                                                 // 21
         "  - expect_uart: {text: ''}\n"                                                  // 22
         "  - expect: {printed: ''}\n"                                                    // 23
         "  - verify: {at: hbm0, size: 0 B}\n"                                            // 24
         "  - peek: {register: r, equals: 3, mask: 1}\n"                                  // 25
         "  - finish_program: {name: p, check: {}}\n"                                     // 26
         "  - finish_program: {name: p, check: y}\n"                                      // 27
         "  - inject: {module: m, fault: f, with: 3}\n"                                   // 28
         "  - expect_uart: {matches: '(.)(.)', as: [a, a]}\n"                             // 29
         "  - mailbox: {metric: '" +
         std::string(127, 'm') +
         "'}\n"                                                          // 30
         "  - copy: {from: host, to: hbm0, size: 0 B}\n"                 // 31
         "  - memset: {at: hbm0, size: 0 B, value: 1, verify: false}\n"  // 32
         "  - scrub: {stack: 0, size: 0 B}\n"                            // 33
         "  - wait: 0 s\n"                                               // 34
         "  - boot: {within: 0 s}\n"                                     // 35
         "  - power: {die: 0, changes_within: 0 s}\n"                    // 36
         "  - client: {command: [x], wall_limit: 0 s}\n"                 // 37
         "  - finish_program: {name: p, limit: 0 s}\n");                 // 38
    EXPECT_THAT(
        mistakes(),
        ElementsAre("3:13:E22", "4:13:E22", "5:15:E22", "7:56:E22", "8:37:E22", "9:53:E22",
                    "10:37:E22", "11:64:E22", "12:28:E22", "13:18:E26", "14:28:E26", "15:40:E22",
                    "16:30:E22", "17:71:E22", "18:57:E22", "19:41:E22", "20:15:E50", "21:11:E24",
                    "22:25:E8", "23:23:E8", "24:30:E22", "25:33:E22", "26:38:E50", "27:38:E8",
                    "28:41:E8", "29:46:E35", "30:23:E22", "31:40:E22", "32:30:E22", "33:29:E22",
                    "34:11:E22", "35:20:E22", "36:37:E22", "37:40:E22", "38:38:E22"));
}

TEST_F(ScenarioFile, ProgramSetsOfAllStepsFitIntoItsMemoryLimit) {
    isa::program_set set;
    set.cores = 1;
    set.streams.push_back(
        {.engine = isa::engine::sync, .words = std::vector<std::uint8_t>(9 << 20), .lines = {}});
    const auto bytes = isa::write_program_set(set);
    std::ofstream(folder / "long.set", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    const std::string step = "  - program: {file: long.set}\n";
    read(head() + "memory_limit: 16 MiB\nsteps:\n" + step);
    EXPECT_THAT(mistakes(), ElementsAre());
    problems = {};
    read(head() + "memory_limit: 16 MiB\nsteps:\n" + step + step + step);
    EXPECT_THAT(mistakes(), ElementsAre("6:5:E22"));  // reported once
}

TEST_F(ScenarioFile, AllowsLongCopiesWithoutComparison) {
    read(head() + "steps:\n  - copy: {from: hbm0, to: hbm1, size: 8 GiB, verify: false}\n");
    EXPECT_THAT(mistakes(), ElementsAre());
}

TEST_F(ScenarioFile, RefusesListsWithoutAStep) {
    read(head() + "steps: []\n");
    EXPECT_THAT(mistakes(), ElementsAre("3:8:E50"));
    problems = {};
    read(head() +
         "sequences: {none: {steps: []}}\n"          // 3
         "steps:\n"                                  // 4
         "  - together: {a: [], b: [wait: 1 us]}\n"  // 5
         "  - figure: {name: f, time_of: []}\n"      // 6
         "  - sequence: {name: none}\n"              // 7: reported in line 3
         "expectations: []\n");                      // 8
    EXPECT_THAT(mistakes(), ElementsAre("3:27:E50", "5:19:E50", "6:32:E50", "8:15:E50"));
}

TEST_F(ScenarioFile, RequiresAName) {
    read("scenario: ''\nboard: b\nsteps:\n  - wait: 1 us\n");
    EXPECT_THAT(mistakes(), ElementsAre("1:11:E27"));
}

TEST_F(ScenarioFile, BoundsTheExpansionOfMatrixAndSequences) {
    std::string points, calls, steps;
    for (int i = 0; i < 100; ++i) points += std::to_string(i) + ", ";
    for (int i = 0; i < 70; ++i)
        calls += "  s" + std::to_string(i) + ": {steps: [sequence: {name: s" +
                 std::to_string(i + 1) + "}]}\n";
    read(head() + "sequences:\n" + calls + "  s70: {steps: [wait: 1 us]}\n" +
         "steps:\n  - sequence: {name: s0}\n");
    ASSERT_EQ(problems.list().size(), 1u);
    EXPECT_THAT(problems.list()[0].message, HasSubstr("at most 64 deep"));
    problems = {};
    for (int i = 0; i < 3000; ++i) steps += "  - wait: 1 us\n";
    read(head() + "tags: ['${n}']\nmatrix: {n: [" + points + "100]}\nsteps:\n" + steps);
    ASSERT_EQ(problems.list().size(), 1u);
    EXPECT_THAT(problems.list()[0].message, HasSubstr("at most 200000 steps together"));
    problems = {};
    std::string twice;
    for (int i = 0; i < 50'000; ++i) twice += "${a}";
    read(head() + "matrix: {a: [" + std::string(40, 'x') + "]}\nsteps:\n  - expect_uart: {text: '" +
         twice + "'}\n");
    ASSERT_EQ(problems.list().size(), 1u);
    EXPECT_THAT(problems.list()[0].message, HasSubstr("at most 1 MiB"));
}

TEST_F(ScenarioFile, ReportsBoardMistakesAtTheBoardsLine) {
    const board_check check = [](const std::string& board, const std::vector<std::string>& set,
                                 const std::string&) {
        diagnostic wrong;
        wrong.code = mistake::unknown_board;
        wrong.message = "no board";
        if (board != "b") throw config_error(wrong);
        wrong.code = mistake::out_of_range;
        wrong.message = "out of range";
        for (const auto& one : set)
            if (one == "size=9" || one == "firmware=none") throw config_error(wrong);
    };
    const auto found = [&](const std::string& text) {
        problems = {};
        std::ofstream(folder / "scenario.yaml") << text;
        loaded(folder / "scenario.yaml", check);
        return mistakes();
    };
    const std::string steps = "steps:\n  - wait: 1 us\n";
    EXPECT_THAT(found(head() + steps), ElementsAre());
    EXPECT_THAT(found("scenario: x\nboard: c\n" + steps), ElementsAre("2:8:E55"));
    EXPECT_THAT(found(head() + "set: {a: 1, size: 9, z: 0}\n" + steps), ElementsAre("3:19:E22"));
    EXPECT_THAT(found(head() + "set: {a: 1}\nfirmware: none\n" + steps), ElementsAre("4:11:E22"));
    EXPECT_THAT(found(head() + "set: {size: '${n}'}\nmatrix: {n: [1, 9]}\n" + steps),
                ElementsAre("3:13:E22"));
}

TEST_F(ScenarioFile, AllowsViolationsWithItsParameters) {
    const auto all = read(head() +
                          "matrix: {n: [2]}\n"
                          "misuse:\n"
                          "  policy: fail:TRN-DMA-004\n"
                          "  allow:\n"
                          "    - {rule: TRN-DMA-004, at: 'chip${n}', count: '${n}', reason: x}\n"
                          "steps: [wait: 1 us]\n");
    EXPECT_THAT(mistakes(), ElementsAre());
    ASSERT_EQ(all.size(), 1u);
    ASSERT_EQ(all[0].misuse.policies.size(), 1u);
    ASSERT_EQ(all[0].misuse.allowances.size(), 1u);
    EXPECT_EQ(all[0].misuse.allowances[0].text(), "rule=TRN-DMA-004,at=chip2,count=2,reason=x");
}

TEST_F(ScenarioFile, ReportsMistakesInAllowancesAtTheirPlaces) {
    const board_check check = [](const std::string&, const std::vector<std::string>&,
                                 const std::string& modules) {
        diagnostic wrong;
        wrong.code = mistake::unknown_module;
        if (modules == "chip1") throw config_error(wrong);
    };
    const auto found = [&](const std::string& misuse) {
        problems = {};
        std::ofstream(folder / "scenario.yaml") << head() << misuse << "steps: [wait: 1 us]\n";
        loaded(folder / "scenario.yaml", check);
        return mistakes();
    };
    EXPECT_THAT(found("misuse: {polcy: fail}\n"), ElementsAre("3:10:E11"));
    EXPECT_THAT(found("misuse: {policy: fial}\n"), ElementsAre("3:18:E26"));
    EXPECT_THAT(found("misuse: {allow: x}\n"), ElementsAre("3:17:E8"));
    EXPECT_THAT(found("misuse: {allow: [{rule: '${x}', reason: x}]}\n"), ElementsAre("3:25:E26"));
    EXPECT_THAT(found("misuse: {allow: [{rule: TRN-DMA-404, reason: x}]}\n"),
                ElementsAre("3:25:E26"));
    EXPECT_THAT(found("misuse:\n  allow:\n    - {rule: TRN-DMA-004, reason: x, at: chip0}\n"
                      "    - {rule: TRN-DMA-004, reason: x, at: chip1}\n"),
                ElementsAre("6:42:E40"));
}

TEST_F(ScenarioFile, ChecksTheRulesThatItsStepsCount) {
    const auto checked = [&](const std::string& steps) {
        std::vector<std::string_view> ids;
        const auto all = read(head() + steps);
        for (const auto& rule : all.at(0).misuse.checked) ids.push_back(rule.id);
        return ids;
    };
    const std::string first = "steps:\n  - boot: {}\n";
    EXPECT_THAT(checked(first + "  - expect: {misuse: first-bit-error, equals: 0}\n"),
                ElementsAre());
    EXPECT_THAT(checked(first + "  - expect: {misuse: tile-race, equals: 0}\n"),
                ElementsAre("TRN-NC-002"));
    EXPECT_THAT(
        checked(first +
                "  - together: {a: [wait: {misuse: TRN-NC-003, equals: 0}], b: [wait: 1 us]}\n"
                "expectations:\n  - expect: {misuse: tile-race, equals: 0}\n"),
        ElementsAre("TRN-NC-003", "TRN-NC-002"));
    EXPECT_THAT(mistakes(), ElementsAre());
}

TEST_F(ScenarioFile, AcceptsDeepExpressionsAndRefusesInvalidOnes) {
    const auto reading = [&](const std::string& text) {
        problems = {};
        read(head() + "steps:\n  - expect_uart: {matches: '" + text + "'}\n");
        return mistakes();
    };
    EXPECT_THAT(reading(std::string(10'000, '(') + "a" + std::string(10'000, ')')), ElementsAre());
    for (const auto& text :
         {std::string(10'000, '('), std::string("(a{1000}){1000}"), std::string(100'000, 'a'),
          std::string("(a)\\1"), std::string("a(?=b)")})
        EXPECT_THAT(reading(text), ElementsAre("4:28:E26")) << text.substr(0, 20);
}

TEST_F(ScenarioFile, RefusesPatternAndValueTogether) {
    read(head() +
         "steps:\n"
         "  - fill: {at: hbm0, size: 4 B, pattern: x}\n"
         "  - fill: {at: hbm0, size: 4 B, pattern: x, value: 1}\n"  // 5: a pattern already
         "  - verify: {at: hbm0, size: 4 B, value: 1, pattern: x}\n");
    EXPECT_THAT(mistakes(), ElementsAre("5:45:E11", "6:45:E11"));
}

TEST_F(ScenarioFile, RefusesASecondConditionInAStep) {
    const auto refused = [&](const std::string& step) {
        problems = {};
        read(head() + "steps:\n  - " + step + "\n");
        return mistakes();
    };
    const auto second = [&](const std::string& step, const std::string& key) {
        const auto at = std::to_string(step.find(key) + 5);
        EXPECT_THAT(refused(step), ElementsAre("4:" + at + ":E11")) << step;
    };
    second("expect: {misuse: TRN-RST-001, at_most: 5, printed: never}", "printed");
    second("expect: {printed: a, matches: b}", "matches");
    second("expect: {counter: c, module: m, equals: 1, register: r}", "register");
    second("wait: {written: r, misuse: TRN-RST-001, equals: 1}", "misuse");
    second("wait: {reached: f, hart: h, written: r}", "written");
    second("expect_uart: {text: a, matches: b}", "matches");
    second("client: {command: [x], text: a, matches: b}", "matches");
    second("semaphore: {core: 0, top_sp: 1, index: 0, equals: 0}", "top_sp");
    second("event: {core: 0, top_sp: 1, index: 0, equals: 0}", "top_sp");
    second("mailbox: {command: 1, get_data: 2}", "get_data");
    second("mailbox: {metric: a, throttling: true}", "throttling");
    second("figure: {name: f, value: 1, register: r}", "register");
    second("figure: {name: f, time_of: [wait: 1 us], value: 1}", "value");
    second("efa: {pattern: next, operation: write, size: 1 B, from: c}", "from");
    second("peek: {register: r, equals: 1, space: s}", "space");
}

TEST_F(ScenarioFile, RefusesKeysWithoutEffectBesideOthers) {
    const auto without_effect = [&](const std::string& step, const std::string& key) {
        problems = {};
        read(head() + "steps:\n  - " + step + "\n");
        const auto at = std::to_string(step.find(" " + key + ":") + 6);
        EXPECT_THAT(mistakes(), ElementsAre("4:" + at + ":E11")) << step;
    };
    without_effect("expect: {register: r, equals: 1, at_least: 1}", "at_least");
    without_effect("expect: {printed: a, equals: 1}", "equals");
    without_effect("expect: {printed: a, as: x}", "as");
    without_effect("expect: {register: r, equals: 1, module: m}", "module");
    without_effect("expect: {register: r, equals: 1, by: host}", "by");
    without_effect("expect: {register: r, equals: 1, hart: h}", "hart");
    without_effect("expect: {counter: c, module: m, equals: 1, index: 1}", "index");
    without_effect("expect: {register: r, equals: 1, every: 1 us}", "every");
    without_effect("wait: {printed: a, every: 1 us}", "every");
    without_effect("copy: {from: hbm0, to: hbm1, size: 4 B, pattern: a}", "pattern");
    without_effect("read_register: {offset: 0, mask: 1}", "mask");
    without_effect("engine: {engine: 0, set: normal, within: 1 us}", "within");
    without_effect("figure: {name: f, value: 1, bytes: 1 B}", "bytes");
    without_effect("figure: {name: f, time_of: [wait: 1 us], unit: ms}", "unit");
    without_effect(
        "efa: {pattern: next, operation: write, size: 1 B, status: flushed, at_least: 1 B/s}",
        "at_least");
    without_effect("collective: {op: barrier, size: 4 B}", "size");
    without_effect("collective: {op: all_gather, size: 4 B, root: 1}", "root");
    without_effect("collective: {op: all_gather, size: 4 B, operator: max}", "operator");
    without_effect("core_engine: {engine: sync, state: idle, equals: 1}", "equals");
    without_effect("core_engine: {engine: sync, value: pc, equals: 1, index: 1}", "index");
    without_effect("finish_program: {name: p, error: fetch, check: {y: 1}}", "check");
    without_effect("finish_program: {name: p, rtol: 1}", "rtol");
    const std::string copy =
        "compute: {operation: copy, type: fp32, elements: 4, from: hbm0, into: hbm1, ";
    without_effect(copy + "rows: 2}", "rows");
    without_effect(copy + "seed: 2}", "seed");
    without_effect(copy + "entries: 2}", "entries");
    without_effect(copy + "scale_percent: 2}", "scale_percent");
}

TEST_F(ScenarioFile, RefusesStepsThatCheckNothing) {
    for (const std::string step :
         {"expect: {register: r}", "expect: {counter: c, module: m}", "wait: {misuse: TRN-RST-001}",
          "semaphore: {core: 0, index: 1}", "event: {core: 0, index: 1}", "engine: {engine: 0}",
          "doorbell: {engine: 0}"}) {
        problems = {};
        read(head() + "steps:\n  - " + step + "\n");
        ASSERT_EQ(problems.list().size(), 1u) << step;
        EXPECT_EQ(problems.list().front().code, mistake::missing_key) << step;
    }
}

TEST_F(ScenarioFile, RefusesAnExpectedStatusOfStepsThatCallNoDriver) {
    read(head() +
         "steps:\n"
         "  - wait: 1 us\n    may_fail: busy\n"                   // 5
         "  - peek: {register: r, equals: 1}\n    fails: busy\n"  // 7
         "  - client: {command: [x]}\n    fails: busy\n"          // 9
         "  - together: {a: [wait: 1 us]}\n    may_fail: busy\n"  // 11
         "  - snapshot: a\n    fails: busy\n");                   // 13
    EXPECT_THAT(mistakes(), ElementsAre("5:5:E11", "7:5:E11", "9:5:E11", "11:5:E11", "13:5:E11"));
}

TEST_F(ScenarioFile, ChecksKeysOfStepsWithCapturesBeforeTheRun) {
    read(head() +
         "steps:\n"
         "  - peek: {register: r, as: x}\n"
         "  - expect: {register: r, eqauls: '${x}'}\n"                  // 5: unknown, and no bound
         "  - expct: {register: r, equals: '${x}'}\n"                   // 6
         "  - together: {a: [expect: {printed: a, equals: '${x}'}]}\n"  // 7
         "  - wait: ${x}\n"                                             // 8: known at run time
         "  - together: {a: [wait: '${x}', peek: {register: r, as: y}]}\n"
         "  - wait: ${y}\n");  // 10: captured inside
    EXPECT_THAT(mistakes(), ElementsAre("5:13:E9", "5:27:E11", "6:5:E10", "7:41:E11"));
}

TEST_F(ScenarioFile, CapturedValueMayNameASequence) {
    read(head() +
         "sequences:\n  gen5: {steps: [wait: 1 us]}\n"
         "steps:\n"
         "  - expect_uart: {matches: 'Gen(.)', as: x}\n"
         "  - sequence: {name: 'gen${x}'}\n"
         "  - sequence: {name: gen6, with: {x: '${x}'}}\n");  // 8
    EXPECT_THAT(mistakes(), ElementsAre("8:15:E10"));
}

TEST_F(ScenarioFile, ExpectsRulesWithACapturedBound) {
    const auto all = read(head() +
                          "steps:\n"
                          "  - peek: {register: r, as: x}\n"
                          "  - expect: {misuse: TRN-RST-001, at_least: '${x}'}\n"
                          "  - together: {a: [expect: {misuse: TRN-RST-001, equals: '${x}'}]}\n");
    EXPECT_THAT(mistakes(), ElementsAre());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].steps[1].rules.size(), 1u);
    EXPECT_EQ(all[0].steps[2].rules.size(), 1u);
}

TEST_F(ScenarioFile, SharesItsBootOnlyWithEqualLimits) {
    const auto beginning = [&](const std::string& keys) {
        const auto all = read(head() + keys + "steps:\n  - boot: {}\n  - wait: 1 us\n");
        EXPECT_THAT(mistakes(), ElementsAre());
        return all.at(0).beginning;
    };
    const auto usual = beginning("");
    EXPECT_EQ(beginning("tags: [a]\n"), usual);
    EXPECT_NE(beginning("wall_limit: 1 ms\n"), usual);
    EXPECT_NE(beginning("memory_limit: 1 GiB\n"), usual);
    EXPECT_NE(beginning("time_limit: 1 ms\n"), usual);
    EXPECT_NE(beginning("seed: 2\n"), usual);
    EXPECT_NE(beginning("misuse: {allow: [{rule: TRN-DMA-004, reason: x}]}\n"), usual);
    EXPECT_NE(beginning("expectations: [expect: {misuse: tile-race, equals: 0}]\n"), usual);
    EXPECT_NE(beginning("set: {a: 1, b: 2}\n"), beginning("set: {a: \"1\\nb=2\"}\n"));
}

TEST_F(ScenarioFile, SharesItsSetupWithThoseThatBeginWithTheSameSteps) {
    const auto beginning = [&](const std::string& keys, std::size_t steps = 3) {
        const auto all = read(head() + keys + "steps:\n  - wait: 1 us\n");
        EXPECT_THAT(mistakes(), ElementsAre());
        EXPECT_EQ(all.at(0).shared_steps + 1, steps);
        EXPECT_EQ(all.at(0).steps.size(), steps);
        return all.at(0).beginning;
    };
    const auto usual = beginning("setup:\n  - boot: {}\n  - wait: 3 us\n");
    EXPECT_EQ(beginning("matrix: {t: [3 us]}\nsetup: [boot: {}, wait: '${t}']\n"), usual);
    EXPECT_NE(beginning("setup: [boot: {}, wait: 4 us]\n"), usual);
    EXPECT_NE(beginning("setup: [wait: 3 us, boot: {}]\n"), usual);
    EXPECT_NE(beginning("setup: [boot: {}, wait: 3 us, wait: 3 us]\n", 4), usual);
    EXPECT_NE(beginning("sequences: {a: {steps: [wait: 3 us]}}\n"
                        "setup: [boot: {}, sequence: {name: a}]\n"),
              usual);
    const auto text = [&](const std::string& step) {
        return beginning("setup: [" + step + "]\n", 2);
    };
    EXPECT_NE(text("peek: {register: a, equals: 1}"), text("peek: {register: a, equals: 2}"));
    EXPECT_NE(text("client: {command: [a, b]}"), text("client: {command: ['a, b']}"));
}

TEST_F(ScenarioFile, SetupHasStepsThatScenariosCanShare) {
    read(head() +
         "setup:\n"
         "  - together: {a: [wait: 1 us]}\n"                 // 4
         "  - figure: {name: f, time_of: [wait: 1 us]}\n"    // 5
         "  - snapshot: s\n"                                 // 6
         "  - expect: {misuse: TRN-RST-001, at_least: 1}\n"  // 7
         "  - peek: {register: r, as: x}\n"                  // 8
         "  - poke: {register: r, value: '${x}'}\n"          // 9
         "steps:\n  - poke: {register: r, value: '${x}'}\n");
    EXPECT_THAT(mistakes(), ElementsAre("4:5:E11", "5:5:E11", "6:5:E11", "7:5:E11", "9:5:E11"));
}

TEST_F(ScenarioFile, FileWithStepsAndWithoutANameIsNotOnlyForOthers) {
    const std::string sequences = "sequences: {a: {steps: [wait: 1 us]}}\n";
    EXPECT_EQ(read(sequences).size(), 0u);
    EXPECT_THAT(mistakes(), ElementsAre());
    for (const auto* steps : {"steps: [wait: 1 us]\n", "setup: [wait: 1 us]\n"}) {
        problems = {};
        read(sequences + steps);
        EXPECT_THAT(mistakes(), testing::Contains("1:1:E9")) << steps;
    }
}

TEST_F(ScenarioFile, DistinguishesCollectivesBySizeOrCounts) {
    const auto all = read(head() +
                          "matrix: {n: [7]}\n"
                          "steps:\n"
                          "  - collective: {op: all_gather_v, counts: [1, 0, '${n}', 0x10]}\n"
                          "  - collective: {op: all_gather, size: 4 KiB, in: sbuf1, out: hbm2}\n");
    EXPECT_THAT(mistakes(), ElementsAre());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].steps[0].text, "all-gather-v of 24 elements over all chips");
    EXPECT_EQ(all[0].steps[1].text, "all-gather of 4096 bytes, sbuf1 to hbm2, over all chips");
}

TEST_F(ScenarioFile, ReportsTheLineOfMistakesInCollectives) {
    read(head() +
         "steps:\n"
         "  - collective: {op: all_gather_v}\n"                             // 4: no counts
         "  - collective: {op: all_gather_v, counts: 7}\n"                  // 5: no list
         "  - collective: {op: all_to_all_v, counts: [1, -2, x]}\n"         // 6: no numbers
         "  - collective: {op: all_gather, size: 1 KiB, counts: [1, 2]}\n"  // 7: equal blocks
         "  - collective: {op: all_gather_v, size: 1 KiB, counts: [1]}\n"   // 8: said twice
         "  - collective: {op: barrier, counts: [1]}\n"                     // 9: none
         "  - collective: {op: all_reduce_v, size: 1 KiB}\n"                // 10: no such form
         "  - collective: {op: permute, size: 1 KiB, in: sbuf}\n"           // 11: no place
         "  - collective: {op: permute, size: 1 KiB, out: host}\n"          // 12: not of a chip
         "  - collective: {op: permute, size: 1 KiB, in: sbuf0@4 KiB}\n"    // 13: an offset
         "  - collective: {op: all_reduce, size: 1 KiB, pairs: [0-1]}\n"    // 14: not a permute
         "  - collective: {op: permute, size: 1 KiB, pairs: [0-x]}\n"       // 15: no pair
         "  - collective: {op: permute, size: 1 KiB, in_place: true, in: sbuf0}\n"  // 16
         "  - collective: {op: barrier, in_place: true}\n");  // 17: no buffers
    EXPECT_THAT(mistakes(),
                ElementsAre("4:17:E9", "5:44:E8", "6:48:E24", "6:52:E24", "7:47:E11", "8:36:E11",
                            "9:31:E11", "10:22:E26", "11:48:E26", "12:49:E26", "13:48:E26",
                            "14:47:E11", "15:52:E26", "16:44:E11", "17:31:E11"));
    EXPECT_EQ(problems.list()[4].message, "all-gather has equal blocks: give 'size', not 'counts'");
}

TEST_F(ScenarioFile, RefusesRanksTwiceInThePairsOfAPermute) {
    read(head() +
         "steps:\n"
         "  - collective: {op: permute, size: 1 KiB, pairs: [0-1, 2-1]}\n"         // 4
         "  - collective: {op: permute, size: 1 KiB, pairs: [0-1, 1-2, 0-3]}\n");  // 5
    EXPECT_THAT(mistakes(), ElementsAre("4:57:E35", "5:62:E35"));
    EXPECT_EQ(problems.list()[0].message, "rank 1 receives twice");
    EXPECT_EQ(problems.list()[1].message, "rank 0 sends twice");
}

TEST_F(ScenarioFile, RefusesParametersThatNothingUses) {
    write_other(
        "sequences:\n"
        "  pause:\n    parameters: {long: , more: 2 us}\n    steps: [wait: '${long}']\n"  // 3
        "  around:\n    parameters: {long: 1 us, inner: 1 us}\n"                          // 6
        "    steps: [sequence: {name: inner}]\n"
        "  inner:\n    steps: [wait: '${inner}']\n");  // the caller's
    read(
        "scenario: x ${name}\nboard: b\ninclude: [other.yaml]\n"
        "matrix:\n  used: [1 us]\n  name: [a]\n  deep: [1 us]\n"  // 6
        "tags: [a]\n"
        "sequences:\n  outer:\n    steps: [sequence: {name: pause, with: {long: '${deep}'}}]\n"
        "steps:\n  - wait: '${used}'\n  - sequence: {name: outer}\n"
        "  - sequence: {name: around}\n");
    EXPECT_THAT(mistakes(), ElementsAre("3:26:E13", "6:18:E13", "6:3:E13"));
}

TEST_F(ScenarioFile, RefusesWorkInTheBackgroundThatNothingFinishes) {
    const std::string copy = "from: host, to: hbm0@16 MiB, size: 64 B}\n";
    read(head() +
         "steps:\n"
         "  - submit: {job: a, " +
         copy +                    // 4: finished
         "  - finish: {job: a}\n"  //
         "  - submit: {job: a, " +
         copy +                               // 6: not again
         "  - submit: {job: none, " + copy +  // 7: refused by the device
         "    fails: busy\n"                  //
         "  - together:\n"                    //
         "      one: [finish: {job: b}]\n"    //
         "      two: [submit: {job: b, " +
         copy.substr(0, copy.size() - 1) +
         "]\n"              // beside
         "expectations:\n"  //
         "  - submit: {job: c, " +
         copy +                      // 13
         "  - finish: {job: d}\n");  //
    EXPECT_THAT(mistakes(), ElementsAre("6:5:E13", "13:5:E13"));
    EXPECT_EQ(problems.list()[0].message,
              "no later step finishes the copy 'a', so that its result has no effect");
}

TEST_F(ScenarioFile, RestoresOnlyEarlierSnapshots) {
    read(head() +
         "steps:\n"
         "  - restore: early\n"                             // 4: not taken yet
         "  - snapshot: early\n"                            //
         "  - restore: early\n"                             //
         "  - restore: erly\n"                              // 7: none of that name
         "  - snapshot: ''\n"                               // 8: no name
         "expectations: [{snapshot: x}, {restore: x}]\n");  // 9: not there
    EXPECT_THAT(mistakes(), ElementsAre("4:14:E26", "7:14:E26", "8:15:E8", "9:16:E11", "9:31:E11"));
}

TEST_F(ScenarioFile, RefusesUnknownAndMissingTopLevelKeys) {
    read("scenario: x\nbaord: b\nsteps: []\n");
    EXPECT_THAT(mistakes(), ElementsAre("1:1:E9", "2:1:E11", "3:8:E50"));
}

TEST_F(ScenarioFile, ExpandsSequencesWithTheirParameters) {
    write_other(
        "sequences:\n  pause:\n    parameters: {long: , more: 2 us}\n"
        "    steps:\n      - wait: ${long}\n      - wait: ${more}\n");
    const auto all = read(head() +
                          "include: [other.yaml]\nmatrix: {t: [1 us, 7 us]}\n"
                          "sequences:\n  twice:\n    steps:\n"
                          "      - sequence: {name: pause, with: {long: '${t}'}}\n"
                          "      - sequence: {name: pause, with: {long: 5 us, more: 6 us}}\n"
                          "steps:\n  - sequence: {name: twice}\n");
    EXPECT_THAT(mistakes(), ElementsAre());
    ASSERT_EQ(all.size(), 2u);
    std::vector<std::string> texts;
    for (const auto& one : all[1].steps) texts.push_back(one.text);
    EXPECT_THAT(texts, ElementsAre("pause: wait 7 us", "pause: wait 2 us", "pause: wait 5 us",
                                   "pause: wait 6 us"));
    EXPECT_EQ(all[1].steps[0].file, folder / "other.yaml");
    EXPECT_EQ(all[1].steps[0].place.line, 5);
}

TEST_F(ScenarioFile, SequencesWithoutStepsAreNoScenario) {
    EXPECT_TRUE(read("sequences:\n  a:\n    steps: [wait: 1 us]\n").empty());
    EXPECT_THAT(mistakes(), ElementsAre());
}

TEST_F(ScenarioFile, ReportsMistakesInSequenceCalls) {
    read(head() +
         "sequences:\n"
         "  pause:\n    parameters: {long: }\n    steps: [wait: '${long}']\n"  // 4 to 6
         "  round: {steps: [sequence: {name: about}]}\n"                       // 7
         "  about: {steps: [sequence: {name: round}]}\n"                       // 8
         "include: [no_such_file.yaml]\n"                                      // 9
         "steps:\n"                                                            // 10
         "  - sequence: {name: puase}\n"                                       // 11: unknown
         "  - sequence: {name: pause}\n"                                       // 12: not given
         "  - sequence: {name: pause, with: {long: 1 us, length: 1 us}}\n"     // 13: no such
         "  - sequence: {name: round}\n");                                     // 14: a cycle
    EXPECT_THAT(mistakes(),
                ElementsAre("8:29:E52", "9:11:E1", "11:15:E10", "12:15:E14", "13:48:E12"));
    EXPECT_THAT(problems.list()[0].message, HasSubstr("round > about > round"));
    EXPECT_THAT(problems.list()[2].suggestion, HasSubstr("did you mean 'pause'"));
}

TEST_F(ScenarioFile, RefusesCyclicIncludes) {
    write_other("include: [other.yaml]\n");
    read(head() + "include: [other.yaml]\nsteps: [wait: 1 us]\n");
    EXPECT_THAT(mistakes(), ElementsAre("1:11:E52"));
}

TEST_F(ScenarioFile, RefusesDuplicateSequences) {
    write_other("sequences:\n  a: {steps: [wait: 1 us]}\n");
    read(head() +
         "include: [other.yaml]\nsequences:\n  a: {steps: [wait: 1 us]}\nsteps: [wait: 1 us]\n");
    EXPECT_THAT(mistakes(), ElementsAre("2:3:E35"));
}

TEST_F(ScenarioFile, BoundsTheNumberOfSteps) {
    std::string text = head() + "sequences:\n  s0: {steps: [wait: 1 us, wait: 1 us]}\n";
    for (int i = 1; i <= 30; ++i) {
        const auto inner = "sequence: {name: s" + std::to_string(i - 1) + "}";
        text += "  s" + std::to_string(i) + ": {steps: [" + inner + ", " + inner + "]}\n";
    }
    read(text + "steps: [sequence: {name: s30}]\n");
    EXPECT_THAT(mistakes(), ElementsAre("4:28:E50"));
}

TEST_F(ScenarioFile, RefusesCapturesMissingFromTheExpression) {
    read(head() + "steps:\n  - expect_uart: {matches: 'port (.)', as: [port, lanes]}\n");
    EXPECT_THAT(mistakes(), ElementsAre("4:44:E22"));
}

TEST_F(ScenarioFile, ResolvesStepsWithCapturesAtRunTime) {
    const auto all = read(head() +
                          "steps:\n  - expect_uart: {matches: 'takes (.*)', as: time}\n"
                          "  - wait: ${time}\n  - wait: ${tmie}\n");
    EXPECT_THAT(mistakes(), ElementsAre("6:11:E26"));
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].steps[1].text, "a step that uses what was captured");
}

TEST_F(ScenarioFile, FilesOfAFolderAreReadInNameOrder) {
    namespace fs = std::filesystem;
    fs::create_directories(folder / "b");
    for (const auto* name : {"c.yaml", "a.yaml", "b/z.yaml", "notes.txt"})
        std::ofstream(folder / name) << "x";
    const auto files = find_files(folder);
    EXPECT_THAT(files, ElementsAre(folder / "a.yaml", folder / "b/z.yaml", folder / "c.yaml"));
    EXPECT_THROW(find_files(folder / "nothing"), config_error);
}

TEST_F(ScenarioFile, MistakeOfOnePointLeavesTheOtherPoints) {
    const auto all = read(head() + "matrix: {t: [1 us, 1 m, 3 us]}\nsteps:\n  - wait: '${t}'\n");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_TRUE(all[0].mistakes.empty());
    EXPECT_EQ(all[1].name, "x [t=1 m]");
    ASSERT_EQ(all[1].mistakes.size(), 1u);
    EXPECT_EQ(all[1].mistakes[0].line, 5);
    EXPECT_TRUE(all[2].mistakes.empty());
    const auto how = refused(all[1]);
    EXPECT_EQ(how.result, outcome::verdict::not_loaded);
    EXPECT_EQ(how.place.line, 5);
    EXPECT_THAT(how.log, HasSubstr("scenario.yaml:5:11: E21"));
}

TEST_F(ScenarioFile, WhatCannotBeToldApartIsOneFailedFile) {
    for (const auto* text :
         {"scenario: [", "- a\n", "board: b\nsteps:\n  - wait: 1 us\n",
          "scenario: x\nboard: b\nmatrix: {a: [1 us, 1 us]}\nsteps:\n  - wait: '${a}'\n",
          "scenario: x\nboard: b\nmatrix: {a: ['1, b=2', '1'], b: ['3', '2, b=3']}\nsteps:\n"
          "  - wait: 1 us\n"}) {
        const auto all = read(text);
        ASSERT_EQ(all.size(), 1u) << text;
        EXPECT_FALSE(all[0].mistakes.empty()) << text;
        EXPECT_FALSE(all[0].is_labelled) << text;
        EXPECT_EQ(all[0].name, "");
        EXPECT_EQ(title(all[0]), "scenario.yaml");
    }
}

TEST_F(ScenarioFile, FileThatCannotBeReadIsAFailedFile) {
    const auto all = load(folder / "none.yaml");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].mistakes.at(0).code, mistake::unreadable_file);
    const auto in_folder = load(folder / ".");
    ASSERT_EQ(in_folder.size(), 1u);
    EXPECT_THAT(in_folder[0].mistakes.at(0).message, HasSubstr("directory"));
}

TEST_F(ScenarioFile, IncludedFileWithAMistakeKeepsTheNamesOfTheScenarios) {
    write_other("sequences: [\n");
    const auto all = read(head() +
                          "include: [other.yaml]\nmatrix: {n: [1, 2]}\nsteps:\n"
                          "  - wait: 1 us\n");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].name, "x [n=2]");
    EXPECT_THAT(all[1].mistakes.at(0).file, HasSubstr("other.yaml"));
    EXPECT_TRUE(all[1].is_labelled);
}

TEST_F(ScenarioFile, FoldersAndLinksThatCannotBeReadAreFoundToo) {
    std::filesystem::create_directory(folder / "d");
    std::filesystem::create_symlink("nowhere", folder / "d/dangling.yaml");
    std::ofstream(folder / "d/other.txt") << "x";
    EXPECT_EQ(find_files(folder / "d"),
              std::vector<std::filesystem::path>{folder / "d/dangling.yaml"});
}

TEST_F(ScenarioFile, StepOfAHostInsideDoesOneThing) {
    write_other("content");
    const auto of = [&](const std::string& keys) {
        problems = {};
        read(head() + "steps:\n  - host: {" + keys + "}\n");
        return mistakes();
    };
    for (const char* valid :
         {"run: 'a\n\"b\"', status: 3, text: x", "copy_in: other.yaml, to: /a b, within: 1 s",
          "copy_out: /proc/cpuinfo, to: x, server: linux1"})
        EXPECT_THAT(of(valid), ElementsAre()) << valid;
    EXPECT_THAT(of("run: x, copy_in: other.yaml, to: /x"), ElementsAre("4:20:E11"));
    EXPECT_THAT(of("copy_in: other.yaml, copy_out: /x, to: /x"), ElementsAre("4:33:E11"));
    EXPECT_THAT(of("within: 1 s"), ElementsAre("4:11:E9", "4:11:E9"));
    for (const char* key : {"copy_in: other.yaml", "copy_out: /x"})
        EXPECT_THAT(of(key), ElementsAre("4:11:E9")) << key;
    EXPECT_THAT(of("copy_in: other.yaml, to: /x, text: y"), ElementsAre("4:41:E11"));
    EXPECT_THAT(of("copy_out: /x, to: /x, status: 1"), ElementsAre("4:34:E11"));
    EXPECT_THAT(of("run: x, to: y"), ElementsAre("4:20:E11"));
    EXPECT_THAT(of("copy_in: none.bin, to: /x"), ElementsAre("4:21:E1"));
    EXPECT_THAT(problems.list()[0].message,
                HasSubstr("none.bin: no such file beside the scenario"));
    EXPECT_THAT(of("cc: no/program.c"), ElementsAre("4:16:E1"));
    EXPECT_THAT(problems.list()[0].message, HasSubstr("no/program.c: there is no such file"));
    for (const auto& long_name : {"cc: ", "to: /x, copy_in: "})
        EXPECT_THAT(of(long_name + std::string(300, 'n')),
                    ElementsAre(std::string("4:") + (long_name[0] == 'c' ? "16" : "29") + ":E1"));
    for (const char* path : {"''", "' /x'", "'/x '", "\"/a\\nrun 2 -\"", "\"/a\\0b\""}) {
        EXPECT_EQ(of(std::string("copy_in: other.yaml, to: ") + path).size(), 1u) << path;
        EXPECT_EQ(of(std::string("to: x, copy_out: ") + path).size(), 1u) << path;
    }
}

}  // namespace
}  // namespace trn::scenario

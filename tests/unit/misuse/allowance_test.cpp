// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/misuse/allowance.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/misuse_rules.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/allowance_text.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/misuse/policy.h"
#include "platform/framework/misuse/report.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AllowancePattern, NamesModulesAndAllInsideThem) {
    const auto at = misuse::is_at;
    EXPECT_TRUE(at("", "chip0.udma3"));
    EXPECT_TRUE(at("chip*.udma*", "chip12.udma3"));
    EXPECT_TRUE(at("chip0", "chip0.udma3"));
    EXPECT_TRUE(at("*.nc*", "chip0.nc1.pe"));
    EXPECT_TRUE(at("*c*0*", "chip0"));
    EXPECT_FALSE(at("chip*", "sled0.chip0"));
    EXPECT_FALSE(at("chip*.udma*", "chip0"));
    EXPECT_FALSE(at("chip1", "chip10.udma3"));
    EXPECT_FALSE(at("chip0.*3", "chip0.udma31"));
}

TEST(AllowancePattern, TakesTimeLinearInItsPartsOfStars) {
    std::string stars;
    for (int i = 0; i < 2000; ++i) stars += "a*";
    EXPECT_FALSE(misuse::is_at(stars + "b", std::string(4000, 'a')));
}

misuse::allowance parsed(std::string_view text) {
    return misuse::parse_allowance(text, "--misuse-allow");
}

TEST(AllowanceText, IsReadAsItIsPrinted) {
    const std::string text =
        "rule=TRN-MBX-002,at=chip*.misuse,function=serve,line=mgmt/mailbox.c:220,from=1 us,"
        "until=2 us,count=3,reason=old host, to be replaced";
    const auto one = parsed(text);
    EXPECT_EQ(one.text(), text);
    EXPECT_EQ(one.broken, misuse::mailbox_bad_crc);
    EXPECT_EQ(one.line, 220u);
    EXPECT_EQ(one.from_ps, 1'000'000u);
    EXPECT_EQ(one.count, 3u);
    EXPECT_EQ(one.reason, "old host, to be replaced");
    EXPECT_EQ(parsed("rule=semaphore-wrap,reason=x").text(), "rule=TRN-SEM-001,reason=x");
}

TEST(AllowanceText, RefusesMistakesOnTheCommandLine) {
    const auto message = [](std::string_view text) -> std::string {
        try {
            parsed(text);
            return "accepted";
        } catch (const config_error& wrong) {
            return wrong.what();
        }
    };
    EXPECT_THAT(message("rule=TRN-DMA-044,reason=x"),
                HasSubstr("--misuse-allow: E26 there is no misuse rule 'TRN-DMA-044'\n"
                          "    did you mean 'TRN-DMA-004'"));
    EXPECT_THAT(message("rule=first-bit-errer,reason=x"), HasSubstr("'first-bit-error'"));
    EXPECT_THAT(message("rule=TRN-DMA-004"), HasSubstr("E09 'reason' is missing"));
    EXPECT_THAT(message("reason=x"), HasSubstr("E09 'rule' is missing"));
    EXPECT_THAT(message("rule=TRN-DMA-004,reason= "), HasSubstr("E08 'reason' must not be empty"));
    EXPECT_THAT(message("rule=TRN-DMA-004,at=,reason=x"), HasSubstr("E08 'at' must not be empty"));
    EXPECT_THAT(message("rule=TRN-DMA-004,cuont=1,reason=x"), HasSubstr("did you mean 'count'"));
    EXPECT_THAT(message("rule=TRN-DMA-004,count=0,reason=x"),
                HasSubstr("E22 'count' must be 1 to"));
    EXPECT_THAT(message("rule=TRN-DMA-004,count=1000000001,reason=x"), HasSubstr("E22"));
    EXPECT_THAT(message("rule=TRN-DMA-004,count=-1,reason=x"), HasSubstr("E24"));
    EXPECT_THAT(message("rule=TRN-DMA-004,from=1,reason=x"), HasSubstr("E20"));
    EXPECT_THAT(message("rule=TRN-DMA-004,from=1 us,until=1 us,reason=x"),
                HasSubstr("E22 'until' must be after 1 us"));
    EXPECT_THAT(message("rule=TRN-DMA-004,line=mailbox.c,reason=x"), HasSubstr("no source file"));
    EXPECT_THAT(message("rule=TRN-DMA-004,line=mailbox.c:0,reason=x"), HasSubstr("no source file"));
    EXPECT_THAT(message("rule=TRN-DMA-004,line=:7,reason=x"), HasSubstr("no source file"));
    EXPECT_THAT(message("rule=TRN-DMA-004,rule=TRN-DMA-004,reason=x"), HasSubstr("given twice"));
    EXPECT_THAT(message("rule,reason=x"), HasSubstr("'rule' has no value"));
    EXPECT_THAT(message("rule=TRN-DMA-004,"), HasSubstr("no key ''"));
    EXPECT_THAT(message(""), HasSubstr("no key ''"));
}

class AllowanceFile : public testing::Test {
protected:
    std::vector<misuse::allowance> read(const std::string& text) {
        problems.clear();
        std::ofstream(folder / "allow.yaml") << text;
        try {
            return misuse::load_allowances(folder / "allow.yaml");
        } catch (const config_error& wrong) {
            for (const auto& one : wrong.list())
                problems.push_back(fmt::format("{}:{}:E{}", one.line, one.column,
                                               static_cast<unsigned>(one.code)));
            return {};
        }
    }
    const test::scratch_folder folder;
    std::vector<std::string> problems;
};

TEST_F(AllowanceFile, HasTheSameKeys) {
    const auto all = read(
        "allow:\n"
        "  - {rule: TRN-DMA-004, at: 'chip*.udma*', count: 3, reason: \"a, b\"}\n"
        "  - {rule: semaphore-wrap, from: 1 us, until: 2 us, reason: c}\n");
    EXPECT_THAT(problems, IsEmpty());
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].text(), "rule=TRN-DMA-004,at=chip*.udma*,count=3,reason=a, b");
    EXPECT_THAT(all[1].place, testing::EndsWith("allow.yaml:3:5"));
}

TEST_F(AllowanceFile, ReportsAllMistakesAtTheirPlaces) {
    read(
        "allow:\n"
        "  - {rule: TRN-DMA-404, reason: x}\n"                          // 2
        "  - {rule: TRN-DMA-004}\n"                                     // 3
        "  - {reason: x}\n"                                             // 4
        "  - {rule: TRN-DMA-004, reason: ''}\n"                         // 5
        "  - {rule: TRN-DMA-004, reason: x, cuont: 1}\n"                // 6
        "  - {rule: TRN-DMA-004, reason: x, count: 0, from: 3}\n"       // 7
        "  - {rule: TRN-DMA-004, reason: x, until: 0 ns, line: f.c}\n"  // 8
        "  - TRN-DMA-004\n"                                             // 9
        "  - {rule: [TRN-DMA-004], reason: x}\n");                      // 10
    EXPECT_THAT(problems,
                ElementsAre("2:12:E26", "3:5:E9", "4:5:E9", "5:33:E8", "6:36:E11", "7:43:E22",
                            "7:52:E20", "8:43:E22", "8:55:E8", "9:5:E8", "10:12:E8"));
    read("- {rule: TRN-DMA-004, reason: x}\n");
    EXPECT_THAT(problems, testing::Not(IsEmpty()));
    read("allow: []\nother: 1\n");
    EXPECT_THAT(problems, ElementsAre("2:1:E11"));
    read("allow: [{rule: TRN-DMA-004, reason: 'a, b', at: 'a,b'}]\n");
    EXPECT_THAT(problems, ElementsAre("1:49:E8"));
    std::string many = "allow:\n";
    for (int i = 0; i < 1001; ++i) many += "  - {rule: TRN-DMA-004, reason: x}\n";
    read(many);
    EXPECT_THAT(problems, ElementsAre("2:3:E22"));
}

class Allowances : public testing::Test {
protected:
    void SetUp() override {
        log::replace_sink([this](const log::record& r) { lines.emplace_back(r.text); });
    }
    static void allow(std::string_view text) { misuse::allow(parsed(text)); }
    static void report(const misuse::rule& rule, std::string_view module) {
        misuse::report(rule, module, "here");
    }
    std::vector<std::string> lines;
};

TEST_F(Allowances, CountViolationsApart) {
    misuse::set_policy_of_all(misuse::policy::fail);
    allow("rule=TRN-DMA-004,at=chip*.udma*,count=2,reason=a known defect");
    report(misuse::first_bit_error, "chip0.udma1");
    report(misuse::first_bit_error, "chip1.udma0");
    EXPECT_THAT(lines, IsEmpty());
    EXPECT_FALSE(misuse::failed());
    EXPECT_EQ(misuse::count(misuse::first_bit_error), 0u);
    EXPECT_THAT(misuse::summary(), IsEmpty());
    EXPECT_EQ(misuse::reports(), 2u);  // models must not report the consequences instead
    EXPECT_EQ(misuse::to_json({})["total"], 0);
    EXPECT_EQ(misuse::to_json({})["allowed"][0]["count"], 2);
    EXPECT_EQ(misuse::to_json({})["allowed"][0]["limit"], 2);
    EXPECT_EQ(misuse::to_text({}),
              "2 allowed: TRN-DMA-004 first-bit-error at chip*.udma* (a known defect), "
              "--misuse-allow\n");
}

TEST_F(Allowances, NextViolationIsReportedAsUsual) {
    misuse::set_policy_of_all(misuse::policy::fail);
    allow("rule=TRN-DMA-004,count=2,reason=x");
    for (int i = 0; i < 3; ++i) report(misuse::first_bit_error, "chip0.udma1");
    EXPECT_THAT(lines, ElementsAre(HasSubstr("TRN-DMA-004")));
    EXPECT_TRUE(misuse::failed());
    EXPECT_EQ(misuse::count(misuse::first_bit_error), 1u);
}

TEST_F(Allowances, OnlyCoverTheirRuleAndModules) {
    allow("rule=TRN-DMA-004,at=chip0,reason=x");
    report(misuse::last_bit_error, "chip0.udma1");
    report(misuse::first_bit_error, "chip1.udma1");
    EXPECT_EQ(misuse::summary().size(), 2u);
    EXPECT_EQ(misuse::allowances()[0].count, 0u);
    EXPECT_THAT(misuse::allowed_lines(),
                ElementsAre("warning: --misuse-allow: unused allowance: no TRN-DMA-004 "
                            "first-bit-error at chip0"));
}

TEST_F(Allowances, AreUsedInOrder) {
    allow("rule=TRN-DMA-004,at=chip0,count=1,reason=first");
    allow("rule=TRN-DMA-004,reason=second");
    for (int i = 0; i < 3; ++i) report(misuse::first_bit_error, "chip0.udma1");
    EXPECT_EQ(misuse::allowances()[0].count, 1u);
    EXPECT_EQ(misuse::allowances()[1].count, 2u);
}

TEST_F(Allowances, BeginAndEndAtTheirTimes) {
    const auto one = parsed("rule=TRN-DMA-004,from=1 us,until=2 us,reason=x");
    EXPECT_FALSE(one.covers("chip0", 999'999));
    EXPECT_TRUE(one.covers("chip0", 1'000'000));
    EXPECT_TRUE(one.covers("chip0", 1'999'999));
    EXPECT_FALSE(one.covers("chip0", 2'000'000));
}

TEST_F(Allowances, StayWhenCountsAreCleared) {
    allow("rule=TRN-DMA-004,count=1,reason=x");
    report(misuse::first_bit_error, "chip0");
    misuse::clear();
    EXPECT_EQ(misuse::allowances()[0].count, 0u);
    report(misuse::first_bit_error, "chip0");
    EXPECT_THAT(misuse::summary(), IsEmpty());
}

struct hart final : initiator {
    hart() : initiator(kind::firmware) {}
    std::string describe() const override { return "hart 7"; }
    std::optional<std::uint64_t> instruction() const override { return 0x4000'1234; }
};

TEST_F(Allowances, CoverAPlaceInTheFirmware) {
    int lookups = 0;
    misuse::set_source_lookup([&](const initiator&, std::uint64_t) {
        ++lookups;
        return "serve (firmware/mgmt/mailbox.c:12)";
    });
    allow("rule=TRN-DMA-001,function=serv,reason=another function");
    allow("rule=TRN-DMA-001,line=mailbox.c:13,reason=another line");
    allow("rule=TRN-DMA-001,line=box.c:12,reason=another file");
    allow("rule=TRN-DMA-001,function=serve,line=mgmt/mailbox.c:12,reason=both");
    report(misuse::doorbell_past_ring, "chip0");  // the host has no instruction
    EXPECT_EQ(misuse::count(misuse::doorbell_past_ring), 1u);
    const hart cpu;
    const acting as(cpu);
    report(misuse::doorbell_past_ring, "chip0");
    EXPECT_EQ(misuse::count(misuse::doorbell_past_ring), 1u);
    EXPECT_EQ(misuse::allowances()[3].count, 1u);
    EXPECT_EQ(lookups, 1);
}

TEST(ChosenRules, StayCheckedUnderAPolicyForAll) {
    EXPECT_FALSE(misuse::wanted(misuse::tile_race));
    EXPECT_TRUE(misuse::wanted(misuse::first_bit_error));
    const auto before = misuse::revision();
    misuse::policy_choice::parse("log:tile-race").apply();
    EXPECT_NE(misuse::revision(), before);
    misuse::policy_choice::parse("count").apply();
    EXPECT_TRUE(misuse::wanted(misuse::tile_race));
    EXPECT_EQ(misuse::policy_of(misuse::tile_race), misuse::policy::count);
    EXPECT_FALSE(misuse::wanted(misuse::psum_collision));
    misuse::choices{.checked = {misuse::psum_collision}}.apply();
    EXPECT_TRUE(misuse::wanted(misuse::psum_collision));
    EXPECT_EQ(misuse::policy_of(misuse::psum_collision), misuse::policy::count);
}

}  // namespace

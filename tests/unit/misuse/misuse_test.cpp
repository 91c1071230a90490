// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/misuse/misuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/misuse_rules.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/policy.h"
#include "platform/framework/misuse/report.h"

namespace {

using namespace trn;
using testing::HasSubstr;
using testing::IsEmpty;

struct module : sc_core::sc_module {
    explicit module(sc_core::sc_module_name name) : sc_module(name) {}
};

class MisuseTest : public testing::Test {
protected:
    void SetUp() override {
        log::replace_sink([this](const log::record& r) { lines.emplace_back(r.text); });
    }
    module one{"one"}, two{"two"};
    std::vector<std::string> lines;
};

TEST_F(MisuseTest, CountsPerRuleAndModule) {
    misuse::report(misuse::ring_id_mismatch, one, "engine 3 queue 1");
    misuse::report(misuse::ring_id_mismatch, two, "engine 4 queue 1");
    misuse::report(misuse::ring_id_mismatch, two, "engine 4 queue 2");
    EXPECT_EQ(misuse::reports(), 3u);
    EXPECT_EQ(misuse::count(misuse::ring_id_mismatch), 3u);
    EXPECT_EQ(misuse::count(misuse::ring_id_mismatch, "two"), 2u);
    EXPECT_EQ(misuse::count(misuse::first_bit_error), 0u);
    const auto all = misuse::summary();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].module, "two");
    EXPECT_EQ(all[1].first_detail, "engine 4 queue 1");
}

TEST_F(MisuseTest, LogsTheFirstFewOfAModule) {
    for (int i = 0; i < 10; ++i) misuse::report(misuse::ring_id_mismatch, one, "engine 3 queue 1");
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines[0], HasSubstr("TRN-DMA-003 ring-id-mismatch"));
    EXPECT_THAT(lines[0], HasSubstr("engine 3 queue 1"));
    EXPECT_FALSE(misuse::failed());
}

TEST_F(MisuseTest, EachRuleHasItsOwnLineLimit) {
    for (const auto& rule : misuse::all_rules)
        for (int i = 0; i < 5; ++i) misuse::report(rule, one, "");
    EXPECT_EQ(lines.size(), 3 * misuse::all_rules.size());
    EXPECT_THAT(lines, testing::Each(testing::Not(HasSubstr("()"))));  // there were no details
}

TEST_F(MisuseTest, PolicyCanSilenceOrFailARule) {
    misuse::set_policy(misuse::ring_id_mismatch, misuse::policy::count);
    misuse::set_policy(misuse::first_bit_error, misuse::policy::fail);
    misuse::report(misuse::ring_id_mismatch, one, "");
    EXPECT_THAT(lines, IsEmpty());
    EXPECT_FALSE(misuse::failed());
    misuse::report(misuse::first_bit_error, one, "");
    EXPECT_TRUE(misuse::failed());
    misuse::clear();
    EXPECT_FALSE(misuse::failed());
    EXPECT_THAT(misuse::summary(), IsEmpty());
    EXPECT_EQ(misuse::reports(), 0u);
}

TEST_F(MisuseTest, RulesAreFoundByIdAndName) {
    EXPECT_EQ(misuse::find("TRN-DMA-001"), misuse::doorbell_past_ring);
    EXPECT_EQ(misuse::find("semaphore-wrap")->id, "TRN-SEM-001");
    EXPECT_FALSE(misuse::find("TRN-DMA-1"));
    EXPECT_FALSE(misuse::find(""));
}

TEST_F(MisuseTest, ReportingAnUninstalledRuleAborts) {
    misuse::set_rules({});
    EXPECT_DEATH(misuse::report(misuse::ring_id_mismatch, one, ""), "TRN-DMA-003");
    EXPECT_DEATH(misuse::find("ring-id-mismatch"), "set_rules");
}

struct someone : initiator {
    someone() : initiator(kind::firmware) {}
    std::string describe() const override { return "hart 7"; }
    std::optional<std::uint64_t> instruction() const override { return 0x4000'1234; }
};

TEST_F(MisuseTest, NamesTheInitiator) {
    const someone hart;
    {
        const acting as(hart);
        misuse::report(misuse::length_mismatch, one, "here");
        misuse::set_source_lookup([](const initiator& source, std::uint64_t pc) {
            return source.describe() == "hart 7" && pc == 0x4000'1234 ? "serve (mailbox.c:12)" : "";
        });
        misuse::report(misuse::length_mismatch, two, "here");
    }
    misuse::report(misuse::first_bit_error, one, "alone");
    EXPECT_THAT(lines.at(0), HasSubstr("(here), by hart 7, pc 0x40001234"));
    EXPECT_THAT(lines.at(1), HasSubstr("(here), by hart 7 in serve (mailbox.c:12), pc 0x40001234"));
    EXPECT_THAT(lines.at(2), testing::EndsWith("(alone)"));
    const auto all = misuse::summary();
    EXPECT_EQ(all.at(0).first_initiator, "");
    EXPECT_EQ(all.at(2).first_initiator, "hart 7 in serve (mailbox.c:12), pc 0x40001234");
}

TEST_F(MisuseTest, SummaryIsGroupedByChip) {
    const std::vector<std::string> chips{"chip1", "chip10"};
    misuse::report(misuse::length_mismatch, std::string_view("chip10.udma0"), "");
    misuse::report(misuse::length_mismatch, std::string_view("chip10.udma1"), "");
    misuse::report(misuse::first_bit_error, std::string_view("host"), "");
    const auto report = misuse::to_json(chips);
    EXPECT_EQ(report["total"], 3);
    EXPECT_EQ(report["chips"]["chip1"], 0);
    EXPECT_EQ(report["chips"]["chip10"], 2);
    EXPECT_EQ(report["chips"][""], 1);
    EXPECT_EQ(report["rules"][0]["module"], "host");
    EXPECT_EQ(report["rules"][1]["chip"], "chip10");
    EXPECT_EQ(report["rules"][1]["rule"], "TRN-DMA-008");
    EXPECT_THAT(misuse::to_text(chips), HasSubstr("misuse of chip10: 2\n  TRN-DMA-008"));
    misuse::clear();
    EXPECT_EQ(misuse::to_text(chips), "");
}

TEST(MisusePolicy, AppliesToAllRulesOrToNamedOnes) {
    using misuse::policy_choice;
    EXPECT_THAT(policy_choice::parse("count").rules, IsEmpty());
    const auto some = policy_choice::parse("fail:TRN-DMA-003,length-mismatch");
    EXPECT_EQ(some.chosen, misuse::policy::fail);
    EXPECT_THAT(some.rules,
                testing::ElementsAre(misuse::ring_id_mismatch, misuse::length_mismatch));
    policy_choice::parse("fail").apply();
    policy_choice::parse("count:TRN-MEM-002").apply();
    EXPECT_EQ(misuse::policy_of(misuse::link_before_training), misuse::policy::count);
    EXPECT_EQ(misuse::policy_of(misuse::hbm_before_training), misuse::policy::fail);
    policy_choice::parse("log").apply();
    EXPECT_EQ(misuse::policy_of(misuse::link_before_training), misuse::policy::log);
}

TEST(MisusePolicy, UnknownRuleGetsASuggestion) {
    const auto expect = [](std::string_view text, const std::string& suggestion) {
        try {
            misuse::policy_choice::parse(text);
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& wrong) {
            EXPECT_THAT(wrong.what(), HasSubstr(suggestion)) << text;
        }
    };
    expect("fial", "did you mean 'fail'");
    expect("", "known: count, log, fail");
    expect("fail:ring-id-mismach", "did you mean 'ring-id-mismatch'");
    expect("fail:TRN-DMA-003,TRN-DMA-303", "did you mean 'TRN-DMA-003'");
    expect("fail:", "no misuse rule ''");
    expect("fail:TRN-DMA-003,", "no misuse rule ''");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "platform/misuse/misuse.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "platform/log.h"

namespace {

using namespace trn;

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
    EXPECT_NE(lines[0].find("103 ring-id-mismatch"), std::string::npos);
    EXPECT_NE(lines[0].find("engine 3 queue 1"), std::string::npos);
    EXPECT_FALSE(misuse::failed());
}

TEST_F(MisuseTest, APolicyCanSilenceOrFailARule) {
    misuse::set_policy(misuse::ring_id_mismatch, misuse::policy::count);
    misuse::set_policy(misuse::first_bit_error, misuse::policy::fail);
    misuse::report(misuse::ring_id_mismatch, one, "");
    EXPECT_TRUE(lines.empty());
    EXPECT_FALSE(misuse::failed());
    misuse::report(misuse::first_bit_error, one, "");
    EXPECT_TRUE(misuse::failed());
    misuse::clear();
    EXPECT_FALSE(misuse::failed());
    EXPECT_TRUE(misuse::summary().empty());
}

TEST_F(MisuseTest, RulesAreFoundByNumberAndName) {
    EXPECT_EQ(misuse::find("101")->number, 101u);
    EXPECT_EQ(misuse::find("semaphore-overflow")->number, 201u);
    EXPECT_FALSE(misuse::find("10"));
    EXPECT_FALSE(misuse::find(""));
}

TEST_F(MisuseTest, EveryRuleHasItsOwnNumberAndAPlaceInTheDocument) {
    std::stringstream text;
    text << std::ifstream("doc/misuse-rules.md").rdbuf();
    std::set<unsigned> numbers;
    for (const auto& rule : misuse::rules) {
        EXPECT_TRUE(numbers.insert(rule.number).second) << rule.number;
        const std::string heading = "### " + std::to_string(rule.number) + " " + rule.name + "\n";
        EXPECT_NE(text.str().find(heading), std::string::npos) << heading;
    }
}

}  // namespace

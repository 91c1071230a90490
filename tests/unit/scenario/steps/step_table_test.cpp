// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/language/step_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "platform/app/scenario/steps/step_kinds.h"
#include "platform/framework/config/document.h"

namespace trn::scenario {
namespace {

const step_key& key_of(std::string_view step, std::string_view name) {
    const auto& kind = *std::ranges::find(step_kinds(), step, &step_kind::name);
    return *std::ranges::find(kind.keys, name, &step_key::name);
}

/// Error messages from reading a step with this text.
std::vector<std::string> mistakes_in(const std::string& text) {
    diagnostics problems;
    const auto document = config::document::parse(text, "step.yaml", problems);
    read_step(document.root(), {});
    std::vector<std::string> all;
    for (const auto& one : problems.list()) all.push_back(one.message);
    return all;
}

TEST(StepTable, NamesEachStepAndEachKeyOnce) {
    std::set<std::string_view> steps;
    for (const auto& kind : step_kinds()) {
        EXPECT_TRUE(steps.insert(kind.name).second) << kind.name;
        std::set<std::string_view> keys;
        for (const auto& key : kind.keys)
            EXPECT_TRUE(keys.insert(key.name).second) << kind.name << " " << key.name;
        for (const auto& key : kind.keys)
            for (const auto other : key.instead)
                EXPECT_TRUE(keys.contains(other)) << kind.name << " " << key.name;
        for (const auto& key : kind.keys)
            for (const auto& others : {key.beside, key.apart})
                for (const auto other : others)
                    EXPECT_TRUE(keys.contains(other)) << kind.name << " " << key.name;
    }
    EXPECT_GT(steps.size(), 30u);
}

TEST(StepTable, ShowsTheDefaultsOfTheStructure) {
    EXPECT_EQ(key_of("host", "within").otherwise, "10 s");
    EXPECT_EQ(key_of("copy", "verify").otherwise, "true");
    EXPECT_EQ(key_of("traffic", "descriptor").otherwise, "64 KiB");
    EXPECT_EQ(key_of("collective", "in").otherwise, "hbm0");
    EXPECT_EQ(key_of("efa", "status").otherwise, "ok");
    EXPECT_EQ(key_of("copy", "from").otherwise, "");
    EXPECT_EQ(key_of("peek", "mask").otherwise, "");
}

TEST(StepTable, RequiresAKeyUnlessAnAlternativeIsGiven) {
    EXPECT_THAT(mistakes_in("semaphore: {core: 0, index: 1, set: 0}"), testing::IsEmpty());
    EXPECT_THAT(mistakes_in("semaphore: {top_sp: 0, index: 1, set: 0}"), testing::IsEmpty());
    EXPECT_THAT(mistakes_in("semaphore: {index: 1, set: 0}"),
                testing::ElementsAre(testing::HasSubstr("'core'")));
    EXPECT_THAT(mistakes_in("peek: {register: a.B, as: x}"), testing::IsEmpty());
    EXPECT_THAT(mistakes_in("peek: {register: a.B}"),
                testing::ElementsAre(testing::HasSubstr("'equals'")));
}

TEST(StepTable, BoundsNumbersByTheirTypes) {
    EXPECT_THAT(mistakes_in("mailbox: {command: 256}"),
                testing::ElementsAre("'command' must be 0 to 255"));
    EXPECT_THAT(mistakes_in("restart_queue: {core: 0x100000000}"),
                testing::ElementsAre("'core' must be 0 to 4294967295"));
    EXPECT_THAT(mistakes_in("power: {die: 2, changes_within: 1 us}"),
                testing::ElementsAre("'die' must be 0 to 1"));
}

}  // namespace
}  // namespace trn::scenario

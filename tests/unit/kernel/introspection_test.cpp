// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/introspection.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace trn {
namespace {

struct ready_first final : reports_ready, sc_core::sc_module {
    explicit ready_first(const sc_core::sc_module_name&) {}
    bool ready() const override { return true; }
};

struct ready_last final : sc_core::sc_module, reports_ready {
    std::array<std::uint64_t, 4> data{};
    ready_first inside{"inside"};
    explicit ready_last(const sc_core::sc_module_name&) {}
    bool ready() const override { return false; }
};

struct never_ready final : sc_core::sc_module {
    ready_last inside{"inside"};
    explicit never_ready(const sc_core::sc_module_name&) {}
};

TEST(ForEachModule, VisitsImplementersOfEachClassInConstructionOrder) {
    const ready_last a{"a"};
    const never_ready b{"b"};
    const ready_first c{"c"};
    std::vector<std::string> visited;
    std::vector<bool> ready;
    for_each_module<reports_ready>([&](const auto& object, const reports_ready& module) {
        visited.emplace_back(object.name());
        ready.push_back(module.ready());
    });
    EXPECT_EQ(visited,
              (std::vector<std::string>{"a", "a.inside", "b.inside", "b.inside.inside", "c"}));
    EXPECT_EQ(ready, (std::vector<bool>{false, true, false, true, true}));
}

TEST(FindModule, LooksAtNoModuleAfterTheFirstAccepted) {
    const ready_last a{"a"};
    const never_ready b{"b"};
    std::vector<std::string> seen;
    const auto* const found =
        find_module<reports_ready>([&](const auto& object, const reports_ready& module) {
            seen.emplace_back(object.name());
            return module.ready();
        });
    EXPECT_EQ(found, &a.inside);
    EXPECT_EQ(seen, (std::vector<std::string>{"a", "a.inside"}));
    EXPECT_TRUE(any_module<reports_ready>());
    EXPECT_FALSE(any_module<console>());
}

}  // namespace
}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
// Collectives whose blocks have different sizes, some empty.
#include <fmt/format.h>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

using VariableCollectives = CollectiveTest;
using counts = std::vector<std::uint64_t>;

TEST_F(VariableCollectives, BlocksOfAnySizeAreCorrect) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    for (const auto& each : {counts{5, 0, 1, 3}, counts{0, 0, 0, 7}, counts{100'000, 3, 0, 40'000},
                             counts{32 * KiB, 32 * KiB, 32 * KiB, 32 * KiB},
                             counts{0, 600'000, 0, 1}, counts{0, 0, 0, 0}}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", each[0], each[1], each[2], each[3]));
        for (const auto algorithm : {TRN_COLL_RING, TRN_COLL_MESH})
            expect_right(group.run({.op = TRN_COLL_ALL_GATHER_V,
                                    .algorithm = algorithm,
                                    .counts = each,
                                    .iterations = 2,
                                    .check = true}));
        for (const auto with : {TRN_COLL_SUM, TRN_COLL_MAX})
            expect_right(group.run({.op = TRN_COLL_REDUCE_SCATTER_V,
                                    .with = with,
                                    .counts = each,
                                    .iterations = 2,
                                    .check = true}));
    }
    const counts table = {0, 1, 2, 3, 90'000, 0, 0, 7, 0, 0, 0, 0, 5, 70'001, 1, 40};
    for (const auto type : {TRN_BF16, TRN_FP32, TRN_UINT8})
        expect_right(group.run({.op = TRN_COLL_ALL_TO_ALL_V,
                                .type = type,
                                .counts = table,
                                .iterations = 2,
                                .check = true}));
}

TEST_F(VariableCollectives, SingleAllToAllRowAppliesToAllRanks) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const counts row = {3, 0, 500, 70};
    counts table;
    for (int n = 0; n < 4; ++n) table.insert(table.end(), row.begin(), row.end());
    const auto run = [&](const counts& each) {
        return group.run({.op = TRN_COLL_ALL_TO_ALL_V, .counts = each, .check = true});
    };
    const auto of_row = run(row), of_table = run(table);
    expect_right(of_row);
    EXPECT_EQ(of_row.bytes, of_table.bytes);
}

TEST_F(VariableCollectives, EqualBlocksMatchTheFixedSizeOperation) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const auto equal =
        group.run({.op = TRN_COLL_ALL_GATHER, .algorithm = TRN_COLL_MESH, .bytes = 256 * KiB});
    const auto counted = group.run(
        {.op = TRN_COLL_ALL_GATHER_V, .algorithm = TRN_COLL_MESH, .counts = counts(4, 32 * KiB)});
    EXPECT_EQ(counted.bytes, equal.bytes);
    EXPECT_EQ(counted.ns, equal.ns);
}

TEST_F(VariableCollectives, RunOnManyRanks) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    counts each, table;
    for (std::uint64_t n = 0; n < 16; ++n) each.push_back(n * n * 31 % 1000);
    for (std::uint64_t n = 0; n < 256; ++n) table.push_back(n * n * 31 % 1000);
    for (const auto op : {TRN_COLL_ALL_GATHER_V, TRN_COLL_REDUCE_SCATTER_V, TRN_COLL_ALL_TO_ALL_V})
        expect_right(group.run(
            {.op = op, .counts = op == TRN_COLL_ALL_TO_ALL_V ? table : each, .check = true}));
    expect_right(group.run(
        {.op = TRN_COLL_ALL_GATHER_V, .algorithm = TRN_COLL_RING, .counts = each, .check = true}));
}

TEST_F(VariableCollectives, WrongLengthsAreRefusedWithAMessage) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const auto expect = [&](const collective_request& request, const std::string& part) {
        const auto found = sentence(group, request);
        EXPECT_NE(found.find(part), std::string::npos) << found;
    };
    expect({.op = TRN_COLL_ALL_GATHER_V, .counts = {1, 2, 3}}, "takes 4 counts, not 3");
    expect({.op = TRN_COLL_ALL_TO_ALL_V, .counts = {1, 2, 3}}, "takes 4 or 16 counts, not 3");
    expect({.op = TRN_COLL_ALL_GATHER, .bytes = KiB, .counts = {1, 2, 3, 4}}, "takes no counts");
    expect({.op = TRN_COLL_ALL_GATHER_V, .counts = {1, ~std::uint64_t{0}, 1, 1}}, "count 1");
    expect({.op = TRN_COLL_REDUCE_SCATTER_V, .algorithm = TRN_COLL_HALVING, .counts = {1, 2, 3, 4}},
           "reduce-scatter-v has no algorithm halving");
}

/// A domain of 0 ranks has no position to divide by.
TEST_F(VariableCollectives, MoreDomainsThanRanksAreRefusedByTheLibrary) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    run_each({0}, [](std::size_t, device& on) {
        const std::uint32_t ring[] = {0, 1};
        const trn_coll_member members[2] = {};
        auto config = bare_pair(members, ring);
        config.op = TRN_COLL_ALL_REDUCE;
        config.bytes = 8;
        config.domains = 3;
        trn_coll* made = nullptr;
        trn_coll_sizes sizes{};
        EXPECT_EQ(trn_coll_get_sizes(&config, &sizes), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(trn_coll_create(on, &config, &made), TRN_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trn_last_error(on)).find("2 ranks in 3 domains"), std::string::npos)
            << trn_last_error(on);
    });
}

TEST_F(VariableCollectives, WithoutALimitTheHostWaitsForTheEnd) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    for (const auto limit : {std::uint64_t{0}, std::uint64_t{1} << 63})
        expect_right(group.run({.op = TRN_COLL_ALL_REDUCE, .bytes = 4 * MiB, .limit_ns = limit}));
}

TEST_F(VariableCollectives, CountsThatDoNotAddUpAreRefusedByTheLibrary) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    run_each({0}, [](std::size_t, device& on) {
        const std::uint64_t each[] = {1, 2};
        const std::uint32_t ring[] = {0, 1};
        const trn_coll_member members[2] = {};
        auto config = bare_pair(members, ring);
        config.op = TRN_COLL_ALL_GATHER_V;
        config.counts = each;
        config.bytes = 8;
        trn_coll* made = nullptr;
        EXPECT_EQ(trn_coll_create(on, &config, &made), TRN_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trn_last_error(on)).find("8 bytes, but the counts need 6"),
                  std::string::npos)
            << trn_last_error(on);
        config.counts = nullptr;
        EXPECT_EQ(trn_coll_create(on, &config, &made), TRN_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trn_last_error(on)).find("without counts"), std::string::npos);
        EXPECT_EQ(made, nullptr);
    });
}

}  // namespace
}  // namespace trn::test

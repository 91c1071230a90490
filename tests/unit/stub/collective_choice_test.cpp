// SPDX-License-Identifier: Apache-2.0
// Choice of a collective's algorithm: by its own rules, then by the library's.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "platform/app/host_options/collective_rules.h"
#include "platform/framework/config/diagnostics.h"
#include "tests/support/scratch_folder.h"

namespace trn {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;

trn_coll_config asked(trn_coll_op op, std::uint32_t ranks, std::uint64_t bytes,
                      trn_topology_kind topology = TRN_TOPOLOGY_SWITCHED) {
    trn_coll_config config{};
    config.op = op;
    config.ranks = ranks;
    config.bytes = bytes;
    config.topology = topology;
    return config;
}

TEST(CollectiveChoice, EveryOperationHasADefaultAlgorithmForAnySizeAndRanks) {
    for (int op = TRN_COLL_ALL_REDUCE; op <= TRN_COLL_BARRIER; ++op)
        for (const std::uint32_t ranks : {2u, 3u, 16u, 144u, 1024u})
            for (const std::uint64_t bytes : {std::uint64_t{1}, 64 * KiB, 4 * MiB, 1024 * MiB})
                for (const auto kind : {TRN_TOPOLOGY_NONE, TRN_TOPOLOGY_TORUS}) {
                    const auto which = static_cast<trn_coll_op>(op);
                    const auto config = asked(which, ranks, bytes, kind);
                    const auto chosen = trn_coll_choose(&config);
                    EXPECT_NE(chosen, TRN_COLL_AUTO);
                    EXPECT_TRUE(trn_coll_has_algorithm(which, chosen)) << trn_coll_op_text(which);
                }
}

TEST(CollectiveChoice, SmallSizesUseFewStepsAndLargeOnesHalving) {
    const auto chosen = [](trn_coll_op op, std::uint32_t ranks, std::uint64_t bytes) {
        const auto config = asked(op, ranks, bytes);
        return trn_coll_choose(&config);
    };
    EXPECT_EQ(chosen(TRN_COLL_ALL_REDUCE, 16, KiB), TRN_COLL_DOUBLING);
    EXPECT_EQ(chosen(TRN_COLL_ALL_REDUCE, 16, 256 * MiB), TRN_COLL_HALVING);
    EXPECT_EQ(chosen(TRN_COLL_REDUCE_SCATTER, 16, KiB), TRN_COLL_HALVING);
    EXPECT_EQ(chosen(TRN_COLL_ALL_GATHER, 16, KiB), TRN_COLL_MESH);
    EXPECT_EQ(chosen(TRN_COLL_ALL_GATHER, 16, 256 * MiB), TRN_COLL_DOUBLING);
}

TEST(CollectiveChoice, FewRanksUseARing) {
    const auto chosen = [](std::uint32_t ranks, trn_topology_kind topology) {
        const auto config = asked(TRN_COLL_ALL_REDUCE, ranks, 16 * MiB, topology);
        return trn_coll_choose(&config);
    };
    EXPECT_EQ(chosen(4, TRN_TOPOLOGY_SWITCHED), TRN_COLL_RING);
    EXPECT_EQ(chosen(144, TRN_TOPOLOGY_SWITCHED), TRN_COLL_HALVING);
    EXPECT_EQ(chosen(16, TRN_TOPOLOGY_SWITCHED), TRN_COLL_HALVING);
    EXPECT_EQ(chosen(16, TRN_TOPOLOGY_TORUS), TRN_COLL_RING) << "of which there are four";
    EXPECT_EQ(chosen(64, TRN_TOPOLOGY_TORUS), TRN_COLL_HALVING);
}

TEST(CollectiveChoice, HalvingUsesSeveralChannelsAcrossDomainsToo) {
    auto config = asked(TRN_COLL_ALL_REDUCE, 16, 2 * MiB);
    config.channels = 2;
    EXPECT_EQ(trn_coll_choose(&config), TRN_COLL_HALVING);
    config.domains = 2;
    EXPECT_EQ(trn_coll_choose(&config), TRN_COLL_HALVING);
}

TEST(CollectiveChoice, FirstMatchingRowWinsAndUserRowsComeFirst) {
    const std::vector<trn_coll_rule> rules = {
        {TRN_COLL_ALL_REDUCE, 1u << TRN_TOPOLOGY_TORUS, 0, 0, TRN_COLL_RING},
        {TRN_COLL_ALL_REDUCE, 0, 8, 0, TRN_COLL_HALVING},
        {TRN_COLL_ALL_REDUCE, 0, 0, 2 * KiB, TRN_COLL_RING},
    };
    const auto chosen = [&](trn_coll_config config) {
        config.rules = rules.data();
        config.rule_count = static_cast<std::uint32_t>(rules.size());
        return trn_coll_choose(&config);
    };
    EXPECT_EQ(chosen(asked(TRN_COLL_ALL_REDUCE, 4, KiB, TRN_TOPOLOGY_TORUS)), TRN_COLL_RING);
    EXPECT_EQ(chosen(asked(TRN_COLL_ALL_REDUCE, 8, KiB)), TRN_COLL_HALVING);
    EXPECT_EQ(chosen(asked(TRN_COLL_ALL_REDUCE, 9, 2 * KiB)), TRN_COLL_RING);
    EXPECT_EQ(chosen(asked(TRN_COLL_ALL_REDUCE, 9, 2 * KiB + 1)), TRN_COLL_DOUBLING) << "default";
    auto named = asked(TRN_COLL_ALL_REDUCE, 4, KiB);
    named.algorithm = TRN_COLL_DOUBLING;
    EXPECT_EQ(chosen(named), TRN_COLL_DOUBLING) << "no rule overrides what was asked for";
}

class CollectiveTable : public testing::Test {
protected:
    std::vector<trn_coll_rule> read(const std::string& text) const {
        std::ofstream(file_) << text;
        return read_collective_rules(file_);
    }
    std::vector<diagnostic> mistakes(const std::string& text) const {
        try {
            read(text);
        } catch (const config_error& wrong) {
            return wrong.list();
        }
        return {};
    }

    const test::scratch_folder folder_;
    const std::filesystem::path file_ = folder_ / "table.yaml";
};

TEST_F(CollectiveTable, IsReadRowByRow) {
    const auto rules = read(
        "algorithms:\n"
        "  - {op: all_reduce, topology: torus, ranks_up_to: 16, size_up_to: 64 KiB, algorithm: "
        "doubling}\n"
        "  - {op: reduce_scatter, algorithm: halving}\n"
        "  - {op: all_gather_v, algorithm: ring}\n");
    ASSERT_EQ(rules.size(), 3u);
    EXPECT_EQ(rules[0].op, TRN_COLL_ALL_REDUCE);
    EXPECT_EQ(rules[0].topologies, 1u << TRN_TOPOLOGY_TORUS);
    EXPECT_EQ(rules[0].max_ranks, 16u);
    EXPECT_EQ(rules[0].max_bytes, 64 * KiB);
    EXPECT_EQ(rules[0].algorithm, TRN_COLL_DOUBLING);
    EXPECT_EQ(rules[1].topologies, 0u);
    EXPECT_EQ(rules[1].max_bytes, 0u);
    auto counted = asked(TRN_COLL_ALL_GATHER_V, 4, KiB);
    EXPECT_EQ(trn_coll_choose(&counted), TRN_COLL_MESH);
    counted.rules = rules.data();
    counted.rule_count = 3;
    EXPECT_EQ(trn_coll_choose(&counted), TRN_COLL_RING);
}

TEST_F(CollectiveTable, AllMistakesAreReportedWithTheirLines) {
    const auto found = mistakes(
        "algorithms:\n"
        "  - {op: all_reduce, algorithm: dubling}\n"
        "  - {op: all_to_all, algorithm: ring}\n"
        "  - {op: all_gather, size: 1 KiB, algorithm: ring}\n"
        "  - {op: all_gather, size_up_to: 64, algorithm: ring}\n"
        "  - {algorithm: ring}\n"
        "  - {op: reduce_scatter_v, algorithm: mesh}\n");
    ASSERT_EQ(found.size(), 6u);
    EXPECT_EQ(found[0].line, 2);
    EXPECT_EQ(found[0].column, 33);
    EXPECT_NE(found[0].suggestion.find("doubling"), std::string::npos);
    EXPECT_EQ(found[1].line, 3);
    EXPECT_EQ(found[1].message, "all-to-all has no algorithm ring");
    EXPECT_EQ(found[2].code, mistake::unknown_key);
    EXPECT_EQ(found[3].code, mistake::unit_missing);
    EXPECT_EQ(found[4].code, mistake::missing_key);
    EXPECT_EQ(found[5].line, 7);
    EXPECT_EQ(found[5].message, "reduce-scatter-v has no algorithm mesh");
}

}  // namespace
}  // namespace trn

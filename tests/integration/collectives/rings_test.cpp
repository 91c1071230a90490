// SPDX-License-Identifier: Apache-2.0
// Collectives over several rings at once: each ring transfers its part of every block in its own
// rank order.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

class SeveralRings : public CollectiveTest {
protected:
    static constexpr trn_coll_op ops[] = {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER,
                                          TRN_COLL_REDUCE_SCATTER, TRN_COLL_BROADCAST,
                                          TRN_COLL_PERMUTE};
    static constexpr trn_coll_op pair_ops[] = {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER,
                                               TRN_COLL_REDUCE_SCATTER};
    using counts = std::vector<std::uint64_t>;

    static void expect_all_right(collective_group& group, collective_request request,
                                 std::span<const trn_coll_op> which) {
        request.check = true;
        for (const auto op : which) {
            SCOPED_TRACE(fmt::format("{} by {} of {} ranks, {} bytes", trn_coll_op_text(op),
                                     trn_coll_algorithm_text(request.algorithm), group.ranks(),
                                     request.bytes));
            request.op = op;
            expect_right(group.run(request));
        }
    }
};

TEST_F(SeveralRings, AreCorrectWhenTheLastRingGetsLess) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    for (const auto bytes : {16 * 64 * KiB, 16 * (64 * KiB + 2), 16 * 127 * KiB, 2 * MiB + 32,
                             16 * (192 * KiB + 66), 5 * MiB}) {
        expect_all_right(group, {.algorithm = TRN_COLL_RING, .bytes = bytes, .root = 5}, ops);
        expect_all_right(group, {.algorithm = TRN_COLL_KANGARING, .bytes = bytes}, pair_ops);
    }
}

TEST_F(SeveralRings, AreCorrectForEveryTypeAndOperator) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    for (const auto type :
         {TRN_BF16, TRN_FP32, TRN_FP16, TRN_INT8, TRN_UINT8, TRN_INT32, TRN_UINT32})
        for (const auto with : {TRN_COLL_SUM, TRN_COLL_MAX})
            for (const auto algorithm : {TRN_COLL_RING, TRN_COLL_KANGARING})
                expect_all_right(group,
                                 {.algorithm = algorithm,
                                  .type = type,
                                  .with = with,
                                  .bytes = 2 * MiB + 4096 * 7,
                                  .iterations = 2},
                                 std::span(pair_ops).first(1));
}

TEST_F(SeveralRings, DistributeAnyNumberOfLanesAndChannels) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    using shape = std::pair<std::uint32_t, std::uint32_t>;
    for (const auto& [channels, lanes] :
         {shape{0, 1}, {0, 3}, {1, 5}, {1, 8}, {3, 0}, {3, 1}, {3, 3}, {8, 0}, {8, 3}}) {
        SCOPED_TRACE(fmt::format("{} channels of {} lanes", channels, lanes));
        const collective_request request{
            .algorithm = TRN_COLL_RING, .bytes = 3 * MiB, .channels = channels, .lanes = lanes};
        expect_all_right(group, request, std::span(ops).first(4));
    }
    expect_all_right(group,
                     {.algorithm = TRN_COLL_KANGARING, .bytes = 3 * MiB, .channels = 3, .lanes = 5},
                     pair_ops);
}

TEST_F(SeveralRings, AreCorrectForBlocksOfDifferentSizes) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    counts each;
    for (std::uint64_t n = 0; n < 16; ++n) each.push_back(n % 5 == 1 ? 0 : n * n * 1009 % 99'991);
    each[7] = 130'001;
    for (const auto op : {TRN_COLL_ALL_GATHER_V, TRN_COLL_REDUCE_SCATTER_V})
        expect_right(group.run({.op = op,
                                .algorithm = TRN_COLL_RING,
                                .counts = each,
                                .iterations = 2,
                                .check = true}));
}

TEST_F(SeveralRings, AreCorrectFromAndToSbuf) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    expect_all_right(group,
                     {.algorithm = TRN_COLL_RING,
                      .bytes = 2 * MiB,
                      .places = {{location::kind::sbuf, 0},
                                 {location::kind::sbuf, 1},
                                 {location::kind::sbuf, 2}}},
                     ops);
}

TEST_F(SeveralRings, PartialTorusGroupsUseTheAvailableRings) {
    boot("trn2-48xl");
    for (const std::vector<std::size_t>& chips :
         {std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7},
          {5, 6, 9, 10},
          {0, 5, 10, 15, 2, 7},
          {12, 3},
          {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}) {
        collective_group group(*this, chips, image());
        expect_all_right(group, {.algorithm = TRN_COLL_RING, .bytes = 2 * MiB}, ops);
        expect_all_right(group, {.algorithm = TRN_COLL_KANGARING, .bytes = 2 * MiB}, pair_ops);
    }
}

TEST_F(SeveralRings, ServerWithTwoCoresPerChip) {
    boot("trn1-32xl");
    collective_group group(*this, all(), image());
    for (const auto bytes : {4 * MiB, 9 * MiB + 64}) {
        expect_all_right(group, {.algorithm = TRN_COLL_RING, .bytes = bytes, .root = 3}, ops);
        expect_all_right(group, {.algorithm = TRN_COLL_KANGARING, .bytes = bytes}, pair_ops);
    }
}

TEST_F(SeveralRings, ChipRowRingsRunInBothDirections) {
    boot("inf2-48xl");
    collective_group group(*this, all(), image());
    expect_all_right(group, {.algorithm = TRN_COLL_RING, .bytes = 2 * MiB}, ops);
    expect_all_right(group, {.algorithm = TRN_COLL_KANGARING, .bytes = 2 * MiB}, pair_ops);
}

TEST_F(SeveralRings, FourServerRingsVisitAllServers) {
    boot("trn2-ultraserver");
    collective_group group(*this, all(), image());
    expect_all_right(group, {.algorithm = TRN_COLL_RING, .bytes = 8 * MiB},
                     std::span(ops).first(4));
    expect_all_right(group, {.algorithm = TRN_COLL_KANGARING, .bytes = 8 * MiB},
                     std::span(pair_ops).first(1));
}

TEST_F(SeveralRings, TwoServersJoinedByEfaExchangeTheBlocksOfEachRing) {
    boot("tests/integration/collectives/two_servers.yaml");
    collective_group group(*this, all(), image());
    ASSERT_EQ(group.domains(), 2u);
    expect_all_right(group, {.algorithm = TRN_COLL_RING, .bytes = 6 * MiB + 640, .root = 21}, ops);
    counts each;
    for (std::uint64_t n = 0; n < 32; ++n) each.push_back(n % 7 == 1 ? 0 : n * n * 1009 % 99'991);
    for (const auto op : {TRN_COLL_ALL_GATHER_V, TRN_COLL_REDUCE_SCATTER_V})
        expect_right(
            group.run({.op = op, .algorithm = TRN_COLL_RING, .counts = each, .check = true}));
}

/// A rank waits for its neighbour in one of the rings.
TEST_F(SeveralRings, MissingRankIsNamedByItsNeighbours) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    const auto apart = [](std::uint32_t a, std::uint32_t b) {
        const auto way = (a + 4 - b) % 4;
        return std::min(way, 4 - way);
    };
    const auto ends = group.run_without(5, {.op = TRN_COLL_ALL_REDUCE,
                                            .algorithm = TRN_COLL_RING,
                                            .bytes = 4 * MiB,
                                            .limit_ns = 2'000'000});
    unsigned named = 0;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
        if (rank == 5) continue;
        EXPECT_EQ(ends[rank].status, TRN_ABORTED) << rank;
        const auto other = ends[rank].failure.detail;
        EXPECT_EQ(apart(rank % 4, other % 4) + apart(rank / 4, other / 4), 1u)
            << ends[rank].sentence;
        named += other == 5;
    }
    EXPECT_GE(named, 1u);
    EXPECT_LE(named, 4u) << "it has four neighbours";
    expect_all_right(group, {.algorithm = TRN_COLL_RING, .bytes = 4 * MiB}, ops);
}

TEST_F(SeveralRings, InvalidRankOrderIsRefused) {
    boot("trn2-48xl");
    collective_group group(*this, {0, 1}, image());
    run_each({0}, [](std::size_t, device& on) {
        const std::uint32_t ring[] = {0, 1, 1, 1};
        const trn_coll_member members[2] = {};
        auto config = bare_pair(members, ring);
        config.rings = 2;
        config.bytes = 8;
        trn_coll* made = nullptr;
        EXPECT_EQ(trn_coll_create(on, &config, &made), TRN_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trn_last_error(on)).find("ring 1 is not a permutation of the ranks"),
                  std::string::npos)
            << trn_last_error(on);
        config.rings = TRN_COLL_RINGS + 1;
        EXPECT_EQ(trn_coll_create(on, &config, &made), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(made, nullptr);
    });
}

}  // namespace
}  // namespace trn::test

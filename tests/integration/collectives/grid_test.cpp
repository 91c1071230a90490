// SPDX-License-Identifier: Apache-2.0
// Recursive doubling and halving on a grid: correct bit for bit for any number of ranks, in few
// steps.
#include <fmt/format.h>

#include <algorithm>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

struct variant {
    trn_coll_op op;
    trn_coll_algorithm algorithm;
};
constexpr variant variants[] = {
    {TRN_COLL_ALL_REDUCE, TRN_COLL_DOUBLING},
    {TRN_COLL_ALL_REDUCE, TRN_COLL_HALVING},
    {TRN_COLL_REDUCE_SCATTER, TRN_COLL_HALVING},
    {TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING},
};

class GridCollectives : public CollectiveTest {
protected:
    std::vector<std::size_t> some(std::size_t ranks) const {
        auto chips = all();
        chips.resize(ranks);
        return chips;
    }
    static void expect_all_right(collective_group& group, collective_request request) {
        for (const auto& each : variants) {
            request.op = each.op;
            request.algorithm = each.algorithm;
            request.check = true;
            SCOPED_TRACE(fmt::format("{} {} of {} ranks, {} bytes", trn_coll_op_text(each.op),
                                     trn_coll_algorithm_text(each.algorithm), group.ranks(),
                                     request.bytes));
            const auto done = group.run(request);
            expect_right(done);
            EXPECT_EQ(done.algorithm, each.algorithm);
        }
    }
};

TEST_F(GridCollectives, AreCorrectForAnyNumberOfRanks) {
    boot("trn2-48xl");
    for (const std::size_t ranks : {2, 3, 5, 7, 8, 12, 13, 16}) {
        collective_group group(*this, some(ranks), image());
        expect_all_right(group, {.bytes = ranks * 2});
        expect_all_right(group, {.bytes = 50'000, .iterations = 3});
    }
}

TEST_F(GridCollectives, AreCorrectWithSeveralLanesAndEveryType) {
    boot("trn3-sled");
    for (const auto& chips : {all(), std::vector<std::size_t>{3, 0, 2}}) {
        collective_group group(*this, chips, image());
        for (const auto type :
             {TRN_BF16, TRN_FP32, TRN_FP16, TRN_INT8, TRN_UINT8, TRN_INT32, TRN_UINT32})
            expect_all_right(group, {.type = type, .bytes = 10'000});
        for (const auto with : {TRN_COLL_MIN, TRN_COLL_MAX})
            expect_all_right(group, {.with = with, .bytes = 10'000});
        expect_all_right(group, {.bytes = 3 * MiB, .iterations = 2});
        expect_all_right(group, {.bytes = 100'000, .lanes = 5});
    }
}

/// 17 and 19 ranks form no grid within the operand limit; 34 ranks form a grid of 33.
TEST_F(GridCollectives, AreCorrectWithTwinRanks) {
    boot("trn2-ultraserver");
    for (const std::size_t ranks : {17, 19, 34}) {
        collective_group group(*this, some(ranks), image());
        expect_all_right(group, {.bytes = ranks * 2});
        expect_all_right(group, {.bytes = 200'000, .channels = 3, .lanes = 2, .iterations = 2});
        expect_all_right(group, {.type = TRN_FP32, .bytes = 2 * MiB});
    }
}

/// Forwarded blocks consist of several pieces when ranks do not follow the order of places.
TEST_F(GridCollectives, AreCorrectForRanksAtAnyPlaces) {
    boot("trn3-gen1");
    const std::vector<std::size_t> groups[] = {
        {0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35},
        {5, 21, 37, 53, 6, 22, 38, 54},
        {63, 0, 40, 1, 17, 9, 33, 2, 62, 8, 12, 30, 31, 7, 21},
    };
    for (const auto& chips : groups) {
        collective_group group(*this, chips, image());
        expect_all_right(group, {.bytes = 70'000});
        expect_all_right(group, {.bytes = 3 * MiB, .channels = 4});
    }
}

/// Each channel forwards only the blocks that it received, so related blocks stay in one channel.
TEST_F(GridCollectives, AreCorrectOverSeveralChannels) {
    boot("trn2-48xl");
    for (const std::size_t ranks : {2, 3, 6, 11, 16}) {
        collective_group group(*this, some(ranks), image());
        for (const std::uint32_t channels : {2, 4}) {
            expect_all_right(group, {.bytes = ranks * 2, .channels = channels});
            expect_all_right(group, {.bytes = 300'000, .channels = channels, .iterations = 2});
            expect_all_right(group, {.bytes = 1'000'000, .channels = channels, .lanes = 3});
        }
    }
}

TEST_F(GridCollectives, SeveralChannelsMoveLargeBlocksFaster) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const auto ns = [&](trn_coll_algorithm algorithm, std::uint32_t channels) {
        return group
            .run({.op = TRN_COLL_ALL_REDUCE,
                  .algorithm = algorithm,
                  .bytes = 4 * MiB,
                  .channels = channels,
                  .lanes = 16})
            .ns;
    };
    for (const auto algorithm : {TRN_COLL_DOUBLING, TRN_COLL_HALVING})
        EXPECT_LT(ns(algorithm, 4), 0.97 * ns(algorithm, 1)) << trn_coll_algorithm_text(algorithm);
}

/// Each channel starts with a different dimension, and a chip has links in every dimension of the
/// torus.
TEST_F(GridCollectives, SeveralChannelsUseTheLinksOfAllDimensionsAtOnce) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    for (const auto& each : {variants[1], variants[2], variants[3]}) {
        const auto ns = [&](std::uint32_t channels) {
            return group
                .run({.op = each.op,
                      .algorithm = each.algorithm,
                      .bytes = 16 * MiB,
                      .channels = channels,
                      .lanes = 16 / channels})
                .ns;
        };
        SCOPED_TRACE(trn_coll_op_text(each.op));
        EXPECT_LT(ns(4), 0.7 * ns(1));
    }
}

/// 13 ranks form one side of a grid: each rank waits for each other by its number.
TEST_F(GridCollectives, WaitingRankNamesTheMissingRankOfALongSide) {
    boot("trn2-48xl");
    collective_group group(*this, some(13), image());
    for (const auto& each : variants) {
        SCOPED_TRACE(trn_coll_op_text(each.op));
        const auto outcomes = group.run_without(
            5,
            {.op = each.op, .algorithm = each.algorithm, .bytes = 64 * KiB, .limit_ns = 2'000'000});
        for (std::uint32_t rank = 0; rank < outcomes.size(); ++rank) {
            if (rank == 5) continue;
            EXPECT_EQ(outcomes[rank].status, TRN_ABORTED);
            EXPECT_NE(outcomes[rank].sentence.find("waits for rank 5 "), std::string::npos)
                << outcomes[rank].sentence;
            EXPECT_EQ(outcomes[rank].failure.detail, 5u);
        }
    }
}

TEST_F(GridCollectives, AreFasterThanARingForSmallBlocks) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    const auto ns = [&](trn_coll_op op, trn_coll_algorithm algorithm) {
        return group.run({.op = op, .algorithm = algorithm, .bytes = 4 * KiB}).ns;
    };
    for (const auto& each : variants) {
        SCOPED_TRACE(trn_coll_op_text(each.op));
        EXPECT_LT(2 * ns(each.op, each.algorithm), ns(each.op, TRN_COLL_RING)) << "4 or 8 steps";
    }
}

TEST_F(GridCollectives, UnsupportedAlgorithmIsRefusedByName) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    EXPECT_NE(
        sentence(group, {.op = TRN_COLL_REDUCE_SCATTER, .algorithm = TRN_COLL_MESH, .bytes = KiB})
            .find("reduce-scatter has no algorithm mesh; it has: ring halving"),
        std::string::npos);
    EXPECT_NE(sentence(group, {.op = TRN_COLL_ALL_TO_ALL, .algorithm = TRN_COLL_RING, .bytes = KiB})
                  .find("all-to-all has no algorithm ring; it has: mesh"),
              std::string::npos);
    expect_right(group.run({.op = TRN_COLL_ALL_REDUCE, .bytes = KiB, .check = true}));
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// Grids used by the doubling and halving algorithms.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

/// The grid of all chips of `racks` racks.
trn_coll_grid grid_of(trn_topology_kind topology, std::uint32_t racks, std::uint32_t servers,
                      std::uint32_t chips, std::uint64_t bytes = 16 * MiB) {
    std::vector<trn_coll_member> members;
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t server = 0; server < servers; ++server)
            for (std::uint32_t chip = 0; chip < chips; ++chip)
                members.push_back({{rack, server, chip}, 0, 0, 0});
    trn_coll_config config{};
    config.op = TRN_COLL_ALL_REDUCE;
    config.topology = topology;
    config.bytes = bytes;
    config.ranks = static_cast<std::uint32_t>(members.size());
    config.members = members.data();
    trn_coll_grid grid{};
    trn_coll_get_grid(&config, &grid);
    return grid;
}

std::vector<std::uint32_t> sides(const trn_coll_grid& grid) {
    return {grid.length, grid.length + grid.sides};
}

using list = std::vector<std::uint32_t>;

TEST(CollectiveGrid, CoversEveryRankWithinTheOperandLimit) {
    for (std::uint32_t ranks = 2; ranks <= TRN_COLL_RANKS; ++ranks) {
        SCOPED_TRACE(ranks);
        const auto grid = grid_of(TRN_TOPOLOGY_NONE, 1, 1, ranks);
        const auto twins = ranks - grid.points;
        std::uint32_t points = 1, operands = twins == 0 ? 1 : 2;
        for (const auto length : sides(grid)) {
            points *= length;
            operands += length - 1;
        }
        EXPECT_EQ(points, grid.points);
        EXPECT_LE(operands, TRN_COMPUTE_OPERANDS);
        EXPECT_LE(twins, ranks / 8) << "few stand aside";
        std::map<std::uint32_t, std::uint32_t> ranks_at;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) ++ranks_at[grid.point[rank]];
        EXPECT_EQ(ranks_at.size(), grid.points);
        EXPECT_LT(ranks_at.rbegin()->first, grid.points);
        for (std::uint32_t rank = 0; rank < 2 * twins; ++rank)
            EXPECT_EQ(grid.point[rank], rank / 2) << "the first points are two ranks each";
    }
}

TEST(CollectiveGrid, HasTwinsOnlyWhenNoProductFits) {
    for (const std::uint32_t ranks : {6, 7, 13, 15, 36, 60, 144, 1024})
        EXPECT_EQ(grid_of(TRN_TOPOLOGY_NONE, 1, 1, ranks).points, ranks);
    EXPECT_EQ(grid_of(TRN_TOPOLOGY_NONE, 1, 1, 17).points, 16u);
    EXPECT_EQ(grid_of(TRN_TOPOLOGY_NONE, 1, 1, 34).points, 33u);
}

TEST(CollectiveGrid, StartsWithTheLongestLevelOfTheMachine) {
    EXPECT_EQ(sides(grid_of(TRN_TOPOLOGY_SWITCHED, 2, 18, 4)), (list{6, 3, 4, 2}));
    EXPECT_EQ(sides(grid_of(TRN_TOPOLOGY_SWITCHED, 2, 2, 16)), (list{4, 4, 2, 2}));
    EXPECT_EQ(sides(grid_of(TRN_TOPOLOGY_SWITCHED, 1, 1, 4)), (list{4}));
    const auto grid = grid_of(TRN_TOPOLOGY_SWITCHED, 2, 18, 4);
    EXPECT_EQ(grid.point[0], 0u);
    EXPECT_EQ(grid.point[1], 2u) << "the next chip of the sled, of two racks";
    EXPECT_EQ(grid.point[4], 8u) << "the same chip of the next sled";
    EXPECT_EQ(grid.point[72], 1u) << "the same chip of the other rack";
}

TEST(CollectiveGrid, TorusGridForLargeSizesIsACubeOfLinks) {
    EXPECT_EQ(sides(grid_of(TRN_TOPOLOGY_TORUS, 1, 1, 16, 4096)), (list{4, 4}));
    const auto grid = grid_of(TRN_TOPOLOGY_TORUS, 1, 4, 16);
    ASSERT_EQ(sides(grid), (list{2, 2, 2, 2, 2, 2}));
    const auto hops = [](std::uint32_t a, std::uint32_t b) {
        const auto way = (a + 4 - b) % 4;
        return way == 3 ? 1 : way;
    };
    for (std::uint32_t a = 0; a < 64; ++a)
        for (std::uint32_t b = 0; b < 64; ++b)
            if (std::popcount(static_cast<std::uint32_t>(grid.point[a] ^ grid.point[b])) == 1) {
                EXPECT_EQ(hops(a % 4, b % 4) + hops(a / 4 % 4, b / 4 % 4) + hops(a / 16, b / 16),
                          1u)
                    << a << " and " << b;
            }
}

TEST(CollectiveGrid, SeveralDomainsUseTheGridOfTheFirst) {
    std::vector<trn_coll_member> members;
    for (const std::uint32_t chip : {0, 1, 2, 3, 9, 4, 11, 5})
        members.push_back({{0, chip / 2, chip % 2}, 0, 0, 0});
    trn_coll_config config{};
    config.op = TRN_COLL_REDUCE_SCATTER;
    config.bytes = 8;
    config.topology = TRN_TOPOLOGY_SWITCHED;
    config.ranks = 8;
    config.domains = 2;
    config.members = members.data();
    trn_coll_grid grid{};
    trn_coll_get_grid(&config, &grid);
    EXPECT_EQ(grid.points, 4u);
    EXPECT_EQ(sides(grid), (list{2, 2}));
    EXPECT_EQ(grid.point[1], 1u);
    EXPECT_EQ(grid.point[2], 2u);
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// Bandwidth of collectives relative to the rate of their bottleneck link: the numbers of
// doc/performance.md.
#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

class CollectiveBandwidth : public CollectiveTest {
protected:
    /// Checks for at least this share of `link`, the payload rate of that link in GB/s per
    /// direction.
    void expect_share(double share, double link, std::uint64_t bytes,
                      const std::vector<trn_coll_op>& ops,
                      trn_coll_algorithm algorithm = TRN_COLL_AUTO) {
        collective_group group(*this, all(), image());
        for (const auto op : ops) {
            SCOPED_TRACE(trn_coll_op_text(op));
            const auto how = group.run({.op = op, .algorithm = algorithm, .bytes = bytes});
            const auto ranks = static_cast<std::uint32_t>(group.ranks());
            const double bus = how.algorithm_gb_per_s() * trn_coll_bus_factor(op, ranks);
            EXPECT_GT(bus, share * link);
            EXPECT_LT(bus, link) << "no link carries that";
        }
    }
    /// Checks the rate of an all-to-all, half of whose traffic crosses the busiest link: in a row
    /// of four chips that is each direction between the racks.
    void expect_share_of_mesh(double share, double link) {
        collective_group group(*this, all(), image());
        for (const auto op : {TRN_COLL_ALL_TO_ALL, TRN_COLL_ALL_GATHER}) {
            const auto how = group.run({.op = op, .algorithm = TRN_COLL_MESH, .bytes = 16 * MiB});
            EXPECT_GT(how.algorithm_gb_per_s() / 2, share * link);
            EXPECT_LT(how.algorithm_gb_per_s() / 2, link) << "no link carries that";
        }
    }
};

TEST_F(CollectiveBandwidth, SledReachesTheSwitchBound) {
    boot("trn3-sled");
    expect_share(
        0.9, 222.0, 64 * MiB,
        {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER, TRN_COLL_ALL_TO_ALL});
    expect_share(0.85, 222.0, 64 * MiB, {TRN_COLL_BROADCAST});
}

TEST_F(CollectiveBandwidth, TorusRingsReachFourLinksOrTheHbmBound) {
    boot("trn2-48xl");
    expect_share(0.5, 4 * 114.8, 16 * MiB, {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER},
                 TRN_COLL_RING);
    expect_share(0.4, 4 * 114.8, 16 * MiB, {TRN_COLL_REDUCE_SCATTER}, TRN_COLL_RING);
    expect_share(0.65, 4 * 114.8, 64 * MiB, {TRN_COLL_ALL_GATHER}, TRN_COLL_RING);
}

/// HBM both stores received data and supplies sent data.
TEST_F(CollectiveBandwidth, TorusDoublingReachesHalfTheHbmRate) {
    boot("trn2-48xl");
    expect_share(0.8, 729.6 / 2, 64 * MiB, {TRN_COLL_ALL_GATHER}, TRN_COLL_DOUBLING);
}

TEST_F(CollectiveBandwidth, FourServerRingsReachFourLinksBetweenServers) {
    boot("trn2-ultraserver");
    expect_share(0.5, 4 * 57.3, 16 * MiB, {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER},
                 TRN_COLL_RING);
    expect_share(0.4, 4 * 57.3, 16 * MiB, {TRN_COLL_REDUCE_SCATTER}, TRN_COLL_RING);
}

TEST_F(CollectiveBandwidth, TorusMeshReachesTheBoundOfEquallyLoadedLinks) {
    boot("trn2-48xl");
    expect_share_of_mesh(0.8, 114.8);
}

/// Holds also for the first run, before direct memory pointers have been requested.
TEST_F(CollectiveBandwidth, SmallBlocksAreNotSlowerThanLargerOnes) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    const auto time_of = [&](std::uint64_t bytes) {
        return group.run({.op = TRN_COLL_ALL_TO_ALL, .algorithm = TRN_COLL_MESH, .bytes = bytes})
            .ns;
    };
    const auto tiny = time_of(16 * 28);
    EXPECT_LE(tiny, time_of(16 * KiB));
    EXPECT_NEAR(tiny, time_of(16 * 28), 0.05 * tiny);
}

TEST_F(CollectiveBandwidth, TwoRackMeshReachesTheInterRackLinks) {
    boot("trn3-gen1");
    expect_share_of_mesh(0.75, 110.9);
}

TEST_F(CollectiveBandwidth, Trainium1ServerRingsReachFourLinksOrTheHbmBound) {
    boot("trn1-32xl");
    expect_share(0.8, 4 * 42.94, 16 * MiB, {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER},
                 TRN_COLL_RING);
    expect_share(0.65, 4 * 42.94, 16 * MiB, {TRN_COLL_REDUCE_SCATTER}, TRN_COLL_RING);
}

TEST_F(CollectiveBandwidth, ChipRowRingsReachOneLinkPerDirection) {
    boot("inf2-48xl");
    expect_share(0.9, 2 * 42.94, 16 * MiB,
                 {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER},
                 TRN_COLL_RING);
}

/// The default uses several links of a chip at once: each channel starts with a different
/// dimension.
TEST_F(CollectiveBandwidth, TorusGridReachesTheLinksOfAllDimensions) {
    boot("trn2-48xl");
    expect_share(0.4, 4 * 114.8, 16 * MiB, {TRN_COLL_ALL_REDUCE});
    expect_share(0.5, 4 * 114.8, 16 * MiB, {TRN_COLL_ALL_GATHER});
    expect_share(0.32, 4 * 114.8, 16 * MiB, {TRN_COLL_REDUCE_SCATTER});
}

TEST_F(CollectiveBandwidth, FourServerGridReachesTheLinksWithinServers) {
    boot("trn2-ultraserver");
    expect_share(0.37, 4 * 114.8, 16 * MiB, {TRN_COLL_ALL_REDUCE});
    expect_share(0.42, 4 * 114.8, 16 * MiB, {TRN_COLL_ALL_GATHER});
}

TEST_F(CollectiveBandwidth, TwoRackGridExceedsTheInterRackLinks) {
    boot("trn3-gen1");
    expect_share(0.36, 222.0 + 277.5 + 110.9, 16 * MiB, {TRN_COLL_ALL_REDUCE});
    expect_share(0.4, 222.0 + 277.5 + 110.9, 16 * MiB, {TRN_COLL_ALL_GATHER});
}

}  // namespace
}  // namespace trn::test

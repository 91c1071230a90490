// SPDX-License-Identifier: Apache-2.0
// Concurrent collectives: several streams of a core, and groups without a common chip.
#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

class CollectivesTogether : public CollectiveTest {
protected:
    /// Checks that all results are correct, and that all runs overlapped in time.
    static std::vector<collective_result> expect_together(const std::vector<collective_job>& jobs) {
        const auto results = collective_group::run_together(jobs);
        std::uint64_t last_start = 0, first_end = ~std::uint64_t{0};
        for (const auto& each : results) {
            expect_right(each);
            last_start = std::max(last_start, each.started_ns);
            first_end = std::min(first_end, each.ended_ns);
        }
        EXPECT_LT(last_start, first_end) << "one had ended before another began";
        return results;
    }
};

TEST_F(CollectivesTogether, FourStreamsOfOneCoreRunConcurrently) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    expect_together({
        {group, {.op = TRN_COLL_ALL_GATHER, .bytes = 8 * MiB, .slot = 0, .check = true}},
        {group, {.op = TRN_COLL_ALL_REDUCE, .bytes = 8 * MiB, .slot = 1, .check = true}},
        {group, {.op = TRN_COLL_ALL_TO_ALL, .bytes = 8 * MiB, .slot = 2, .check = true}},
        {group,
         {.op = TRN_COLL_ALL_REDUCE,
          .algorithm = TRN_COLL_DOUBLING,
          .bytes = 8 * MiB,
          .slot = 3,
          .check = true}},
    });
}

TEST_F(CollectivesTogether, StreamsShareTheLinkBandwidth) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const collective_request alone{.op = TRN_COLL_ALL_GATHER, .bytes = 16 * MiB};
    auto other = alone;
    other.slot = 1;
    const auto by_itself = group.run(alone).ns;
    const auto both = expect_together({{group, alone}, {group, other}});
    EXPECT_GT(both[0].ns, 1.1 * by_itself);
    EXPECT_GT(both[1].ns, 1.1 * by_itself);
    const auto began = std::min(both[0].started_ns, both[1].started_ns);
    const auto ended = std::max(both[0].ended_ns, both[1].ended_ns);
    EXPECT_GT(static_cast<double>(ended - began), 1.4 * by_itself) << "twice the bytes";
}

TEST_F(CollectivesTogether, DisjointGroupsRunConcurrently) {
    boot("trn2-48xl");
    collective_group even(*this, {0, 2, 4, 6, 8, 10, 12}, image());
    collective_group odd(*this, {15, 1, 3, 5, 13}, image());
    for (const auto algorithm : {TRN_COLL_RING, TRN_COLL_DOUBLING, TRN_COLL_HALVING}) {
        const collective_request request{.op = TRN_COLL_ALL_REDUCE,
                                         .algorithm = algorithm,
                                         .bytes = 1 * MiB,
                                         .iterations = 2,
                                         .check = true};
        expect_together({{even, request}, {odd, request}});
    }
}

TEST_F(CollectivesTogether, ConflictingGroupsAreRefused) {
    boot("trn3-sled");
    collective_group all_of_it(*this, all(), image()), some(*this, {1, 2}, image());
    const auto refused = [&](std::uint32_t slot, std::uint64_t bytes) {
        const collective_request one{.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB};
        const collective_request other{.op = TRN_COLL_ALL_GATHER, .bytes = bytes, .slot = slot};
        const std::vector<collective_job> jobs{{all_of_it, one}, {some, other}};
        try {
            collective_group::run_together(jobs);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    EXPECT_TRUE(refused(0, 64 * KiB)) << "one slot";
    EXPECT_TRUE(refused(1, 1024 * MiB)) << "buffers too large for a slot";
    EXPECT_FALSE(refused(1, 64 * KiB));
}

}  // namespace
}  // namespace trn::test

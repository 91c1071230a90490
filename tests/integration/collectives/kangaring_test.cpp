// SPDX-License-Identifier: Apache-2.0
// KangaRing: a ring of pairs, whose primaries move and add up the bytes of both.
#include <fmt/format.h>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

class KangaRing : public CollectiveTest {
protected:
    static constexpr trn_coll_op ops[] = {TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER,
                                          TRN_COLL_ALL_REDUCE};

    static void expect_all_right(collective_group& group, collective_request what) {
        what.algorithm = TRN_COLL_KANGARING;
        what.check = true;
        for (const auto op : ops) {
            SCOPED_TRACE(fmt::format("{} of {} ranks, {} bytes", trn_coll_op_text(op),
                                     group.ranks(), what.bytes));
            what.op = op;
            expect_right(group.run(what));
        }
    }
};

TEST_F(KangaRing, IsRightForEveryEvenNumberOfRanks) {
    boot("trn2-48xl");
    for (const std::size_t ranks : {2, 4, 6, 10, 16}) {
        auto chips = all();
        chips.resize(ranks);
        collective_group group(*this, chips, image());
        expect_all_right(group, {.bytes = ranks * 2});
        expect_all_right(group, {.bytes = 50'000, .iterations = 3});
        expect_all_right(group, {.bytes = 4 * MiB});
    }
}

TEST_F(KangaRing, IsRightWithAnyLanesChannelsAndTypes) {
    boot("trn3-sled");
    collective_group group(*this, {3, 0, 2, 1}, image());
    for (const auto type :
         {TRN_BF16, TRN_FP32, TRN_FP16, TRN_INT8, TRN_UINT8, TRN_INT32, TRN_UINT32})
        for (const auto with : {TRN_COLL_SUM, TRN_COLL_MIN, TRN_COLL_MAX})
            expect_all_right(group, {.type = type, .with = with, .bytes = 10'000});
    for (const std::uint32_t lanes : {1, 2, 5, 8, 16})
        expect_all_right(group, {.bytes = 3 * MiB, .lanes = lanes, .iterations = 2});
    for (const std::uint32_t channels : {2, 3})
        expect_all_right(group, {.bytes = 3 * MiB, .channels = channels, .lanes = 3});
}

/// Half the steps of a ring. (Those of a reduce-scatter alone are longer: the partner's operand
/// comes over a link.)
TEST_F(KangaRing, BeatsARingOfSmallBlocks) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    for (const auto op : {TRN_COLL_ALL_GATHER, TRN_COLL_ALL_REDUCE}) {
        SCOPED_TRACE(trn_coll_op_text(op));
        const auto ns = [&](trn_coll_algorithm algorithm) {
            return group.run({.op = op, .algorithm = algorithm, .bytes = 4 * KiB}).ns;
        };
        EXPECT_LT(ns(TRN_COLL_KANGARING), 0.75 * ns(TRN_COLL_RING));
    }
}

TEST_F(KangaRing, NeedsPairs) {
    boot("trn3-sled");
    collective_group group(*this, {0, 1, 2}, image());
    const auto found = sentence(
        group, {.op = TRN_COLL_ALL_GATHER, .algorithm = TRN_COLL_KANGARING, .bytes = 6 * KiB});
    EXPECT_NE(found.find("kangaring needs pairs of ranks"), std::string::npos) << found;
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 6 * KiB, .check = true}));
}

}  // namespace
}  // namespace trn::test

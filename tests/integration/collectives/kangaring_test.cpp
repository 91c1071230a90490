// SPDX-License-Identifier: Apache-2.0
// KangaRing: a ring of pairs whose primaries move and reduce the data of both.
#include <fmt/format.h>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

class KangaRing : public CollectiveTest {
protected:
    static constexpr trn_coll_op ops[] = {TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER,
                                          TRN_COLL_ALL_REDUCE};

    static void expect_all_right(collective_group& group, collective_request request) {
        request.algorithm = TRN_COLL_KANGARING;
        request.check = true;
        for (const auto op : ops) {
            SCOPED_TRACE(fmt::format("{} of {} ranks, {} bytes", trn_coll_op_text(op),
                                     group.ranks(), request.bytes));
            request.op = op;
            expect_right(group.run(request));
        }
    }
};

TEST_F(KangaRing, IsCorrectForEveryEvenNumberOfRanks) {
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

TEST_F(KangaRing, IsCorrectWithAnyLanesChannelsAndTypes) {
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

/// KangaRing has half the steps of a ring. (A reduce-scatter's steps are longer: the partner's
/// operand arrives over a link.)
TEST_F(KangaRing, IsFasterThanARingForSmallBlocks) {
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

TEST_F(KangaRing, RequiresPairs) {
    boot("trn3-sled");
    collective_group group(*this, {0, 1, 2}, image());
    const auto found = sentence(
        group, {.op = TRN_COLL_ALL_GATHER, .algorithm = TRN_COLL_KANGARING, .bytes = 6 * KiB});
    EXPECT_NE(found.find("kangaring needs pairs of ranks"), std::string::npos) << found;
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 6 * KiB, .check = true}));
}

class KangaRingOverDomains : public KangaRing {
protected:
    static constexpr auto sleds = "tests/integration/collectives/three_sleds.yaml";
};

TEST_F(KangaRingOverDomains, IsCorrectForPairsInEachDomain) {
    boot(sleds);
    const std::vector<std::size_t> groups[] = {
        {0, 1, 4, 5},
        {3, 1, 2, 0, 5, 4, 7, 6},
        {1, 2, 6, 5, 11, 8},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
    };
    for (const auto& chips : groups) {
        collective_group group(*this, chips, image());
        EXPECT_EQ(group.domains(), chips.size() % 6 == 0 ? 3u : 2u);
        expect_all_right(group, {.bytes = chips.size() * 2});
        expect_all_right(group, {.bytes = 50'000, .iterations = 3});
        expect_all_right(group, {.bytes = 3 * MiB + 4242, .iterations = 2});
    }
}

TEST_F(KangaRingOverDomains, IsCorrectWithAnyLanesChannelsAndTypes) {
    boot(sleds);
    collective_group group(*this, {0, 1, 2, 3, 4, 5, 6, 7}, image());
    for (const auto type :
         {TRN_BF16, TRN_FP32, TRN_FP16, TRN_INT8, TRN_UINT8, TRN_INT32, TRN_UINT32})
        for (const auto with : {TRN_COLL_SUM, TRN_COLL_MIN, TRN_COLL_MAX})
            expect_all_right(group, {.type = type, .with = with, .bytes = 10'000});
    for (const std::uint32_t lanes : {1, 2, 5, 16})
        expect_all_right(group, {.bytes = 1 * MiB + 999, .lanes = lanes, .iterations = 2});
    for (const std::uint32_t channels : {2, 3, 4})
        expect_all_right(group, {.bytes = 1 * MiB, .channels = channels, .lanes = 3});
}

TEST_F(KangaRingOverDomains, ExchangesTheBlocksOfEachRing) {
    boot("tests/integration/collectives/two_servers.yaml");
    collective_group group(*this, all(), image());
    ASSERT_EQ(group.domains(), 2u);
    expect_all_right(group, {.bytes = 6 * MiB + 640});
}

TEST_F(KangaRingOverDomains, IsCorrectOverTwoUltraServersAndSubsetsOfTheirRanks) {
    boot("ultracluster-2");
    std::vector<std::size_t> some = {0, 1, 2, 3, 4, 5, 70, 71, 72, 143};
    for (std::size_t n = 0; n < 10; ++n) some.push_back(some[n] + 144);
    for (const auto& chips : {std::vector<std::size_t>{7, 9, 150, 201}, some, all()}) {
        collective_group group(*this, chips, image());
        ASSERT_EQ(group.domains(), 2u);
        expect_all_right(group, {.bytes = chips.size() * 66});
        if (chips.size() < 100) expect_all_right(group, {.bytes = 300'000});
    }
}

/// A single rank in a domain has no partner there.
TEST_F(KangaRingOverDomains, RequiresPairsInEachDomain) {
    boot(sleds);
    for (const auto& chips :
         {std::vector<std::size_t>{0, 4}, {2, 1, 0, 7, 5, 6}, {1, 2, 3, 4, 6, 5, 11, 8, 9}}) {
        collective_group group(*this, chips, image());
        for (const auto op : ops) {
            const auto found =
                sentence(group, {.op = op, .algorithm = TRN_COLL_KANGARING, .bytes = 18 * KiB});
            EXPECT_NE(found.find("kangaring needs pairs of ranks in each domain, which has"),
                      std::string::npos)
                << found;
        }
    }
}

class KangaRingHangs : public KangaRing {
protected:
    static constexpr std::uint64_t limit_ns = 1'000'000;

    /// Checks that each waiting rank names the rank it waits for, and that following the names
    /// leads to the failed rank. Returns the number of ranks that name it directly.
    static unsigned expect_all_lead_to(std::uint32_t guilty,
                                       const std::vector<rank_outcome>& ends) {
        unsigned named = 0;
        for (std::uint32_t rank = 0; rank < ends.size(); ++rank) {
            if (ends[rank].status == TRN_OK || rank == guilty) continue;
            EXPECT_EQ(ends[rank].failure.code, TRN_CC_CODE_STUCK) << ends[rank].sentence;
            named += ends[rank].failure.detail == guilty;
            std::string way = ends[rank].sentence;
            std::uint32_t at = rank;
            for (std::size_t n = 0; n < ends.size() && at != guilty; ++n) {
                at = ends.at(at).failure.detail;
                way += fmt::format(", rank {}", at);
            }
            EXPECT_EQ(at, guilty) << way;
        }
        return named;
    }
    static std::vector<collective_request> requests(std::size_t ranks) {
        std::vector<collective_request> all;
        for (const auto op : ops)  // one ring, and the maximum of a core
            for (const auto& [bytes, lanes] :
                 {std::pair{ranks * 8 * KiB, 2u}, {ranks * 128 * KiB, 8u}})
                all.push_back({.op = op,
                               .algorithm = TRN_COLL_KANGARING,
                               .bytes = bytes,
                               .channels = 1,
                               .lanes = lanes,
                               .limit_ns = limit_ns});
        return all;
    }
};

TEST_F(KangaRingHangs, MissingRankIsNamedByItsPartnerAndThePreviousPair) {
    boot("trn2-48xl");
    for (const std::size_t ranks : {2, 4, 10, 16}) {
        auto chips = all();
        chips.resize(ranks);
        collective_group group(*this, chips, image());
        std::uint32_t absent = 0;
        for (const auto& wanted : requests(ranks)) {
            absent = (absent + 3) % static_cast<std::uint32_t>(ranks);
            SCOPED_TRACE(fmt::format("{} of {} ranks without {}, {} bytes",
                                     trn_coll_op_text(wanted.op), ranks, absent, wanted.bytes));
            const auto ends = group.run_without(absent, wanted);
            const auto named = expect_all_lead_to(absent, ends);
            EXPECT_GE(named, ranks == 2 ? 1u : 3u);
            for (std::uint32_t rank = 0; rank < ranks; ++rank)
                EXPECT_EQ(ends[rank].status, rank == absent ? TRN_OK : TRN_ABORTED);
        }
        expect_all_right(group, {.bytes = 50'000});
    }
}

/// The core drops the program at the end of a step; its engines complete queued descriptors.
TEST_F(KangaRingHangs, RankThatStopsInItsFirstHalfIsNamed) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    for (const auto& wanted : requests(16)) {
        auto noting = wanted;
        noting.steps = true;
        const auto steps = group.run(noting).steps;
        for (const std::uint32_t guilty : {0, 5, 11}) {
            const auto& ends_ns = steps[guilty].ends_ns;
            ASSERT_GE(ends_ns.size(), 8u);
            // In the second half it may have queued all transfers that others wait for.
            for (std::size_t step = guilty % 2; step < ends_ns.size() / 2; step += 2) {
                SCOPED_TRACE(fmt::format("{}, {} bytes: rank {} stops at step {} of {}",
                                         trn_coll_op_text(wanted.op), wanted.bytes, guilty, step,
                                         ends_ns.size()));
                auto stopping = wanted;
                stopping.meanwhile = [&](std::uint32_t rank, device& on) {
                    if (rank != guilty) return;
                    on.check(trn_sleep(on, ends_ns[step]));
                    on.check(trn_cc_unload(on, 0, 0));
                };
                const auto ends = group.run_without({}, stopping);
                EXPECT_EQ(ends[guilty].status, TRN_TIMED_OUT) << ends[guilty].sentence;
                EXPECT_GE(expect_all_lead_to(guilty, ends), 1u);
            }
        }
    }
    expect_all_right(group, {.bytes = 50'000});
}

/// In another domain only the rank at the same position waits for it.
TEST_F(KangaRingHangs, MissingRankIsNamedInBothDomains) {
    boot("tests/integration/collectives/three_sleds.yaml");
    collective_group group(*this, {0, 1, 2, 3, 4, 5, 6, 7}, image());
    for (const auto op : ops)
        for (const std::uint32_t absent : {1, 6}) {
            SCOPED_TRACE(fmt::format("{} without {}", trn_coll_op_text(op), absent));
            const auto ends = group.run_without(absent, {.op = op,
                                                         .algorithm = TRN_COLL_KANGARING,
                                                         .bytes = 64 * KiB,
                                                         .limit_ns = limit_ns});
            EXPECT_GE(expect_all_lead_to(absent, ends), 3u);
        }
    expect_all_right(group, {.bytes = 50'000});
}

}  // namespace
}  // namespace trn::test

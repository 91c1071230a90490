// SPDX-License-Identifier: Apache-2.0
// Collectives over chips connected by EFA: inside a domain over links, between domains over cards;
// compared bit for bit.
#include <fmt/format.h>

#include <vector>

#include "models/cards/efa/card/efa_card.h"
#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

struct way {
    trn_coll_op op;
    trn_coll_algorithm algorithm;
};
constexpr way every_way[] = {
    {TRN_COLL_ALL_REDUCE, TRN_COLL_RING},     {TRN_COLL_ALL_REDUCE, TRN_COLL_DOUBLING},
    {TRN_COLL_ALL_REDUCE, TRN_COLL_HALVING},  {TRN_COLL_ALL_GATHER, TRN_COLL_RING},
    {TRN_COLL_ALL_GATHER, TRN_COLL_MESH},     {TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING},
    {TRN_COLL_REDUCE_SCATTER, TRN_COLL_RING}, {TRN_COLL_REDUCE_SCATTER, TRN_COLL_HALVING},
    {TRN_COLL_ALL_TO_ALL, TRN_COLL_MESH},     {TRN_COLL_PERMUTE, TRN_COLL_RING},
    {TRN_COLL_BROADCAST, TRN_COLL_RING},      {TRN_COLL_BARRIER, TRN_COLL_DOUBLING},
};

const std::vector<std::size_t> some_groups[] = {
    {0, 4},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {2, 1, 0, 7, 5, 6},
    {1, 2, 3, 4, 6, 5, 11, 8, 9},
};

class CollectivesOverDomains : public CollectiveTest {
protected:
    static constexpr auto board = "tests/integration/collectives/three_sleds.yaml";

    static void expect_all_right(collective_group& group, collective_request request) {
        for (const auto& each : every_way) {
            request.op = each.op;
            request.algorithm = each.algorithm;
            request.check = true;
            SCOPED_TRACE(fmt::format("{} {} of {} ranks in {} domains, {} bytes",
                                     trn_coll_op_text(each.op),
                                     trn_coll_algorithm_text(each.algorithm), group.ranks(),
                                     group.domains(), request.bytes));
            expect_right(group.run(request));
        }
    }
    std::uint64_t sent_by_cards() const {
        std::uint64_t sum = 0;
        platform_->modules().for_each<efa_card>(
            [&](const efa_card& card) { sum += card.objects().counters.rdma_write.bytes; });
        return sum;
    }
};

TEST_F(CollectivesOverDomains, AreCorrectForAnyNumberOfRanksAndDomains) {
    boot(board);
    for (const auto& chips : some_groups) {
        collective_group group(*this, chips, image());
        EXPECT_EQ(group.domains(), chips.size() == 9 ? 3u : 2u);
        expect_all_right(group, {.bytes = 2 * chips.size()});
        expect_all_right(group, {.bytes = 50'000,
                                 .root = static_cast<std::uint32_t>(chips.size() - 1),
                                 .iterations = 3});
    }
}

TEST_F(CollectivesOverDomains, AreCorrectWithSeveralLanesAndChannelsAndEveryType) {
    boot(board);
    collective_group group(*this, {0, 1, 2, 4, 5, 6}, image());
    EXPECT_EQ(group.domains(), 2u);
    for (const auto type :
         {TRN_BF16, TRN_FP32, TRN_FP16, TRN_INT8, TRN_UINT8, TRN_INT32, TRN_UINT32})
        for (const auto with : {TRN_COLL_SUM, TRN_COLL_MIN, TRN_COLL_MAX})
            expect_right(group.run({.op = TRN_COLL_ALL_REDUCE,
                                    .type = type,
                                    .with = with,
                                    .bytes = 10'000,
                                    .check = true}));
    expect_all_right(group, {.bytes = 6 * MiB, .root = 4, .iterations = 2});
    expect_all_right(group, {.bytes = 100'000, .lanes = 5});
    for (const auto& each :
         {way{TRN_COLL_ALL_REDUCE, TRN_COLL_RING}, way{TRN_COLL_ALL_GATHER, TRN_COLL_RING},
          way{TRN_COLL_REDUCE_SCATTER, TRN_COLL_RING}, way{TRN_COLL_PERMUTE, TRN_COLL_RING},
          way{TRN_COLL_BROADCAST, TRN_COLL_RING}, way{TRN_COLL_ALL_REDUCE, TRN_COLL_DOUBLING},
          way{TRN_COLL_ALL_REDUCE, TRN_COLL_HALVING}, way{TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING},
          way{TRN_COLL_REDUCE_SCATTER, TRN_COLL_HALVING}, way{TRN_COLL_ALL_GATHER, TRN_COLL_MESH},
          way{TRN_COLL_ALL_TO_ALL, TRN_COLL_MESH}})
        expect_right(group.run({.op = each.op,
                                .algorithm = each.algorithm,
                                .bytes = 300'000,
                                .channels = 3,
                                .check = true}));
    for (const std::uint32_t channels : {2, 4})
        for (const std::uint32_t lanes : {1, 4, 7})
            expect_right(group.run({.op = TRN_COLL_ALL_TO_ALL,
                                    .bytes = 100'000,
                                    .channels = channels,
                                    .lanes = lanes,
                                    .iterations = 3,
                                    .check = true}));
}

/// Blocks of many sizes, some of them empty; one domain has no data.
TEST_F(CollectivesOverDomains, BlocksOfAnySizeAreCorrect) {
    boot(board);
    for (const auto& chips : some_groups) {
        collective_group group(*this, chips, image());
        const auto ranks = chips.size();
        std::vector<std::uint64_t> row, table, lonely(ranks, 0);
        for (std::size_t n = 0; n < ranks; ++n) row.push_back(n * n * 7919 % 5003);
        for (std::size_t n = 0; n < ranks * ranks; ++n) table.push_back(n * n * 7919 % 3001);
        lonely.back() = 20'000;
        for (const auto& each : {row, lonely})
            for (const auto& way : {way{TRN_COLL_ALL_GATHER_V, TRN_COLL_RING},
                                    way{TRN_COLL_ALL_GATHER_V, TRN_COLL_MESH},
                                    way{TRN_COLL_REDUCE_SCATTER_V, TRN_COLL_RING},
                                    way{TRN_COLL_ALL_TO_ALL_V, TRN_COLL_MESH}}) {
                SCOPED_TRACE(fmt::format("{} {} of {} ranks", trn_coll_op_text(way.op),
                                         trn_coll_algorithm_text(way.algorithm), ranks));
                expect_right(group.run({.op = way.op,
                                        .algorithm = way.algorithm,
                                        .counts = each,
                                        .iterations = 2,
                                        .check = true}));
            }
        expect_right(group.run(
            {.op = TRN_COLL_ALL_TO_ALL_V, .counts = table, .iterations = 2, .check = true}));
    }
}

TEST_F(CollectivesOverDomains, BlocksOfAnySizeUseSeveralLanesAndChannels) {
    boot(board);
    collective_group group(*this, {0, 1, 2, 4, 5, 6}, image());
    const std::vector<std::uint64_t> row = {300'000, 0, 7, 900'001, 65'536, 1};
    for (const auto op : {TRN_COLL_ALL_GATHER_V, TRN_COLL_REDUCE_SCATTER_V, TRN_COLL_ALL_TO_ALL_V})
        for (const auto type : {TRN_UINT8, TRN_FP32}) {
            SCOPED_TRACE(trn_coll_op_text(op));
            expect_right(group.run(
                {.op = op, .type = type, .counts = row, .channels = 3, .lanes = 5, .check = true}));
            expect_right(group.run({.op = op, .type = type, .counts = row, .check = true}));
        }
}

TEST_F(CollectivesOverDomains, CardsSendEachBlockOncePerDomain) {
    boot(board);
    collective_group group(*this, {0, 1, 4, 5, 8, 9}, image());
    const auto sent = [&](trn_coll_op op, const std::vector<std::uint64_t>& counts) {
        const auto before = sent_by_cards();
        expect_right(group.run({.op = op, .type = TRN_UINT8, .counts = counts, .check = true}));
        return sent_by_cards() - before;
    };
    const std::vector<std::uint64_t> row = {1000, 0, 20'000, 300, 4, 50};
    constexpr std::uint64_t all = 21'354;
    EXPECT_EQ(sent(TRN_COLL_ALL_GATHER_V, row), 2 * all);
    EXPECT_EQ(sent(TRN_COLL_REDUCE_SCATTER_V, row), 2 * all);
    // Four of six ranks are in other domains than the receiver.
    EXPECT_EQ(sent(TRN_COLL_ALL_TO_ALL_V, row), 4 * all);
}

TEST_F(CollectivesOverDomains, CompleteWhenTheNetworkLosesPackets) {
    boot(board);
    collective_group group(*this, {0, 1, 4, 5}, image());
    platform_->methods().call(
        "inject", {{"module", "ethernet"}, {"fault", "loss"}, {"arguments", {{"ppm", "50000"}}}});
    expect_all_right(group, {.bytes = 1 * MiB, .iterations = 3});
    std::uint64_t again = 0;
    platform_->modules().for_each<efa_card>(
        [&](const efa_card& card) { again += card.sender().counters().retransmits; });
    EXPECT_GT(again, 0u);
}

/// A channel forwards only the blocks received by its own card and ends after them: other channels'
/// blocks may arrive much later.
TEST_F(CollectivesOverDomains, AllGatherChannelsForwardReceivedBlocks) {
    boot(board);
    collective_group group(*this, {0, 1, 2, 4, 5, 6}, image());
    platform_->methods().call(
        "inject", {{"module", "ethernet"}, {"fault", "loss"}, {"arguments", {{"ppm", "200000"}}}});
    for (const std::uint64_t bytes : {6 * 320, 6 * 1024, 6 * 5000, 6 * 50'000})
        for (const std::uint32_t channels : {2, 3})
            for (const std::uint32_t lanes : {2, 3})
                expect_right(group.run({.op = TRN_COLL_ALL_GATHER,
                                        .algorithm = TRN_COLL_MESH,
                                        .bytes = bytes,
                                        .channels = channels,
                                        .lanes = lanes,
                                        .check = true}));
}

TEST_F(CollectivesOverDomains, CardsCarryOnlyTrafficBetweenDomains) {
    boot(board);
    collective_group group(*this, {0, 1, 2, 3, 4, 5, 6, 7}, image());
    const auto sent = [&](trn_coll_op op) {
        const auto before = sent_by_cards();
        expect_right(group.run({.op = op, .bytes = 8 * MiB, .check = true}));
        return sent_by_cards() - before;
    };
    // Each rank has an eighth of the buffer, and a quarter of its domain's sum.
    EXPECT_EQ(sent(TRN_COLL_ALL_GATHER), 8 * MiB);
    EXPECT_EQ(sent(TRN_COLL_REDUCE_SCATTER), 8 * MiB);
    EXPECT_EQ(sent(TRN_COLL_ALL_REDUCE), 8 * 2 * MiB);
    EXPECT_EQ(sent(TRN_COLL_ALL_TO_ALL), 8 * 4 * MiB);
    EXPECT_EQ(sent(TRN_COLL_BROADCAST), 8 * MiB);
    EXPECT_EQ(sent(TRN_COLL_PERMUTE), 2 * 8 * MiB) << "the ring goes there and back";
}

/// A card of 400 Gb/s for two chips: 25 GB/s for each, minus headers.
TEST_F(CollectivesOverDomains, TwoRankAllGatherReachesTheCardRate) {
    boot(board);
    collective_group group(*this, {0, 4}, image());
    const auto done = group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * MiB});
    const double one_way = 32 * static_cast<double>(MiB) / done.ns;  // GB/s
    EXPECT_LT(one_way, 50.0 * 8192 / 8282);
    EXPECT_GT(one_way, 0.88 * 50.0 * 8192 / 8282)
        << "31 us for word that one is ready, and the way";
}

TEST_F(CollectivesOverDomains, RunsConcurrentlyWithAnother) {
    boot(board);
    collective_group across(*this, {0, 1, 4, 5}, image()), others(*this, {0, 2, 4, 6}, image());
    const std::vector<collective_job> jobs{
        {across, {.op = TRN_COLL_ALL_REDUCE, .bytes = 1 * MiB, .iterations = 2, .check = true}},
        {others,
         {.op = TRN_COLL_ALL_GATHER, .bytes = 1 * MiB, .slot = 1, .iterations = 2, .check = true}}};
    for (const auto& each : collective_group::run_together(jobs)) expect_right(each);
}

TEST_F(CollectivesOverDomains, MissingRankIsNamedAndTheGroupCanBeReused) {
    boot(board);
    collective_group group(*this, {0, 1, 4, 5}, image());
    for (const auto op : {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_BARRIER}) {
        SCOPED_TRACE(trn_coll_op_text(op));
        const auto ends =
            group.run_without(2, {.op = op, .bytes = 64 * KiB, .limit_ns = 2'000'000});
        unsigned named = 0;
        for (const auto rank : {0, 1, 3}) {
            EXPECT_EQ(ends[rank].status, TRN_ABORTED) << rank;
            named += ends[rank].sentence.find("waits for rank 2") != std::string::npos;
        }
        EXPECT_GE(named, 1u) << ends[0].sentence;
        expect_right(group.run({.op = op, .bytes = 64 * KiB, .check = true}));
    }
}

TEST_F(CollectivesOverDomains, EveryAllToAllChannelNamesTheMissingRank) {
    boot(board);
    collective_group group(*this, {0, 4}, image());
    for (const std::uint32_t channels : {1, 4}) {
        const auto ends = group.run_without(1, {.op = TRN_COLL_ALL_TO_ALL,
                                                .bytes = 64 * KiB,
                                                .channels = channels,
                                                .limit_ns = 2'000'000});
        EXPECT_EQ(ends[0].status, TRN_ABORTED);
        EXPECT_EQ(ends[0].failure.detail, 1u) << ends[0].sentence;
    }
}

TEST_F(CollectivesOverDomains, PulledCardIsReportedAndTheGroupCanBeReused) {
    boot(board);
    collective_group group(*this, {0, 1, 4, 5}, image());
    const auto hub = [this](const char* fault) {
        platform_->methods().call(
            "inject", {{"module", "sled1.hub"}, {"fault", fault}, {"arguments", {{"port", "4"}}}});
    };
    EXPECT_NE(sentence(group, {.op = TRN_COLL_ALL_GATHER,
                               .bytes = 64 * MiB,
                               .limit_ns = 3'000'000,
                               .meanwhile =
                                   [&](std::uint32_t rank, device& on) {
                                       if (rank != 0) return;
                                       on.check(trn_sleep(on, 100'000));
                                       hub("card_removed");
                                   }})
                  .find("waits for rank"),
              std::string::npos);
    EXPECT_NE(sentence(group, {.op = TRN_COLL_ALL_GATHER, .bytes = KiB}), "it ran");
    hub("card_inserted");
    run_each({0}, [](std::size_t, device& on) { on.check(trn_sleep(on, 1'000'000)); });
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
}

TEST_F(CollectivesOverDomains, InvalidRequestsAreRefusedWithAMessage) {
    boot(board);
    const auto no_group = [&](const std::vector<std::size_t>& chips) {
        try {
            collective_group(*this, chips, image());
        } catch (const device_error& wrong) {
            EXPECT_EQ(wrong.status, TRN_NOT_SUPPORTED);
            return std::string(wrong.what());
        }
        return std::string("it was made");
    };
    EXPECT_NE(no_group({0, 1, 4}).find("as many ranks as the others"), std::string::npos);
    EXPECT_NE(no_group({0, 4, 1, 5}).find("rank 1 is the first"), std::string::npos);
    collective_group group(*this, {0, 1, 4, 5}, image());
    EXPECT_NE(sentence(group, {.op = TRN_COLL_ALL_TO_ALL, .bytes = KiB, .channels = 5})
                  .find("5 channels of 0 lanes: there can be 4 of 16 lanes each"),
              std::string::npos);
    EXPECT_NE(sentence(group, {.op = TRN_COLL_ALL_GATHER_V, .counts = {1, 2, 3}})
                  .find("takes 4 counts, not 3"),
              std::string::npos);
    expect_right(group.run({.op = TRN_COLL_ALL_REDUCE, .bytes = KiB, .check = true}));
}

/// With one channel the engines would be busy long after the cards.
TEST_F(CollectivesOverDomains, SeveralAllToAllChannelsAreFasterThanOne) {
    boot("tests/integration/collectives/two_servers.yaml");
    collective_group group(*this, all(), image());
    const auto ns = [&](std::uint32_t channels) {
        return group.run({.op = TRN_COLL_ALL_TO_ALL, .bytes = 8 * MiB, .channels = channels}).ns;
    };
    EXPECT_LT(ns(4), ns(1));
}

/// The default splits a block that one engine would move inside a domain over more engines.
TEST_F(CollectivesOverDomains, DefaultChannelsAreFasterThanOneEngine) {
    boot("tests/integration/collectives/two_servers.yaml");
    collective_group group(*this, all(), image());
    for (const auto& each :
         {way{TRN_COLL_ALL_REDUCE, TRN_COLL_RING}, way{TRN_COLL_ALL_GATHER, TRN_COLL_MESH}}) {
        const auto ns = [&](std::uint32_t channels, std::uint32_t lanes) {
            return group
                .run({.op = each.op,
                      .algorithm = each.algorithm,
                      .bytes = 512 * KiB,
                      .channels = channels,
                      .lanes = lanes})
                .ns;
        };
        EXPECT_LT(ns(0, 0), 0.95 * ns(1, 1));
    }
}

/// 288 chips of two UltraServers.
TEST_F(CollectivesOverDomains, TwoUltraServersComputeOneSum) {
    boot("ultracluster-2");
    collective_group group(*this, all(), image());
    EXPECT_EQ(group.domains(), 2u);
    expect_right(group.run({.op = TRN_COLL_BARRIER}));
    expect_right(group.run({.op = TRN_COLL_ALL_REDUCE, .bytes = 288 * 16, .check = true}));
}

TEST_F(CollectivesOverDomains, SubsetsOfTwoUltraServersExchangeBlocksOfAnySize) {
    boot("ultracluster-2");
    collective_group group(*this, {0, 1, 144, 145}, image());
    EXPECT_EQ(group.domains(), 2u);
    const std::vector<std::uint64_t> row = {5, 0, 70'000, 301};
    for (const auto op : {TRN_COLL_ALL_GATHER_V, TRN_COLL_REDUCE_SCATTER_V, TRN_COLL_ALL_TO_ALL_V})
        expect_right(group.run({.op = op, .counts = row, .check = true}));
    const std::vector<std::uint64_t> table = {0, 1, 2, 3, 90'000, 0, 0, 7, 0, 0, 0, 0, 5, 1, 1, 40};
    expect_right(group.run({.op = TRN_COLL_ALL_TO_ALL_V, .counts = table, .check = true}));
    // 17 ranks per domain: one of them is a twin, whose sums cross the first one's.
    std::vector<std::size_t> chips(34);
    for (std::size_t n = 0; n < 34; ++n) chips[n] = n < 17 ? n : n + 127;
    collective_group twins(*this, chips, image());
    for (const auto& each :
         {way{TRN_COLL_ALL_REDUCE, TRN_COLL_DOUBLING}, way{TRN_COLL_ALL_REDUCE, TRN_COLL_HALVING},
          way{TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING},
          way{TRN_COLL_REDUCE_SCATTER, TRN_COLL_HALVING}})
        for (const std::uint32_t channels : {1, 3})
            expect_right(twins.run({.op = each.op,
                                    .algorithm = each.algorithm,
                                    .bytes = 200'000,
                                    .channels = channels,
                                    .check = true}));
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// Collectives over the four chips of a sled: results, refusals and recovery from faults.
#include <algorithm>
#include <functional>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

class SledCollectives : public CollectiveTest {
protected:
    void SetUp() override { boot("trn3-sled"); }
};

TEST_F(SledCollectives, MoveBytesToTheirDestinations) {
    collective_group group(*this, all(), image());
    for (const auto op :
         {TRN_COLL_ALL_GATHER, TRN_COLL_ALL_TO_ALL, TRN_COLL_PERMUTE, TRN_COLL_BROADCAST})
        for (const std::uint64_t bytes : {std::uint64_t{8}, 4000 * KiB / 999, 64 * KiB, 3 * MiB}) {
            SCOPED_TRACE(trn_coll_op_text(op) + std::to_string(bytes));
            expect_right(group.run({.op = op, .bytes = bytes, .check = true}));
        }
}

TEST_F(SledCollectives, GatherWithEveryAlgorithm) {
    collective_group group(*this, all(), image());
    for (const auto algorithm : {TRN_COLL_RING, TRN_COLL_MESH})
        expect_right(group.run({.op = TRN_COLL_ALL_GATHER,
                                .algorithm = algorithm,
                                .bytes = 256 * KiB,
                                .iterations = 3,
                                .check = true}));
}

TEST_F(SledCollectives, RunOnSubsetsOfChipsInAnyOrder) {
    collective_group group(*this, {3, 0, 2}, image());
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 100'002, .check = true}));
    expect_right(group.run({.op = TRN_COLL_BROADCAST, .bytes = 70'000, .root = 2, .check = true}));
}

TEST_F(SledCollectives, RecordStepEndTimesOfEachRank) {
    collective_group group(*this, all(), image());
    const struct {
        trn_coll_op op;
        trn_coll_algorithm algorithm;
        std::size_t steps;
    } ways[] = {
        {TRN_COLL_ALL_GATHER, TRN_COLL_RING, 3},     {TRN_COLL_ALL_GATHER, TRN_COLL_MESH, 3},
        {TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING, 1}, {TRN_COLL_ALL_REDUCE, TRN_COLL_RING, 6},
        {TRN_COLL_ALL_REDUCE, TRN_COLL_DOUBLING, 1}, {TRN_COLL_ALL_REDUCE, TRN_COLL_HALVING, 2},
        {TRN_COLL_REDUCE_SCATTER, TRN_COLL_RING, 3}, {TRN_COLL_ALL_GATHER, TRN_COLL_KANGARING, 2},
        {TRN_COLL_BARRIER, TRN_COLL_DOUBLING, 2}};
    for (const auto& way : ways)
        for (const std::uint64_t bytes : {8 * KiB, 4 * MiB}) {
            SCOPED_TRACE(std::string(trn_coll_op_text(way.op)) + " " +
                         trn_coll_algorithm_text(way.algorithm) + std::to_string(bytes));
            const auto how = group.run({.op = way.op,
                                        .algorithm = way.algorithm,
                                        .bytes = bytes,
                                        .iterations = 2,
                                        .check = true,
                                        .steps = true});
            expect_right(how);
            ASSERT_EQ(how.steps.size(), 4u);
            std::uint64_t last = 0;
            for (const auto& rank : how.steps) {
                ASSERT_EQ(rank.ends_ns.size(), way.steps);
                EXPECT_TRUE(std::ranges::is_sorted(rank.ends_ns, std::ranges::less_equal{}));
                EXPECT_GT(rank.ends_ns.front(), rank.begin_ns);
                EXPECT_LE(rank.ends_ns.back(), rank.end_ns);
                last = std::max(last, rank.end_ns);
            }
            EXPECT_GE(last, how.ended_ns - how.started_ns) << "from the first start, not the last";
        }
    EXPECT_TRUE(group.run({.op = TRN_COLL_BARRIER}).steps.empty());
}

TEST_F(SledCollectives, MarksRequireASlotWithAProgram) {
    collective_group group(*this, all(), image());
    run_each({0}, [](std::size_t, device& on) {
        std::uint32_t count = 0, times[2];
        EXPECT_EQ(trn_cc_marks(on, 16, 0, times, 2, &count), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(trn_cc_marks(on, 0, TRN_CC_SLOTS, times, 2, &count), TRN_INVALID_ARGUMENT);
        const std::vector<std::uint32_t> nonsense(400, 0xffffffff);
        EXPECT_EQ(trn_cc_program(on, 0, 1, nonsense.data(), 1600), TRN_REFUSED);
        EXPECT_EQ(trn_cc_marks(on, 0, 1, times, 2, &count), TRN_PROTOCOL_ERROR);
    });
}

TEST_F(SledCollectives, BarrierHoldsAllRanksUntilTheLastArrives) {
    collective_group group(*this, all(), image());
    const auto result = group.run({.op = TRN_COLL_BARRIER});
    EXPECT_GT(result.ns, 0);
    EXPECT_LT(result.ns, 10'000);
}

TEST_F(SledCollectives, WaitingCoresScheduleNoEvents) {
    collective_group group(*this, all(), image());
    run_each(all(), [](std::size_t, device& on) {
        trn_cc_statistics before{}, after{};
        on.check(trn_cc_get_statistics(on, 15, &before));
        on.check(trn_sleep(on, 1'000'000));
        on.check(trn_cc_get_statistics(on, 15, &after));
        EXPECT_EQ(before.wakeups, after.wakeups);
    });
}

TEST_F(SledCollectives, DamagedImageIsRefusedAndTheCoresContinue) {
    collective_group group(*this, all(), image());
    run_each({1}, [](std::size_t, device& on) {
        const auto good = image();
        for (const std::size_t at : {std::size_t{0}, std::size_t{20}, good.size() - 1}) {
            auto bad = good;
            bad[at] ^= 0x10;
            EXPECT_EQ(trn_cc_load(on, 1, bad.data(), bad.size()), TRN_REFUSED) << at;
        }
        EXPECT_NE(std::string(trn_last_error(on)).find("payload is damaged"), std::string::npos)
            << trn_last_error(on);
        EXPECT_EQ(trn_cc_load(on, 1, good.data(), good.size() - 8), TRN_REFUSED);
        EXPECT_EQ(trn_cc_load(on, 1u << 16, good.data(), good.size()), TRN_INVALID_ARGUMENT);
    });
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
}

TEST_F(SledCollectives, WorkAfterAFirmwareReload) {
    collective_group group(*this, all(), image());
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
    run_each(all(), [](std::size_t, device& on) {
        const auto good = image();
        on.check(trn_cc_load(on, 0xffff, good.data(), good.size()));
    });
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
}

TEST_F(SledCollectives, MissingRankIsNamedAndTheGroupCanBeReused) {
    collective_group group(*this, all(), image());
    for (const auto op : {TRN_COLL_ALL_GATHER, TRN_COLL_ALL_TO_ALL, TRN_COLL_BARRIER}) {
        SCOPED_TRACE(trn_coll_op_text(op));
        const auto failures =
            group.run_without(2, {.op = op, .bytes = 64 * KiB, .limit_ns = 2'000'000});
        ASSERT_EQ(failures.size(), 4u);
        EXPECT_EQ(failures[2].status, TRN_OK) << "it was never started";
        unsigned named = 0;
        for (const auto rank : {0, 1, 3}) {
            EXPECT_EQ(failures[rank].status, TRN_ABORTED) << rank;
            EXPECT_NE(failures[rank].sentence.find("step"), std::string::npos);
            EXPECT_NE(failures[rank].sentence.find(": 1200 collectives stuck"), std::string::npos)
                << failures[rank].sentence;
            EXPECT_EQ(failures[rank].failure.code, TRN_CC_CODE_STUCK);
            EXPECT_NE(failures[rank].sentence.find("waits for rank " +
                                                   std::to_string(failures[rank].failure.detail)),
                      std::string::npos)
                << failures[rank].sentence;
            EXPECT_GT(failures[rank].failure.time, 2'000'000u);
            named += failures[rank].sentence.find("waits for rank 2") != std::string::npos;
        }
        EXPECT_GE(named, 1u) << failures[0].sentence << failures[1].sentence
                             << failures[3].sentence;
        expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
    }
}

TEST_F(SledCollectives, LinkFailureIsReportedAndTheGroupCanBeReused) {
    collective_group group(*this, all(), image());
    EXPECT_THROW(group.run({.op = TRN_COLL_ALL_GATHER,
                            .bytes = 64 * MiB,
                            .limit_ns = 2'000'000,
                            .meanwhile =
                                [this](std::uint32_t rank, device& on) {
                                    if (rank != 1) return;
                                    on.check(trn_sleep(on, 50'000));
                                    inject("wire1", "link_down");
                                }}),
                 device_error);
    inject("wire1", "link_up");
    run_each(all(), [](std::size_t, device& on) {
        on.check(trn_sleep(on, 20'000'000));
        on.check(trn_reset_device(on));
    });
    collective_group again(*this, all(), image());
    expect_right(again.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
}

TEST_F(SledCollectives, StoppedDmaQueueIsNotifiedAsAnAbort) {
    collective_group group(*this, all(), image());
    try {
        group.run({.op = TRN_COLL_ALL_GATHER,
                   .algorithm = TRN_COLL_RING,
                   .bytes = 64 * MiB,
                   .limit_ns = 2'000'000,
                   .meanwhile = [this](std::uint32_t rank, device& on) {
                       on.check(trn_sleep(on, 50'000));
                       platform_->methods().call(
                           "inject", {{"module", "chip" + std::to_string(rank) + ".udma0"},
                                      {"fault", "dma_abort"},
                                      {"arguments", {{"engine", "0"}, {"queue", "4"}}}});
                   }});
        ADD_FAILURE() << "it cannot end";
    } catch (const device_error& wrong) {
        EXPECT_EQ(wrong.status, TRN_ABORTED);
        EXPECT_NE(std::string(wrong.what()).find("a DMA queue has stopped: 1203 DMA abort"),
                  std::string::npos)
            << wrong.what();
    }
    collective_group again(*this, all(), image());
    expect_right(again.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
}

TEST_F(SledCollectives, ChipResetIsReportedAndTheGroupCanBeReused) {
    {
        collective_group group(*this, all(), image());
        try {
            group.run({.op = TRN_COLL_ALL_GATHER,
                       .bytes = 64 * MiB,
                       .limit_ns = 2'000'000,
                       .meanwhile = [](std::uint32_t rank, device& on) {
                           if (rank != 3) return;
                           on.check(trn_sleep(on, 50'000));
                           on.check(trn_reset_device(on));
                       }});
            ADD_FAILURE() << "it cannot end";
        } catch (const device_error& wrong) {
            EXPECT_NE(wrong.status, TRN_OK) << wrong.what();
        }
    }
    collective_group again(*this, all(), image());
    expect_right(again.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
}

TEST_F(SledCollectives, BroadcastAndPermuteAcceptAnyByteCount) {
    collective_group group(*this, all(), image());
    for (const auto op : {TRN_COLL_BROADCAST, TRN_COLL_PERMUTE})
        for (const std::uint64_t bytes : {1, 3, 65, 10'001, 131'073}) {
            const auto done =
                group.run({.op = op, .type = TRN_INT8, .bytes = bytes, .check = true});
            expect_right(done);
            EXPECT_EQ(done.bytes, bytes);
        }
}

TEST_F(SledCollectives, InvalidRequestsAreRefusedWithAMessage) {
    collective_group group(*this, all(), image());
    const auto refused = [&](const collective_request& request) {
        try {
            group.run(request);
        } catch (const device_error& wrong) {
            return wrong.status == TRN_INVALID_ARGUMENT && std::string(wrong.what()).size() > 10;
        }
        return false;
    };
    EXPECT_TRUE(refused({.op = TRN_COLL_ALL_GATHER, .type = TRN_FP32, .bytes = 3}));
    EXPECT_TRUE(refused({.op = TRN_COLL_ALL_GATHER, .bytes = 64, .pairs = {{{0, 1}}}}));
    EXPECT_TRUE(refused({.op = TRN_COLL_PERMUTE, .bytes = 64, .pairs = {{{0, 1}, {0, 2}}}}));
    EXPECT_TRUE(refused({.op = TRN_COLL_PERMUTE, .bytes = 64, .pairs = {{{0, 1}, {2, 1}}}}));
    EXPECT_TRUE(refused({.op = TRN_COLL_PERMUTE, .bytes = 64, .pairs = {{{0, 4}}}}));
    EXPECT_TRUE(refused({.op = TRN_COLL_ALL_REDUCE,
                         .bytes = 64,
                         .in_place = true,
                         .places = {.send = {location::kind::sbuf}}}));
    EXPECT_TRUE(refused({.op = TRN_COLL_PERMUTE, .bytes = 1}));
    EXPECT_TRUE(refused({.op = TRN_COLL_BROADCAST, .bytes = 64, .root = 4}));
    EXPECT_TRUE(
        refused({.op = TRN_COLL_BROADCAST, .type = static_cast<trn_element>(7), .bytes = 64}));
    EXPECT_TRUE(refused({.op = TRN_COLL_BROADCAST, .bytes = 64, .lanes = 17}));
    EXPECT_THROW(collective_group(*this, {0}, image()).run({.op = TRN_COLL_BARRIER}), device_error);
}

TEST_F(SledCollectives, FirmwareRefusalsAreNotifiedToTheErrorRing) {
    collective_group group(*this, all(), image());
    run_each({0}, [](std::size_t, device& on) {
        const std::vector<std::uint32_t> nonsense(400, 0x12345678);
        const auto refuse = [&](std::uint32_t slot, int times) {
            for (int n = 0; n < times; ++n)
                EXPECT_EQ(trn_cc_program(on, 0, slot, nonsense.data(), 1600), TRN_REFUSED);
            on.check(trn_sleep(on, 1000));
        };
        trn_notification_ring ring{}, other{};
        trn_cc_failure failure{};
        refuse(1, 1);  // an unmapped address
        EXPECT_EQ(trn_cc_failures_open(on, 0, TRN_CC_SLOTS, 64, &ring), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(trn_cc_failures_open(on, 16, 1, 64, &ring), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(trn_cc_failures_open(on, 0, 1, 48, &ring), TRN_INVALID_ARGUMENT);
        on.check(trn_cc_failures_open(on, 0, 1, 64, &ring));  // a ring of four entries
        on.check(trn_cc_failures_open(on, 0, 2, 64, &other));
        const auto next = [&](trn_notification_ring& of) {
            on.check(trn_cc_failures_next(on, &of, &failure));
            return failure.code;
        };
        EXPECT_EQ(next(ring), TRN_CC_CODE_NONE);
        for (int n = 0; n < 6; ++n) {
            refuse(1, 1);
            EXPECT_EQ(next(ring), TRN_CC_CODE_INVALID) << n;
            EXPECT_EQ(failure.detail, 4u) << "bad magic";
            EXPECT_EQ(next(ring), TRN_CC_CODE_NONE) << n;
        }
        refuse(1, 5);
        EXPECT_EQ(next(ring), TRN_CC_CODE_LOST);
        EXPECT_EQ(next(ring), TRN_CC_CODE_NONE);
        refuse(1, 1);
        EXPECT_EQ(next(ring), TRN_CC_CODE_INVALID);
        EXPECT_EQ(next(other), TRN_CC_CODE_NONE);
        on.check(trn_notifications_close(on, &ring));
        on.check(trn_reset_device(on));
        EXPECT_EQ(next(other), TRN_CC_CODE_NONE) << "it is switched off";
        on.check(trn_notifications_close(on, &other));
    });
}

TEST_F(SledCollectives, InvalidProgramsAreRefusedByTheFirmware) {
    collective_group group(*this, all(), image());
    run_each({0}, [](std::size_t, device& on) {
        const std::vector<std::uint32_t> nonsense(400, 0x12345678);
        EXPECT_EQ(trn_cc_program(on, 0, 0, nonsense.data(), 1600), TRN_REFUSED);
        EXPECT_EQ(trn_cc_program(on, 0, 0, nonsense.data(), 4), TRN_REFUSED);
        EXPECT_EQ(trn_cc_program(on, 0, 4, nonsense.data(), 1600), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(trn_cc_program(on, 16, 0, nonsense.data(), 1600), TRN_INVALID_ARGUMENT);
        trn_cc_statistics counted{};
        on.check(trn_cc_get_statistics(on, 0, &counted));
        EXPECT_EQ(counted.refused, 2u);
        char text[256];
        on.check(trn_cc_log(on, 0, text, sizeof text));
        EXPECT_NE(std::string(text).find("refused"), std::string::npos) << text;
    });
    expect_right(group.run({.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true}));
}

}  // namespace
}  // namespace trn::test

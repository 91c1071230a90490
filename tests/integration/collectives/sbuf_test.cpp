// SPDX-License-Identifier: Apache-2.0
// Collectives whose buffers are in the SBUF of a NeuronCore.
#include <fmt/format.h>

#include <string_view>

#include "models/memory/hbm/hbm.h"
#include "platform/framework/kernel/introspection.h"
#include "sw-stubs/host/collectives/reference.h"
#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

location sbuf(std::uint32_t core) {
    return {location::kind::sbuf, core};
}
location hbm_stack(std::uint32_t stack) {
    return {location::kind::hbm, stack};
}
collective_places all_in(const location& memory) {
    return {memory, memory, memory};
}

class SbufCollectives : public CollectiveTest {
protected:
    static void expect_every_way_right(collective_group& group, collective_request request) {
        request.check = true;
        for (int op = TRN_COLL_ALL_REDUCE; op < TRN_COLL_BARRIER; ++op)
            for (int algorithm = TRN_COLL_RING; algorithm < TRN_COLL_ALGORITHMS; ++algorithm) {
                request.op = static_cast<trn_coll_op>(op);
                request.algorithm = static_cast<trn_coll_algorithm>(algorithm);
                if (!trn_coll_has_algorithm(request.op, request.algorithm)) continue;
                SCOPED_TRACE(fmt::format(
                    "{} {}, {} to {} by way of {}, {} bytes", trn_coll_op_text(request.op),
                    trn_coll_algorithm_text(request.algorithm), request.places.send.name(),
                    request.places.receive.name(), request.places.scratch.name(), request.bytes));
                expect_right(group.run(request));
            }
    }
    /// Bytes moved by the default HBM stack of a rank's buffers.
    std::uint64_t moved_by_hbm() const {
        struct total final : statistics {
            std::uint64_t bytes = 0;
            void count(std::string_view counter, std::uint64_t value) override {
                if (counter == "bytes_moved") bytes += value;
            }
        } sum;
        platform_->modules().for_each<hbm>([&](const hbm& each) {
            if (std::string_view(each.name()) == "chip0.hbm0") each.publish(sum);
        });
        return sum.bytes;
    }
};

TEST_F(SbufCollectives, AreCorrectForEveryAlgorithmAndMemory) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const collective_places places[] = {
        {sbuf(0), sbuf(0), hbm_stack(0)},      {hbm_stack(0), sbuf(3), hbm_stack(0)},
        {sbuf(7), hbm_stack(0), hbm_stack(0)}, all_in(sbuf(5)),
        {sbuf(1), sbuf(2), sbuf(4)},           all_in(hbm_stack(2))};
    for (const auto& where : places) {
        expect_every_way_right(group, {.bytes = 40, .places = where});
        expect_every_way_right(group,
                               {.bytes = 50'000, .places = where, .root = 2, .iterations = 2});
    }
    expect_every_way_right(group, {.bytes = 3 * MiB, .places = all_in(sbuf(0)), .iterations = 2});
    expect_right(group.run({.op = TRN_COLL_ALL_REDUCE,
                            .type = TRN_FP32,
                            .bytes = 4 * MiB,
                            .places = {sbuf(0), sbuf(1), hbm_stack(0)},
                            .channels = 4,
                            .check = true}));
}

TEST_F(SbufCollectives, AcceptBlocksOfDifferentSizes) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    for (const auto op : {TRN_COLL_ALL_GATHER_V, TRN_COLL_REDUCE_SCATTER_V, TRN_COLL_ALL_TO_ALL_V})
        expect_right(group.run(
            {.op = op, .counts = {5, 0, 70'001, 300}, .places = all_in(sbuf(6)), .check = true}));
}

TEST_F(SbufCollectives, RunOnManyRanks) {
    boot("trn2-48xl");
    collective_group group(*this, all(), image());
    expect_every_way_right(group, {.bytes = 64 * KiB, .places = {sbuf(0), sbuf(0), hbm_stack(0)}});
    for (const auto op : {TRN_COLL_ALL_REDUCE, TRN_COLL_ALL_GATHER, TRN_COLL_REDUCE_SCATTER})
        expect_right(
            group.run({.op = op, .bytes = 4 * MiB, .places = all_in(sbuf(4)), .check = true}));
}

TEST_F(SbufCollectives, RunOnATrainium1Pair) {
    boot("trn1-32xl");
    collective_group group(*this, {4, 5}, image());
    expect_every_way_right(group, {.bytes = 200'000, .places = all_in(sbuf(1))});
}

TEST_F(SbufCollectives, DoNotUseHbmWhenScratchIsInSbuf) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    // Counts one iteration: a second one needs no setup.
    const auto moved = [&](const collective_places& places) {
        collective_request request{.op = TRN_COLL_ALL_REDUCE,
                                   .algorithm = TRN_COLL_RING,
                                   .bytes = 1 * MiB,
                                   .places = places};
        const auto with = [&](std::uint32_t iterations) {
            request.iterations = iterations;
            const auto before = moved_by_hbm();
            group.run(request);
            return moved_by_hbm() - before;
        };
        const auto once = with(1);
        return with(2) - once;
    };
    const auto usual = moved({}), scratch_only = moved({sbuf(0), sbuf(0), hbm_stack(0)});
    EXPECT_GT(usual, 6 * 2 * 256 * KiB) << "six steps, in each a block is read and one written";
    EXPECT_LT(scratch_only, usual);
    EXPECT_LT(moved(all_in(sbuf(0))), 64 * KiB) << "descriptors and what is added to semaphores";
}

TEST_F(SbufCollectives, ResultsAreVisibleInTheCoresSbuf) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    expect_right(group.run({.op = TRN_COLL_BROADCAST,
                            .type = TRN_UINT32,
                            .bytes = 4 * KiB,
                            .places = {hbm_stack(0), sbuf(3), hbm_stack(0)},
                            .check = true}));
    run_each({2}, [](std::size_t, device& on) {
        // Contract 3.2: apertures of the cores, which start with the SBUF (3.3).
        const std::uint64_t there = 0xd0000000 + 3 * 64 * MiB + collective_memories::guard_bytes;
        std::vector<std::uint32_t> words(KiB), sent(KiB);
        trn_coll_config config{};
        config.type = TRN_UINT32;
        collective_reference(config).input(0, 0,
                                           {reinterpret_cast<std::uint8_t*>(sent.data()), 4 * KiB});
        for (std::uint64_t n = 0; n < words.size(); ++n)
            on.check(trn_bar_read(on, there + 4 * n, &words[n]));
        EXPECT_EQ(words, sent);
    });
}

TEST_F(SbufCollectives, ByteWrittenOutsideABufferIsDetected) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const auto found =
        group.run({.op = TRN_COLL_ALL_GATHER,
                   .type = TRN_UINT8,
                   .bytes = 4 * KiB,
                   .places = all_in(sbuf(2)),
                   .check = true,
                   .meanwhile = [](std::uint32_t rank, device& on) {
                       const std::uint8_t stray = 1;
                       if (rank == 3)
                           on.check(trn_write(on, 2, trn_sbuf_address(on, 2, 100), &stray, 1));
                   }});
    EXPECT_EQ(found.wrong, 1u);
    EXPECT_EQ(found.first_wrong, "rank 3: byte before a buffer, 100");
}

TEST_F(SbufCollectives, BuffersThatDoNotFitAreRefusedWithAMessage) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    const auto expect = [&](const collective_request& wanted, const std::string& part) {
        const auto found = sentence(group, wanted);
        EXPECT_NE(found.find(part), std::string::npos) << found;
    };
    expect({.op = TRN_COLL_ALL_TO_ALL, .bytes = 16 * MiB, .places = all_in(sbuf(0))},
           "the receive buffer of rank 0 does not fit into sbuf0 of 32 MiB: 16777216 bytes from "
           "0x1003000 on, and 4096 to guard it");
    expect({.op = TRN_COLL_BROADCAST,
            .bytes = 33 * MiB,
            .places = {sbuf(1), hbm_stack(0), hbm_stack(0)}},
           "the send buffer of rank 0 does not fit into sbuf1");
    expect({.op = TRN_COLL_ALL_REDUCE, .bytes = 11 * MiB, .places = all_in(sbuf(1))},
           "the scratch buffer of rank 0 does not fit into sbuf1");
    expect({.op = TRN_COLL_ALL_GATHER, .bytes = KiB, .places = all_in(sbuf(8))},
           "there is no sbuf8: Trainium3 has 8");
    expect({.op = TRN_COLL_ALL_GATHER, .bytes = KiB, .places = all_in({})}, "in hbmN or sbufN");
    expect_right(group.run(
        {.op = TRN_COLL_ALL_TO_ALL, .bytes = 15 * MiB, .places = all_in(sbuf(0)), .check = true}));
}

TEST_F(SbufCollectives, AddressesOutsideMemoryAreRefusedByTheLibrary) {
    boot("trn2-48xl");
    collective_group group(*this, {0, 1}, image());
    run_each({0}, [](std::size_t, device& on) {
        const std::uint32_t ring[] = {0, 1};
        trn_coll_member members[2] = {};
        auto config = bare_pair(members, ring);
        config.bytes = 8 * MiB;
        const auto sentence = [&](std::uint64_t send, std::uint64_t receive) {
            members[0].send = send;
            members[0].receive = receive;
            trn_coll* made = nullptr;
            EXPECT_EQ(trn_coll_create(on, &config, &made), TRN_INVALID_ARGUMENT);
            EXPECT_EQ(made, nullptr);
            return std::string(trn_last_error(on));
        };
        const auto end = trn_sbuf_address(on, 1, 28 * MiB);
        EXPECT_EQ(sentence(end - 4 * MiB, end - 8 * MiB + 2), "the buffers of rank 0 overlap");
        EXPECT_EQ(sentence(trn_sbuf_address(on, 0, 0), end - 8 * MiB + 2),
                  "the receive buffer of rank 0 does not fit: 8388608 bytes at 0x1400002 of SBUF "
                  "1, which has 0x1c00000");
        EXPECT_EQ(sentence(end, 64 * MiB),
                  fmt::format("the send buffer of rank 0 is in no HBM and no SBUF: {:#x}", end));
    });
}

TEST_F(SbufCollectives, SlotsRunConcurrentlyEachInItsQuarter) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    std::vector<collective_job> jobs;
    for (std::uint32_t slot = 0; slot < TRN_CC_SLOTS; ++slot)
        jobs.push_back({group,
                        {.op = slot % 2 ? TRN_COLL_ALL_REDUCE : TRN_COLL_ALL_GATHER,
                         .bytes = 1 * MiB,
                         .places = all_in(sbuf(0)),
                         .slot = slot,
                         .check = true}});
    for (const auto& each : collective_group::run_together(jobs)) expect_right(each);
    jobs[1].request.bytes = 4 * MiB;
    EXPECT_THROW(collective_group::run_together(jobs), std::invalid_argument)
        << "three buffers of 4 MiB are more than a quarter of 32 MiB";
}

TEST_F(SbufCollectives, CrossDomainsThroughTheRegisterBar) {
    boot("tests/integration/collectives/three_sleds.yaml");
    collective_group group(*this, {0, 1, 4, 5}, image());
    ASSERT_EQ(group.domains(), 2u);
    auto wanted = collective_request{.bytes = 100'000, .root = 3, .iterations = 2, .check = true};
    for (const auto& where :
         {all_in(sbuf(0)), collective_places{sbuf(3), hbm_stack(0), hbm_stack(0)}})
        for (int op = TRN_COLL_ALL_REDUCE; op < TRN_COLL_BARRIER; ++op) {
            SCOPED_TRACE(trn_coll_op_text(static_cast<trn_coll_op>(op)));
            wanted.op = static_cast<trn_coll_op>(op);
            wanted.places = where;
            expect_right(group.run(wanted));
        }
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// Sentences of the NVM Express base specification 1.4, by section.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "tests/unit/cards/nvme/controller/nvme_test.h"

namespace {

using namespace trn;
using test::disk_driver;
using command = disk_driver::command;

struct NvmeRules : test::nvme_test {
    using nvme_test::nvme_test;

    disk_driver::answer set_feature(std::uint32_t id, std::uint32_t value) {
        return host.execute(0, command(9, 0).set(10, id).set(11, value));
    }
    disk_driver::answer get_feature(std::uint32_t id, std::uint32_t value = 0) {
        return host.execute(0, command(10, 0).set(10, id).set(11, value));
    }
    std::uint32_t abort(std::uint32_t queue, std::uint32_t id) {
        return host.execute(0, command(8, 0).set(10, id << 16 | queue)).result;
    }
    unsigned create(std::uint8_t opcode, std::uint32_t word10, std::uint32_t word11) {
        return host.execute(0, command(opcode, 0).prps(0x5000).set(10, word10).set(11, word11))
            .status();
    }
    std::uint64_t health(std::uint64_t at) {
        EXPECT_EQ(host.execute(0, command(2, 0).prps(0x300000).set(10, 127 << 16 | 2)).status(),
                  0u);
        return host.load<std::uint64_t>(0x300000 + at);
    }
    void enable(std::uint32_t queue_sizes) {
        host.set(0x14, 0);
        host.set(0x24, queue_sizes);
        host.set(0x28, 0x1000);
        host.set(0x30, 0x2000);
        host.set(0x14, 4 << 20 | 6 << 16 | 1);
        disk_driver::run(5000);
    }
};

struct NvmeRulesWithoutCache : NvmeRules {
    NvmeRulesWithoutCache() : NvmeRules({.capacity = 64 << 20, .write_cache = 0}) {}
};

// 5.21.1.6
TEST_F(NvmeRules, SwitchingTheWriteCacheOffMakesItsContentDurable) {
    host.start();
    fill(data, 4096, 3);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(write(i * 8, 8), 0u);
    EXPECT_EQ(set_feature(6, 0).status(), 0u);
    inject("power_loss");
    host.start();
    for (unsigned i = 0; i < 64; ++i) {
        EXPECT_EQ(read(i * 8, 8), 0u);
        EXPECT_TRUE(same(data, other, 4096)) << i;
    }
}

TEST_F(NvmeRulesWithoutCache, NoWriteCacheIsAnnouncedOrConfigured) {
    host.start();
    EXPECT_EQ(host.execute(0, command(6, 0).prps(data).set(10, 1)).status(), 0u);
    EXPECT_EQ(host.bytes(data)[525] & 1, 0);
    EXPECT_EQ(set_feature(6, 1).status(), 0x02u);
    EXPECT_EQ(get_feature(6).status(), 0x02u);
    EXPECT_EQ(host.execute(1, command(0)).status(), 0u);  // flush is supported
}

// NVM Express 1.4, 5.21 and 7.8: features other than error recovery are of the controller.
TEST_F(NvmeRules, FeaturesOfTheControllerAreNotSetForANamespace) {
    host.start();
    const auto set = [&](std::uint32_t name, std::uint32_t id) {
        return host.execute(0, command(9, name).set(10, id).set(11, 1)).status();
    };
    EXPECT_EQ(set(1, 6), 0x10fu);
    EXPECT_EQ(set(2, 6), 0x0bu);
    EXPECT_EQ(set(~0u, 6), 0u);
    EXPECT_EQ(set(1, 5), 0u);
}

TEST_F(NvmeRules, WriteCacheIsAnnounced) {
    host.start();
    EXPECT_EQ(host.execute(0, command(6, 0).prps(data).set(10, 1)).status(), 0u);
    EXPECT_EQ(host.bytes(data)[525] & 1, 1);
    EXPECT_EQ(get_feature(6).result, 1u);
}

// 5.21.1: bits that the controller accepts are returned, reserved ones are 0
TEST_F(NvmeRules, FeaturesReturnWhatWasStored) {
    host.start();
    EXPECT_EQ(set_feature(9, 1 << 16 | 3).status(), 0u);  // vector 3: coalescing disabled
    EXPECT_EQ(get_feature(9, 3).result, 1u << 16 | 3);
    EXPECT_EQ(get_feature(9, 4).result, 4u);
    EXPECT_EQ(set_feature(9, 3).status(), 0u);
    EXPECT_EQ(get_feature(9, 3).result, 3u);
    EXPECT_EQ(set_feature(9, 9).status(), 0x02u);
    EXPECT_EQ(set_feature(2, 3 << 5).status(), 0u);  // workload hint
    EXPECT_EQ(get_feature(2).result, 3u << 5);
    EXPECT_EQ(set_feature(6, 0xffff'ffff).status(), 0u);
    EXPECT_EQ(get_feature(6).result, 1u);
    host.start();
    EXPECT_EQ(get_feature(2).result, 0u);
}

// 3.1.1, 3.1.8: CAP.MQES limits I/O queues; admin queues have up to 4096 entries
TEST_F(NvmeRules, AdminQueuesMayHave4096Entries) {
    enable(4095u << 16 | 4095);
    EXPECT_EQ(host.get(0x1c) & 3, 1u);
    host.set(0x24, 0);  // one entry: too few
    enable(0);
    EXPECT_EQ(host.get(0x1c) & 3, 2u);
}

TEST_F(NvmeRules, ReservedBitsOfConfigurationReadZero) {
    host.set(0x24, 0xffff'ffff);
    EXPECT_EQ(host.get(0x24), 0x0fff'0fffu);
    host.set(0x14, 0xff00'000e);
    EXPECT_EQ(host.get(0x14), 0u);
}

// 5.1: a command that has been executed is not aborted
TEST_F(NvmeRules, CommandsThatHaveTakenEffectAreNotAborted) {
    host.start();
    const auto created =
        host.post(0, command(5, 0).prps(0x5000).set(10, 15 << 16 | 2).set(11, 1 << 16 | 3));
    host.post(0, command(8, 0).set(10, created << 16));
    const auto made = host.wait(0), aborted = host.wait(0);
    EXPECT_EQ(made.id, created);
    EXPECT_EQ(made.status(), 0u);
    EXPECT_EQ(aborted.result, 1u);
    EXPECT_EQ(create(5, 15 << 16 | 2, 1 << 16 | 3), 0x101u);  // it exists
    fill(data, 4096, 7);
    const auto written = host.post(1, disk_driver::io(1, 0, 8, data));
    disk_driver::run(2);
    EXPECT_EQ(abort(1, written), 1u);
    EXPECT_EQ(host.wait(1).status(), 0u);
    EXPECT_EQ(read(0, 8), 0u);
    EXPECT_TRUE(same(data, other, 4096));
    const auto reading = host.post(1, disk_driver::io(2, 0, 8, other));
    disk_driver::run(2);
    EXPECT_EQ(abort(1, reading), 0u);
    EXPECT_EQ(host.wait(1).status(), 0x07u);
}

TEST_F(NvmeRules, DeletedQueueReportsTheWriteThatIsOnTheMedium) {
    host.start();
    fill(data, 4096, 7);
    host.post(1, disk_driver::io(1, 0, 8, data));
    host.post(1, disk_driver::io(2, 0, 8, other));
    disk_driver::run(2);
    EXPECT_EQ(host.execute(0, command(0, 0).set(10, 1)).status(), 0u);
    EXPECT_EQ(host.wait(1).status(), 0u);
    EXPECT_EQ(host.wait(1).status(), 0x08u);
}

TEST_F(NvmeRules, AbortReachesTheQueueHoweverManyCommandsAreLost) {
    host.start();
    inject("lost_command", {{"count", "3000"}});
    std::uint16_t last = 0;
    for (unsigned i = 0; i < 2048; ++i) {
        last = host.post(1, disk_driver::io(2, 0, 1, data));
        disk_driver::run(1);
    }
    EXPECT_EQ(abort(1, last), 0u);
    EXPECT_EQ(host.wait(1).status(), 0x07u);
}

// 5.4
TEST_F(NvmeRules, SubmissionQueueNeedsACompletionQueueInRange) {
    host.start();
    EXPECT_EQ(create(1, 15 << 16 | 2, 0 << 16 | 1), 0x101u);  // the admin queue
    EXPECT_EQ(create(1, 15 << 16 | 2, 9 << 16 | 1), 0x101u);  // more than there are
    EXPECT_EQ(create(1, 15 << 16 | 2, 2 << 16 | 1), 0x100u);  // not created
}

// 5.21.1.7
TEST_F(NvmeRules, NumberOfQueuesIsSettledBeforeTheFirstOne) {
    host.start();
    EXPECT_EQ(set_feature(7, 1 << 16 | 1).status(), 0x0cu);
    EXPECT_EQ(host.execute(0, command(0, 0).set(10, 1)).status(), 0u);
    EXPECT_EQ(set_feature(7, 1 << 16 | 1).status(), 0x0cu);  // a completion queue exists
    EXPECT_EQ(host.execute(0, command(4, 0).set(10, 1)).status(), 0u);
    EXPECT_EQ(set_feature(7, 1 << 16 | 1).status(), 0u);
    EXPECT_EQ(get_feature(7).result, 7u << 16 | 7);
}

// 5.14.1: LPA says that no log page is about one namespace
TEST_F(NvmeRules, LogsAreThoseOfTheController) {
    host.start();
    for (const std::uint32_t page : {1, 2, 3}) {
        const auto log = [&](std::uint32_t name) {
            return host.execute(0, command(2, name).prps(data).set(10, 15 << 16 | page)).status();
        };
        EXPECT_EQ(log(0), 0u);
        EXPECT_EQ(log(0xffff'ffff), 0u);
        EXPECT_EQ(log(1), 0x02u);
        EXPECT_EQ(log(2), 0x02u);
    }
}

// 7.6.2
TEST_F(NvmeRules, NoCommandRunsAfterTheShutdown) {
    host.start();
    fill(data, 512, 5);
    host.set(0x14, 4 << 20 | 6 << 16 | 1 << 14 | 1);
    disk_driver::run(5000);
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 2u);
    host.post(1, disk_driver::io(1, 7, 1, data));
    disk_driver::run(5000);
    EXPECT_FALSE(host.poll(1));
    host.start();
    EXPECT_EQ(read(7, 1), 0u);
    EXPECT_FALSE(same(data, other, 512));
}

TEST_F(NvmeRules, WritesDuringAShutdownAreDurableWhenItIsComplete) {
    host.start();
    host.set(0x14, 4 << 20 | 6 << 16 | 1 << 14 | 1);
    fill(data, 4096, 5);
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(write(i * 8, 8), 0u);
    disk_driver::run(5000);
    inject("power_loss");
    host.start();
    for (unsigned i = 0; i < 32; ++i) {
        EXPECT_EQ(read(i * 8, 8), 0u);
        EXPECT_TRUE(same(data, other, 4096)) << i;
    }
    EXPECT_EQ(health(144), 0u);  // unsafe shutdowns
}

TEST_F(NvmeRules, NothingIsWrittenToTheHostAfterTheShutdown) {
    host.start();
    std::memset(host.bytes(other), 0xee, 512);
    EXPECT_EQ(set_feature(11, 2).status(), 0u);
    host.post(0, command(12, 0));
    host.set(0x14, 4 << 20 | 6 << 16 | 1 << 14 | 1);
    disk_driver::run(1980);
    host.post(1, disk_driver::io(2, 0, 1, other));  // takes 80 us
    disk_driver::run(15);
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 1u);
    disk_driver::run(10);
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 2u);
    disk_driver::run(1000);
    EXPECT_FALSE(host.poll(1));
    EXPECT_EQ(host.load<std::uint8_t>(other), 0xee);
    inject("temperature", {{"kelvin", "370"}});
    disk_driver::run(1000);
    EXPECT_FALSE(host.poll(0));
    EXPECT_FALSE(host.disk.describe_wait());
}

TEST_F(NvmeRules, CompletionsThatWaitForRoomAreDroppedByTheShutdown) {
    host.start();
    const auto post_flushes = [this](unsigned count) {
        for (unsigned i = 0; i < count; ++i) host.place(1, command(0));
        host.ring_tail(1);
        disk_driver::run(1000);
    };
    post_flushes(15);  // fill the completion queue
    post_flushes(3);
    host.set(0x14, 4 << 20 | 6 << 16 | 1 << 14 | 1);
    disk_driver::run(5000);
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 2u);
    for (unsigned i = 0; i < 15; ++i) EXPECT_TRUE(host.poll(1)) << i;
    disk_driver::run(1000);
    EXPECT_FALSE(host.poll(1));
}

TEST_F(NvmeRules, EnablingEndsAShutdownOfADisabledController) {
    host.set(0x14, 1 << 14);
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 1u);
    host.start();
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 0u);
    EXPECT_EQ(read(0, 1), 0u);
}

TEST_F(NvmeRules, ShutdownEndsAFetchThatMemoryDefers) {
    host.start();
    fill(data, 512, 5);
    host.path.hold(0x3000, 4096);
    host.post(1, disk_driver::io(1, 7, 1, data));
    disk_driver::run(10);
    EXPECT_EQ(host.path.waiting(), 1u);
    host.set(0x14, 4 << 20 | 6 << 16 | 1 << 14 | 1);
    disk_driver::run(5000);
    EXPECT_EQ(host.path.waiting(), 0u);
    host.path.release();
    disk_driver::run(100);
    EXPECT_FALSE(host.poll(1));
    host.start();
    EXPECT_EQ(read(7, 1), 0u);
    EXPECT_FALSE(same(data, other, 512));
}

TEST_F(NvmeRules, ReadThatMemoryDefersReadsTheMediumOnce) {
    host.start();
    fill(data, 4096, 5);
    EXPECT_EQ(write(0, 8), 0u);
    host.path.hold(other, 4096);
    host.post(1, disk_driver::io(2, 0, 8, other));
    disk_driver::run(200);
    EXPECT_EQ(host.path.waiting(), 1u);
    inject("media_error", {{"block", "0"}, {"blocks", "8"}});
    host.path.release();
    EXPECT_EQ(host.wait(1).status(), 0u);
    EXPECT_TRUE(same(data, other, 4096));
}

TEST_F(NvmeRules, NothingIsWrittenToADeletedCompletionQueue) {
    host.start();
    host.path.hold(0x4000, 16);
    host.post(1, command(0));
    disk_driver::run(1000);
    EXPECT_EQ(host.path.waiting(), 1u);
    host.post(0, command(0, 0).set(10, 1));
    host.post(0, command(4, 0).set(10, 1));
    disk_driver::run(1000);
    EXPECT_FALSE(host.poll(0));  // completions keep their order
    host.path.release();
    EXPECT_EQ(host.wait(0).status(), 0u);
    EXPECT_EQ(host.wait(0).status(), 0u);
    EXPECT_TRUE(host.take(1));
}

// 9.5
TEST_F(NvmeRules, CompletionQueueThatCannotBeWrittenIsAFatalError) {
    host.start();
    for (const std::uint32_t opcode : {0u, 4u})  // makes the queues anew, elsewhere
        ASSERT_EQ(
            host.execute(0, command(static_cast<std::uint8_t>(opcode), 0).set(10, 1)).status(), 0u);
    const auto nowhere = host.memory_size();
    ASSERT_EQ(
        host.execute(0, command(5, 0).prps(nowhere).set(10, 15 << 16 | 1).set(11, 1 << 16 | 3))
            .status(),
        0u);
    ASSERT_EQ(host.execute(0, command(1, 0).prps(0x3000).set(10, 15 << 16 | 1).set(11, 1 << 16 | 1))
                  .status(),
              0u);
    host.pairs[1] = {};
    const auto interrupts = host.raised[1];
    host.post(1, command(0));
    disk_driver::run(1000);
    EXPECT_EQ(host.get(0x1c) & 2, 2u);
    EXPECT_EQ(host.raised[1], interrupts);
    host.start();
    EXPECT_EQ(read(0, 1), 0u);
}

// 5.14.1.2
TEST_F(NvmeRules, MediaErrorThatAppearsDuringAReadIsCounted) {
    host.start();
    host.post(1, disk_driver::io(2, 0, 8, data));
    disk_driver::run(20);  // the medium is being read
    inject("media_error", {{"block", "3"}});
    EXPECT_EQ(host.wait(1).status(), 0x281u);
    EXPECT_EQ(health(160), 1u);
    EXPECT_EQ(read(3, 1), 0x281u);
    EXPECT_EQ(health(160), 2u);
}

// 5.2, 5.14.1.2: only data that the host has counts
TEST_F(NvmeRules, LogThatCannotBeDeliveredIsNotRead) {
    host.start();
    constexpr std::uint64_t nowhere = std::uint64_t{1} << 50;
    const auto heat = [&](const char* kelvin) {
        inject("temperature", {{"kelvin", kelvin}});
        disk_driver::run(100);
    };
    EXPECT_EQ(set_feature(11, 2).status(), 0u);
    host.post(0, command(12, 0));
    heat("370");
    EXPECT_EQ(host.wait(0).result, 0x0002'0101u);
    const auto request = host.post(0, command(12, 0));
    EXPECT_EQ(host.execute(0, command(2, 0).prps(nowhere).set(10, 127 << 16 | 2)).status(), 0x04u);
    heat("371");
    EXPECT_FALSE(host.poll(0));
    EXPECT_EQ(health(64), 0u);  // reads the log
    heat("372");
    EXPECT_EQ(host.wait(0).id, request);
    EXPECT_EQ(host.execute(1, disk_driver::io(2, 0, 1, nowhere)).status(), 0x04u);
    EXPECT_EQ(host.execute(1, disk_driver::io(1, 0, 1, nowhere)).status(), 0x04u);
    EXPECT_EQ(health(64), 0u);
    EXPECT_EQ(health(80), 0u);
    EXPECT_EQ(read(0, 1), 0u);
    EXPECT_EQ(write(0, 1), 0u);
    EXPECT_EQ(health(64), 1u);
    EXPECT_EQ(health(80), 1u);
}

// 5.2, figure 147: invalid doorbell write value
TEST_F(NvmeRules, TailDoorbellOnlyAddsCommands) {
    host.start();
    const auto expect_event = [&](std::uint16_t request) {
        const auto event = host.wait(0);
        EXPECT_EQ(event.id, request);
        EXPECT_EQ(event.result, 0x0001'0100u);
        EXPECT_EQ(host.execute(0, command(2, 0).prps(data).set(10, 15 << 16 | 1)).status(), 0u);
    };
    auto request = host.post(0, command(12, 0));
    disk_driver::run(1);
    for (unsigned i = 0; i < 3; ++i) host.place(1, disk_driver::io(2, i, 1, data));
    host.ring_tail(1);
    host.set(0x1008, 1);  // two of the three commands are withdrawn
    expect_event(request);
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(host.wait(1).status(), 0u);
    request = host.post(0, command(12, 0));
    host.ring_tail(1);  // no change
    expect_event(request);
    request = host.post(0, command(12, 0));
    host.ring_head(1);
    expect_event(request);
    EXPECT_EQ(read(0, 1), 0u);
    EXPECT_FALSE(host.poll(1));
}

// 3.1: only writes of the admin queues' registers depend on CC.EN
TEST_F(NvmeRules, AdminQueueRegistersAreReadableWhileTheControllerIsEnabled) {
    host.start();
    EXPECT_EQ(host.get(0x24), 15u << 16 | 15);
    EXPECT_EQ(host.get(0x28), 0x1000u);
    EXPECT_EQ(host.get(0x2c), 0u);
    EXPECT_EQ(host.get(0x30), 0x2000u);
    EXPECT_EQ(host.get(0x34), 0u);
}

// 5.2: a request completes with its event only; one more than AERL allows is refused; a reset ends
// them without a completion
TEST_F(NvmeRules, EventRequestsWithoutAnEventAreHeldUpToTheirLimit) {
    host.start();
    EXPECT_EQ(host.execute(0, command(6, 0).prps(data).set(10, 1)).status(), 0u);
    const unsigned limit = host.bytes(data)[259] + 1u;
    for (unsigned i = 0; i < limit; ++i) {
        host.post(0, command(12, 0));
        host.run(1000);
        EXPECT_FALSE(host.poll(0)) << i;
    }
    EXPECT_EQ(host.execute(0, command(12, 0)).status(), 0x105u);
    EXPECT_EQ(get_feature(2).status(), 0u);  // other commands go on
    host.start();
    EXPECT_EQ(get_feature(2).status(), 0u);
    EXPECT_FALSE(host.poll(0));
}

// 5.15.1 and 5.21.1: features that an I/O controller must have; each is read as it was set
TEST_F(NvmeRules, MandatoryFeaturesCanBeSetAndRead) {
    host.start();
    const std::uint32_t over = 300, under = 1 << 20 | 250;
    for (const auto& [id, value] : {std::pair{1u, 3u},
                                    {2u, 0u},
                                    {4u, over},
                                    {4u, under},
                                    {5u, 7u},
                                    {8u, 0x102u},
                                    {9u, 1u},
                                    {10u, 1u},
                                    {11u, 1u}}) {
        EXPECT_EQ(set_feature(id, value).status(), 0u) << id;
        const auto read = get_feature(id, value);
        EXPECT_EQ(read.status(), 0u) << id;
        EXPECT_EQ(read.result, id == 4 ? value & 0xffff : value) << id;
    }
    EXPECT_EQ(get_feature(7).status(), 0u);
    EXPECT_EQ(set_feature(2, 1).status(), 0x02u);     // NPSS is 0: no such power state
    EXPECT_EQ(set_feature(0, 1).status(), 0x02u);     // reserved
    EXPECT_EQ(set_feature(0xc0, 1).status(), 0x02u);  // of a vendor: none
}

// 5.15.2.2: NN bounds the names of namespaces, whichever exist
TEST_F(NvmeRules, NamesOfNamespacesEndAtNn) {
    host.start();
    EXPECT_EQ(host.execute(0, command(6, 0).prps(data).set(10, 1)).status(), 0u);
    const auto last = host.load<std::uint32_t>(data + 516);
    ASSERT_GE(last, 1u);
    EXPECT_EQ(host.execute(0, command(6, last + 1).prps(data)).status(), 0x0bu);
    EXPECT_EQ(host.execute(0, command(6, 0).prps(data)).status(), 0x0bu);
    EXPECT_EQ(host.execute(1, command(0, last + 1)).status(), 0x0bu);  // flush
    EXPECT_EQ(host.execute(0, command(6, last).prps(data).set(10, 2)).status(), 0u);
    EXPECT_EQ(host.load<std::uint32_t>(data), 0u);  // none above the last
}

}  // namespace

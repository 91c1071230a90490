// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/nvme_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "models/cards/nvme/controller/nvme_controller_regs.h"
#include "tests/support/register_contract.h"
#include "tests/unit/cards/nvme/controller/disk_driver.h"
#include "tests/unit/cards/nvme/controller/nvme_test.h"

namespace {

using namespace trn;
using test::disk_driver;
using command = disk_driver::command;
using NvmeTest = test::nvme_test;

TEST_F(NvmeTest, RegistersKeepTheirContract) {
    test::register_contract(host.bar0, nvme_controller_regs::table).check();
}

TEST_F(NvmeTest, IdentifyNamesTheDiskAndItsBlocks) {
    host.start();
    EXPECT_EQ(host.execute(0, command(6, 0).prps(data).set(10, 1)).status(), 0u);
    EXPECT_EQ(std::string(reinterpret_cast<char*>(host.bytes(data + 24)), 10), "Amazon EC2");
    EXPECT_EQ(host.bytes(data)[77], 5);
    EXPECT_EQ(host.execute(0, command(6, 1).prps(data).set(10, 0)).status(), 0u);
    std::uint64_t blocks = 0;
    std::memcpy(&blocks, host.bytes(data), 8);
    EXPECT_EQ(blocks, (64u << 20) / 512);
    EXPECT_EQ(host.bytes(data)[130], 9);
    EXPECT_EQ(host.execute(0, command(6, 7).prps(data).set(10, 0)).status(), 0x0bu);
    EXPECT_EQ(host.execute(0, command(6, 0).prps(data).set(10, 9)).status(), 0x02u);
}

TEST_F(NvmeTest, ReadReturnsWhatWasWrittenAtAnyOffset) {
    host.start();
    fill(data + 12, 8192, 3);
    EXPECT_EQ(write(77, 8, data + 12), 0u);
    EXPECT_EQ(read(77, 8, other + 4), 0u);
    EXPECT_TRUE(same(data + 12, other + 4, 4096));
    EXPECT_GT(host.raised[1], 0u);
}

TEST_F(NvmeTest, ListOfPagesMayGoOnInTheNextList) {
    host.start();
    fill(data, 131072, 9);
    // 32 pages in reverse order; two list entries in the first list page, the others in the next.
    std::array<std::uint64_t, 31> pages;
    for (unsigned i = 0; i < 31; ++i) pages[i] = data + (30 - i) * 4096u;
    const std::uint64_t list = 0x300000 + 4096 - 3 * 8, more = 0x310000;
    std::memcpy(host.bytes(list), pages.data(), 16);
    std::memcpy(host.bytes(list + 16), &more, 8);
    std::memcpy(host.bytes(more), &pages[2], 29 * 8);
    auto request = disk_driver::io(1, 0, 256, data + 31 * 4096).prps(data + 31 * 4096, list);
    EXPECT_EQ(host.execute(1, request).status(), 0u);
    for (unsigned i = 0; i < 32; ++i) {
        EXPECT_EQ(read(i * 8, 8), 0u);
        EXPECT_TRUE(same(data + (31 - i) * 4096u, other, 4096)) << i;
    }
}

TEST_F(NvmeTest, ListThatPointsToItselfEnds) {
    host.start();
    const std::uint64_t list = 0x300000 + 4096 - 8, page = 0x300000;
    // First an all-zero page, then a page that refers to itself.
    std::memcpy(host.bytes(list), &page, 8);
    EXPECT_EQ(host.execute(1, disk_driver::io(1, 0, 256, data).prps(data, list)).status(), 0u);
}

TEST_F(NvmeTest, BadPointersAndRangesGetTheirStatus) {
    host.start();
    EXPECT_EQ(host.execute(1, disk_driver::io(1, 0, 1, data + 2)).status(), 0x13u);
    EXPECT_EQ(host.execute(1, disk_driver::io(1, 0, 16, data).prps(data, other + 8)).status(),
              0x13u);
    EXPECT_EQ(host.execute(1, disk_driver::io(2, 0, 1, std::uint64_t{1} << 50)).status(), 0x04u);
    EXPECT_EQ(host.execute(1, disk_driver::io(2, 0, 257, data)).status(), 0x02u);
    EXPECT_EQ(read((64 << 20) / 512, 1), 0x80u);
    EXPECT_EQ(read(~std::uint64_t{0}, 1), 0x80u);
    EXPECT_EQ(host.execute(1, command(2, 2).prps(data)).status(), 0x0bu);
    EXPECT_EQ(host.execute(1, command(0x55)).status(), 0x01u);
    EXPECT_EQ(host.execute(0, command(0x80, 0)).status(), 0x01u);
    command sgl = disk_driver::io(2, 0, 1, data);
    sgl.words[0] |= 1 << 14;
    EXPECT_EQ(host.execute(1, sgl).status(), 0x02u);
}

TEST_F(NvmeTest, QueuesAreCreatedAndDeletedInOrderOnly) {
    host.start();
    const auto made = [&](std::uint8_t opcode, std::uint32_t word10, std::uint32_t word11) {
        return host.execute(0, command(opcode, 0).prps(0x5000).set(10, word10).set(11, word11))
            .status();
    };
    EXPECT_EQ(made(5, 15 << 16 | 1, 3), 0x101u);            // exists
    EXPECT_EQ(made(5, 15 << 16 | 9, 3), 0x101u);            // more than the maximum
    EXPECT_EQ(made(5, 0 << 16 | 2, 3), 0x102u);             // one entry
    EXPECT_EQ(made(5, 15 << 16 | 2, 9 << 16 | 3), 0x108u);  // no such vector
    EXPECT_EQ(made(5, 15 << 16 | 2, 2), 0x02u);             // not contiguous
    EXPECT_EQ(made(1, 15 << 16 | 2, 2 << 16 | 1), 0x100u);  // no such completion queue
    EXPECT_EQ(made(4, 1, 0), 0x10cu);                       // in use
    EXPECT_EQ(made(0, 1, 0), 0u);
    EXPECT_EQ(made(4, 1, 0), 0u);
    EXPECT_EQ(made(0, 1, 0), 0x101u);
}

TEST_F(NvmeTest, DeallocatedAndZeroedBlocksReadZero) {
    host.start();
    fill(data, 8192, 1);
    EXPECT_EQ(write(0, 16), 0u);
    const std::uint32_t ranges[] = {0, 4, 2, 0, 0, 1, 9, 0};
    std::memcpy(host.bytes(0x300000), ranges, sizeof ranges);
    EXPECT_EQ(host.execute(1, command(9).prps(0x300000).set(10, 1).set(11, 4)).status(), 0u);
    EXPECT_EQ(host.execute(1, command(8).wide(10, 12).set(12, 1)).status(), 0u);
    EXPECT_EQ(read(0, 16), 0u);
    for (const unsigned block : {2, 3, 4, 5, 9, 12, 13})
        std::memset(host.bytes(data + block * 512), 0, 512);
    EXPECT_TRUE(same(data, other, 8192));
}

TEST_F(NvmeTest, LossOfPowerTakesOnlyWhatWasNotFlushed) {
    host.start();
    std::set<bool> fates;
    fill(data, 4096, 1);
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(write(i * 8, 8), 0u);
    EXPECT_EQ(host.execute(1, command(0)).status(), 0u);
    fill(data, 4096, 99);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(write(i * 8, 8), 0u);
    auto durable = disk_driver::io(1, 16 * 8, 8, data);
    durable.words[12] |= 1 << 30;  // force unit access
    EXPECT_EQ(host.execute(1, durable).status(), 0u);
    EXPECT_EQ(write(18 * 8, 8), 0u);
    auto made_durable = disk_driver::io(2, 18 * 8, 8, other);
    made_durable.words[12] |= 1 << 30;
    EXPECT_EQ(host.execute(1, made_durable).status(), 0u);
    host.post(1, disk_driver::io(1, 17 * 8, 8, data));  // overlaps the write
    disk_driver::run(1);
    inject("power_loss");
    EXPECT_EQ(host.get(0x1c) & 1, 0u);
    host.start();
    for (unsigned i = 0; i < 32; ++i) {
        EXPECT_EQ(read(i * 8, 8), 0u);
        fill(data, 4096, 99);
        const bool is_new = same(data, other, 4096);
        fill(data, 4096, 1);
        EXPECT_TRUE(is_new || same(data, other, 4096)) << i;
        if (i < 16) fates.insert(is_new);
        const bool must_be_new = i == 16 || i == 18, may_be_new = i <= 18;
        EXPECT_TRUE(is_new || !must_be_new) << i;
        EXPECT_TRUE(!is_new || may_be_new) << i;
    }
    EXPECT_EQ(fates.size(), 2u);  // both fates must occur
}

TEST_F(NvmeTest, SpoiledBlocksFailUntilTheyAreWritten) {
    host.start();
    inject("media_error", {{"block", "10"}, {"blocks", "2"}});
    EXPECT_EQ(read(8, 2), 0u);
    EXPECT_EQ(read(9, 2), 0x281u);
    EXPECT_EQ(write(10, 1), 0u);
    EXPECT_EQ(read(9, 2), 0u);
    EXPECT_EQ(read(11, 1), 0x281u);
    EXPECT_EQ(host.execute(0, command(2, 0).prps(data).set(10, 15 << 16 | 1)).status(), 0u);
    std::uint64_t block = 0;
    std::memcpy(&block, host.bytes(data + 16), 8);
    EXPECT_EQ(block, 11u);  // block of the newest error
    EXPECT_EQ(host.execute(0, command(2, 0).prps(data).set(10, 127 << 16 | 2)).status(), 0u);
    EXPECT_EQ(host.bytes(data)[160], 2);
}

TEST_F(NvmeTest, LostCommandIsAbortedAndAStuckOneIsNot) {
    host.start();
    inject("lost_command");
    const auto lost = host.post(1, disk_driver::io(2, 0, 1, data));
    disk_driver::run(1000);
    EXPECT_FALSE(host.poll(1));
    const auto abort = [&](std::uint32_t id) {
        return host.execute(0, command(8, 0).set(10, id << 16 | 1)).result;
    };
    EXPECT_EQ(abort(lost), 0u);
    EXPECT_EQ(host.wait(1).status(), 0x07u);
    inject("stuck_command");
    const auto stuck = host.post(1, disk_driver::io(2, 0, 1, data));
    EXPECT_EQ(abort(stuck), 1u);
    EXPECT_EQ(read(0, 1), 0u);
}

TEST_F(NvmeTest, WriteWithoutItsCompletionHasBeenDone) {
    host.start();
    fill(data, 512, 5);
    inject("lost_completion");
    host.post(1, disk_driver::io(1, 7, 1, data));
    disk_driver::run(1000);
    EXPECT_FALSE(host.poll(1));
    EXPECT_EQ(read(7, 1), 0u);
    EXPECT_TRUE(same(data, other, 512));
}

TEST_F(NvmeTest, HostThatTakesNoCompletionsIsNotServedForEver) {
    host.start();
    for (unsigned i = 0; i < 3000; ++i) {
        host.post(1, disk_driver::io(2, 0, 1, data));
        disk_driver::run(100);
    }
    unsigned served = 0;
    for (; host.poll(1); ++served) disk_driver::run(100);
    EXPECT_GT(served, 15u);
    EXPECT_LT(served, 1200u);
    host.start();
    EXPECT_EQ(read(0, 1), 0u);
}

TEST_F(NvmeTest, DoorbellsBeyondRingsAreReportedAndChangeNothing) {
    host.start();
    const auto request = host.post(0, command(12, 0));
    host.set(0x1008, 16);
    const auto completion = host.wait(0);
    EXPECT_EQ(completion.id, request);
    EXPECT_EQ(completion.result, 0x0001'0100u);
    host.set(0x1000 + 5 * 8, 1);
    host.set(0x1004 + 5 * 8, 1);
    host.set(0x100c, 7);  // completions that do not exist
    EXPECT_EQ(read(0, 1), 0u);
}

TEST_F(NvmeTest, HeatIsReportedOnceUntilItsLogIsRead) {
    host.start();
    EXPECT_EQ(host.execute(0, command(9, 0).set(10, 11).set(11, 2)).status(), 0u);
    host.post(0, command(12, 0));
    inject("temperature", {{"kelvin", "370"}});
    EXPECT_EQ(host.wait(0).result, 0x0002'0101u);
    host.post(0, command(12, 0));
    inject("temperature", {{"kelvin", "371"}});
    disk_driver::run(100);
    EXPECT_FALSE(host.poll(0));
    EXPECT_EQ(host.execute(0, command(2, 0).prps(data).set(10, 127 << 16 | 2)).status(), 0u);
    EXPECT_EQ(host.bytes(data)[0], 2);
}

TEST_F(NvmeTest, ResetsShutdownAndErrorsShowInTheStatus) {
    EXPECT_EQ(host.get(0x1c), 0u);
    host.set(0x14, 1);  // without admin queues
    disk_driver::run(5000);
    EXPECT_EQ(host.get(0x1c), 2u);
    host.start();
    host.set(0x14, 4 << 20 | 6 << 16 | 1 << 14 | 1);
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 1u);
    disk_driver::run(5000);
    EXPECT_EQ(host.get(0x1c) >> 2 & 3, 2u);
    host.start();
    host.set(0x20, 0x4e56'4d65);
    EXPECT_EQ(host.get(0x1c), 0x10u);
    host.set(0x1c, 0x10);
    EXPECT_EQ(host.get(0x1c), 0u);
    host.start();
    inject("fatal_error");
    EXPECT_EQ(host.get(0x1c) & 2, 2u);
    host.start();
    EXPECT_EQ(read(0, 1), 0u);
}

TEST_F(NvmeTest, IdleDiskHasNoEvent) {
    host.start();
    EXPECT_EQ(read(0, 1), 0u);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(NvmeTest, ReadTakesTheTimeOfTheMedium) {
    host.start();
    host.post(1, disk_driver::io(2, 0, 8, data));
    disk_driver::run(81);
    EXPECT_FALSE(host.poll(1));
    disk_driver::run(3);
    EXPECT_TRUE(host.poll(1));
}

}  // namespace

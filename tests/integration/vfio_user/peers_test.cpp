// SPDX-License-Identifier: Apache-2.0
// An EFA card writes by RDMA to HBM of a chip in its server, at the BAR4 address chosen by a host
// in another process, as for QEMU guests.
#include <gtest/gtest.h>
#include <linux/pci_regs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/integration/vfio_user/running_board.h"
#include "tests/support/cards/attached.h"
#include "tests/support/cards/verbs_host.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;
using efa_host = test::attached<test::verbs_host>;

constexpr std::uint64_t placed = 0x3800'0000'0000, hbm_page = 0x1234'5000;
constexpr std::uint8_t succeeded = 0, remote_bad_address = 7;

/// A chip with running firmware whose host has placed BAR4.
class placed_chip {
public:
    explicit placed_chip(const std::string& socket) {
        const std::uint16_t on = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
        done_ =
            trn_vfio_user_open(socket.c_str(), nullptr, &client_, nullptr, 0) == 0 &&
            trn_vfio_user_write64(client_, TRN_VFIO_USER_CONFIG, PCI_BASE_ADDRESS_4, placed) == 0 &&
            trn_vfio_user_write(client_, TRN_VFIO_USER_CONFIG, PCI_COMMAND, &on, sizeof on) == 0 &&
            waits_for_firmware();
    }
    ~placed_chip() { trn_vfio_user_close(client_); }
    placed_chip(const placed_chip&) = delete;
    placed_chip& operator=(const placed_chip&) = delete;

    bool done() const { return done_; }
    std::uint64_t hbm(std::uint64_t offset) {
        std::uint64_t value = 0;
        EXPECT_EQ(trn_vfio_user_read64(client_, 4, offset, &value), 0);
        return value;
    }

private:
    bool waits_for_firmware() {
        constexpr std::uint64_t routing_id = 0x06c8'4024, millisecond = 1'000'000;
        constexpr std::uint32_t not_ready = 0xdead'beef;
        std::uint32_t id = not_ready;
        for (int i = 0; i < 1000 && id == not_ready; ++i)
            if (trn_vfio_user_wait(client_, millisecond, nullptr) != 0 ||
                trn_vfio_user_read32(client_, 0, routing_id, &id) != 0)
                return false;
        return id != not_ready;
    }

    trn_vfio_user* client_ = nullptr;
    bool done_ = false;
};

class PeersTest : public testing::Test {
protected:
    explicit PeersTest(const std::string& recording = {})
        : board_(CHIP_CARD, folder_, recording.empty() ? recording : folder_ / recording) {}

    /// The card writes `word` to itself, into a region whose only page is in the chip's HBM.
    std::uint8_t write_by_rdma(std::uint64_t word) {
        constexpr std::uint64_t here = 0x10'0000, there = 0x20'0000;
        constexpr std::uint32_t qkey = 7;
        efa_host card(board_.socket("nic"));
        card.start();
        const auto pd = card.alloc_pd(), uar = card.alloc_uar();
        auto cq = card.create_cq(uar, 16);
        auto qp = card.create_qp(pd, uar, test::verbs_host::srd, cq.number, cq.number);
        card.to_rts(qp, qkey);
        const auto own = card.create_ah(pd, card.gid());
        const auto buffer = card.allocate(4096);
        const auto key = card.reg_mr(pd, buffer, 4096, here);
        const auto region = card.reg_mr_raw(pd, there, 4096, 7, {placed + hbm_page});
        EXPECT_EQ(region.status, 0);
        card.store(buffer, word);
        card.post(qp, {.operation = 2,
                       .to_qp = qp.number,
                       .ah = own,
                       .qkey = qkey,
                       .local = {{key, here, 8}},
                       .remote = {region.u32(8), there + 8, 8}});
        return card.wait(cq).status;
    }

    test::scratch_folder folder_;
    test::running_board board_;
};

TEST_F(PeersTest, CardWritesIntoHbmWhereItsHostHasPlacedTheBar) {
    placed_chip chip(board_.socket("chip"));
    ASSERT_TRUE(chip.done()) << board_.output();
    EXPECT_EQ(write_by_rdma(0x0123'4567'89ab'cdef), succeeded);
    EXPECT_EQ(chip.hbm(hbm_page + 8), 0x0123'4567'89ab'cdefu);
}

class RecordedPeersTest : public PeersTest {
protected:
    RecordedPeersTest() : PeersTest("recording") {}
};

TEST_F(RecordedPeersTest, ReplayWritesIntoHbmToo) {
    {
        placed_chip chip(board_.socket("chip"));
        ASSERT_TRUE(chip.done()) << board_.output();
        EXPECT_EQ(write_by_rdma(5), succeeded);
        EXPECT_EQ(chip.hbm(hbm_page + 8), 5u);
    }
    board_.stop();
    const auto replay =
        test::run(std::string(TRNVP_PROGRAM) + " replay " + (folder_ / "recording"));
    EXPECT_EQ(replay.status, 0) << replay.output;
    EXPECT_NE(replay.output.find("as recorded"), std::string::npos) << replay.output;
}

TEST_F(PeersTest, CardDoesNotReachAChipThatAnotherHostHas) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const std::string socket = board_.socket("chip");
    const pid_t other = fork();
    if (other == 0) {
        const placed_chip chip(socket);
        const char done = chip.done() ? 'y' : 'n';
        if (write(ready[1], &done, 1) == 1) pause();
        _exit(1);
    }
    char done = 0;
    ASSERT_EQ(read(ready[0], &done, 1), 1);
    EXPECT_EQ(done, 'y');
    EXPECT_EQ(write_by_rdma(1), remote_bad_address);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    placed_chip chip(socket);
    EXPECT_EQ(chip.hbm(hbm_page + 8), 0u);
}

}  // namespace

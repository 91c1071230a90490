// SPDX-License-Identifier: Apache-2.0
// Misbehaving clients of one chip, while a driver uses the neighbouring chip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/values/pattern.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"

namespace trn::test {
namespace {

using testing::HasSubstr;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum command : u16 { map_dma = 2, unmap_dma = 3, read_region = 9, write_region = 10 };

class ClientsTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(eventually([&] { return raw_peer(chip(1)).connected; })) << log();
        std::array<char, 256> why{};
        trn_transport transport{};
        ASSERT_EQ(
            trn_vfio_user_transport(chip(1).c_str(), nullptr, &transport, why.data(), why.size()),
            0)
            << why.data();
        neighbour_ = std::make_unique<device>(transport);
        neighbour_->check(trn_probe(*neighbour_));
        neighbour_->check(trn_reset_device(*neighbour_));
    }
    void TearDown() override {
        neighbour_works();
        EXPECT_TRUE(platform_.running());
    }

    std::string chip(int n) const { return folder_ / ("chip" + std::to_string(n) + ".sock"); }
    std::string log() const {
        std::ostringstream text;
        text << std::ifstream(scratch_ / "log").rdbuf();
        return text.str();
    }
    /// Checks that the platform logs this message.
    void expect_said(const std::string& sentence) {
        EXPECT_TRUE(eventually([&] { return log().find(sentence) != std::string::npos; }))
            << sentence << "\n"
            << log();
    }
    void neighbour_works() {
        std::vector<std::uint8_t> sent(100'000), back(sent.size());
        pattern(++seed_).fill(sent);
        const auto at = trn_hbm_address(*neighbour_, 2, 64 << 20);
        neighbour_->check(trn_write(*neighbour_, 4, at, sent.data(), sent.size()));
        neighbour_->check(trn_read(*neighbour_, 5, back.data(), at, back.size()));
        EXPECT_EQ(back, sent);
    }
    /// Checks that a driver can attach to chip 0 and copy.
    void next_client_works() {
        std::array<char, 256> why{};
        trn_transport transport{};
        ASSERT_TRUE(eventually([&] {
            return trn_vfio_user_transport(chip(0).c_str(), nullptr, &transport, why.data(),
                                           why.size()) == 0;
        })) << why.data();
        device next(transport);
        next.check(trn_probe(next));
        next.check(trn_reset_device(next));
        next.check(trn_memset(next, 0, trn_hbm_address(next, 0, 64 << 20), 7, 1 << 20));
    }

    scratch_folder scratch_;
    scratch_folder folder_;
    background platform_{
        {TRNVP_PROGRAM, "run", "trn3-chip", "--set", "devices=2", "--listen", folder_.text()},
        scratch_ / "log"};
    std::unique_ptr<device> neighbour_;
    u64 seed_ = 0;
};

/// Shared memory of a raw client.
class memory_file {
public:
    explicit memory_file(off_t size) : fd_(memfd_create("client", MFD_CLOEXEC)) {
        EXPECT_EQ(ftruncate(fd_, size), 0);
    }
    ~memory_file() { close(fd_); }
    operator int() const { return fd_; }

private:
    int fd_;
};

TEST_F(ClientsTest, SecondClientOfAFunctionIsRefusedWithAMessage) {
    raw_peer first(chip(0));
    ASSERT_TRUE(first.hello().ok());
    std::array<char, 256> why{};
    trn_transport transport{};
    EXPECT_NE(trn_vfio_user_transport(chip(0).c_str(), nullptr, &transport, why.data(), why.size()),
              0);
    EXPECT_THAT(why.data(), HasSubstr("chip0"));
    EXPECT_TRUE(first.request(read_region, packed(u64{0}, u32{7}, u32{4})).ok());
    first.hang_up();
    next_client_works();
}

TEST_F(ClientsTest, ClientMayDisconnectWithinAMessage) {
    for (const std::size_t sent : {1u, 15u, 16u, 20u, 31u}) {
        raw_peer peer(chip(0));
        ASSERT_TRUE(peer.hello().ok());
        const auto message =
            packed(u16{9}, u16{read_region}, u32{32}, u32{0}, u32{0}, u64{0}, u32{0}, u32{4});
        ASSERT_TRUE(peer.send_bytes(message.data(), sent));
        peer.hang_up();
        neighbour_works();
    }
    expect_said("chip0: the client closed the connection");
    next_client_works();
}

TEST_F(ClientsTest, InvalidDmaRangesAreRefused) {
    raw_peer peer(chip(0));
    ASSERT_TRUE(peer.hello().ok());
    const memory_file file(1 << 20);
    const auto map = [&](u64 offset, u64 iova, u64 size) {
        return peer.request(map_dma, packed(u32{32}, u32{3}, offset, iova, size), {file}).error;
    };
    EXPECT_EQ(map(0, 0x1000, (1 << 20) + 1), u32{EINVAL});  // larger than the file
    EXPECT_EQ(map(1 << 20, 0x1000, 4096), u32{EINVAL});     // beyond its end
    EXPECT_EQ(map(~u64{0} - 4095, 0x1000, 8192), u32{EINVAL});
    EXPECT_EQ(map(0, ~u64{0} - 4095, 8192), u32{EEXIST});  // wraps around
    EXPECT_EQ(map(0, 0x1000, 0), u32{EINVAL});
    EXPECT_EQ(map(0, 0x10'0000, 1 << 20), 0u);
    EXPECT_EQ(map(0, 0x1f'f000, 4096), u32{EEXIST});  // overlaps the previous mapping
    expect_said(
        "chip0: the client's message DMA_MAP was refused: 1048577 bytes at 0x0 of the file");
    expect_said("4096 bytes at 0x1ff000: empty, wrapping, or overlapping a mapped range");
    peer.hang_up();
    next_client_works();
}

TEST_F(ClientsTest, RangesMayBeUnmappedDuringUse) {
    for (int round = 0; round < 3; ++round) {
        std::array<char, 256> why{};
        trn_transport transport{};
        ASSERT_EQ(
            trn_vfio_user_transport(chip(0).c_str(), nullptr, &transport, why.data(), why.size()),
            0)
            << why.data();
        device victim(transport);
        victim.check(trn_probe(victim));
        victim.check(trn_reset_device(victim));
        trn_buffer buffer{};
        victim.check(trn_buffer_alloc(victim, 64 << 20, &buffer));
        trn_job job = 0;
        victim.check(trn_submit(victim, 0, trn_hbm_address(victim, 0, 64 << 20),
                                trn_buffer_address(victim, &buffer, 0), 64 << 20, &job));
        trn_buffer_free(victim, &buffer);  // unmapped during the copy
        const auto status = trn_wait(victim, job);
        EXPECT_TRUE(status == TRN_ABORTED || status == TRN_OK) << trn_last_error(victim);
        neighbour_works();
    }
    next_client_works();
}

TEST_F(ClientsTest, TruncatedMappedFileAffectsNoOtherClient) {
    raw_peer peer(chip(0));
    ASSERT_TRUE(peer.hello().ok());
    const memory_file file(1 << 20);
    ASSERT_TRUE(
        peer.request(map_dma, packed(u32{32}, u32{3}, u64{0}, u64{0x10'0000}, u64{1 << 20}), {file})
            .ok());
    ASSERT_EQ(ftruncate(file, 0), 0);
    // Enables memory space and bus mastering, then configures a ring of engine 128 queue 5
    // (contract 6.3).
    const auto config = [&](u64 at, u16 value) {
        peer.request(write_region, packed(at, u32{7}, u32{2}, value));
    };
    const auto write = [&](u64 at, u32 value) {
        peer.request(write_region, packed(at, u32{0}, u32{4}, value));
    };
    config(4, 6);
    const u64 m2s = 0x0680'0000 + 0x6000, s2m = m2s + 0x2'0000;
    for (const u64 side : {m2s, s2m}) {
        write(side + 0x28, 0x10'0000);
        write(side + 0x2c, 1u << 14);  // the host window
        write(side + 0x30, 64);
        write(side + 0x20, 0x0303'0000);
    }
    write(s2m + 0x38, 4);
    write(m2s + 0x38, 4);
    EXPECT_TRUE(peer.request(read_region, packed(u64{0}, u32{7}, u32{4})).ok());
    neighbour_works();
    peer.hang_up();
    next_client_works();
}

TEST_F(ClientsTest, GarbageClosesTheConnectionAndTheNextClientWorks) {
    const std::vector<std::uint8_t> noise(3000, 0xa5);
    raw_peer peer(chip(0));
    peer.send_bytes(noise.data(), noise.size());
    EXPECT_TRUE(peer.receive().closed);
    expect_said("chip0: connection closed");
    next_client_works();
}

}  // namespace
}  // namespace trn::test

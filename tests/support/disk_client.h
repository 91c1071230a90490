// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "sw-stubs/transports/vfio_user/vfio_user.h"

namespace trn::test {

/// A driver of one NVMe disk with one I/O queue, which waits for each command.
class disk_client {
public:
    explicit disk_client(const std::string& socket) {
        char why[256] = "";
        EXPECT_EQ(trn_vfio_user_open(socket.c_str(), nullptr, &client_, why, sizeof why), 0) << why;
        const std::uint16_t command = 6;  // memory space, bus mastering
        trn_vfio_user_write(client_, TRN_VFIO_USER_CONFIG, 4, &command, sizeof command);
        EXPECT_EQ(trn_vfio_user_dma_alloc(client_, 1 << 20, base, &ram_), 0);
        set(0x14, 0);
        set(0x24, 15 << 16 | 15);
        set(0x28, base + 0x1000);
        set(0x2c, 0);
        set(0x30, base + 0x2000);
        set(0x34, 0);
        set(0x14, 4 << 20 | 6 << 16 | 1);
        trn_vfio_user_wait(client_, 5'000'000, nullptr);
        EXPECT_EQ(execute(0, {.opcode = 5, .prp = base + 0x4000, .words = {15 << 16 | 1, 1}}), 0);
        EXPECT_EQ(
            execute(0, {.opcode = 1, .prp = base + 0x3000, .words = {15 << 16 | 1, 1 << 16 | 1}}),
            0);
    }
    ~disk_client() { trn_vfio_user_close(client_); }
    disk_client(const disk_client&) = delete;
    disk_client& operator=(const disk_client&) = delete;

    void write_block(std::uint32_t block, std::string_view text) {
        std::memset(at(0x8000), 0, 512);
        std::memcpy(at(0x8000), text.data(), text.size());
        EXPECT_EQ(
            execute(1, {.opcode = 1, .name_space = 1, .prp = base + 0x8000, .words = {block, 0}}),
            0);
    }
    std::string read_block(std::uint32_t block) {
        EXPECT_EQ(
            execute(1, {.opcode = 2, .name_space = 1, .prp = base + 0x8000, .words = {block, 0}}),
            0);
        return reinterpret_cast<const char*>(at(0x8000));
    }
    void flush() { EXPECT_EQ(execute(1, {.opcode = 0, .name_space = 1}), 0); }

private:
    static constexpr std::uint32_t base = 0x1000'0000;
    struct request {
        std::uint32_t opcode = 0, name_space = 0;
        std::uint64_t prp = 0;
        std::array<std::uint32_t, 2> words = {};
    };

    std::uint8_t* at(std::size_t offset) const {
        return static_cast<std::uint8_t*>(ram_.host) + offset;
    }
    void set(std::uint64_t offset, std::uint32_t value) {
        EXPECT_EQ(trn_vfio_user_write32(client_, 0, offset, value), 0);
    }
    int execute(unsigned queue, const request& r) {
        const std::array<std::uint32_t, 16> entry{r.opcode | ++id_ << 16,
                                                  r.name_space,
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  static_cast<std::uint32_t>(r.prp),
                                                  0,
                                                  0,
                                                  0,
                                                  r.words[0],
                                                  r.words[1]};
        std::memcpy(at((queue == 0 ? 0x1000 : 0x3000) + tail_[queue] * 64), entry.data(), 64);
        tail_[queue] = (tail_[queue] + 1) % 16;
        set(0x1000 + 8 * queue, tail_[queue]);
        const auto* flags = at((queue == 0 ? 0x2000 : 0x4000) + head_[queue] % 16 * 16 + 14);
        for (unsigned tries = 0; tries < 1000; ++tries) {
            const unsigned now = flags[0] | flags[1] << 8;
            if ((now & 1) == (head_[queue] / 16 % 2 == 0 ? 1u : 0u)) {
                ++head_[queue];
                set(0x1004 + 8 * queue, head_[queue] % 16);
                return static_cast<int>(now >> 1);
            }
            trn_vfio_user_wait(client_, 20'000, nullptr);
        }
        return -1;
    }

    trn_vfio_user* client_ = nullptr;
    trn_dma_memory ram_{};
    std::uint32_t id_ = 0;
    std::array<unsigned, 2> tail_{}, head_{};
};

}  // namespace trn::test

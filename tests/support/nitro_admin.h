// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace trn::test {

/// A completion of an admin queue (EFA contract 4). Byte offsets count from its start.
struct admin_answer {
    std::uint16_t id = 0;
    std::uint8_t status = 0xff, flags = 0;  // status 0xff: no completion
    std::array<std::uint8_t, 60> rest{};

    std::uint16_t u16(unsigned byte) const { return at<std::uint16_t>(byte); }
    std::uint32_t u32(unsigned byte) const { return at<std::uint32_t>(byte); }
    std::uint64_t u64(unsigned byte) const { return at<std::uint64_t>(byte); }
    template <class T>
    T at(unsigned byte) const {
        T value;
        std::memcpy(&value, rest.data() + byte - 4, sizeof value);
        return value;
    }
};
static_assert(sizeof(admin_answer) == 64);

/// A command of an admin queue.
struct admin_command {
    std::array<std::uint8_t, 64> bytes{};
    explicit admin_command(std::uint8_t opcode) { bytes[2] = opcode; }
    template <class T>
    admin_command& put(unsigned byte, T value) {
        std::memcpy(&bytes[byte], &value, sizeof value);
        return *this;
    }
};

}  // namespace trn::test

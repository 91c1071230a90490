// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "tests/support/cards/card_host.h"

namespace trn::test {

/// A minimal NVMe driver, written from the specification alone: layouts and offsets are literal
/// numbers, so that none are shared with the model.
class disk_host : public card_host {
public:
    struct command {
        std::array<std::uint32_t, 16> words{};

        explicit command(std::uint8_t opcode, std::uint32_t name = 1) {
            words[0] = opcode;
            words[1] = name;
        }
        command& set(unsigned word, std::uint32_t value) {
            words[word] = value;
            return *this;
        }
        command& wide(unsigned word, std::uint64_t value) {
            words[word] = static_cast<std::uint32_t>(value);
            words[word + 1] = static_cast<std::uint32_t>(value >> 32);
            return *this;
        }
        command& prps(std::uint64_t first, std::uint64_t second = 0) {
            return wide(6, first).wide(8, second);
        }
    };
    struct answer {
        std::uint32_t result, reserved;
        std::uint16_t head, queue, id, flags;

        unsigned status() const { return flags >> 1; }
    };
    static_assert(sizeof(answer) == 16);

    /// Enables the controller, with admin queues and one pair of I/O queues.
    void start() {
        set(0x14, 0);
        while ((get(0x1c) & 1) != 0) advance(1);  // waits until it is disabled
        std::memset(bytes(0), 0, 0x10000);
        pairs = {};
        set(0x24, 15 << 16 | 15);
        set(0x28, 0x1000);
        set(0x2c, 0);
        set(0x30, 0x2000);
        set(0x34, 0);
        set(0x14, 4 << 20 | 6 << 16 | 1);
        advance(5000);
        ASSERT_EQ(get(0x1c) & 0x3, 1u);
        ASSERT_EQ(execute(0, command(5, 0).prps(0x4000).set(10, 15 << 16 | 1).set(11, 1 << 16 | 3))
                      .status(),
                  0u);
        ASSERT_EQ(execute(0, command(1, 0).prps(0x3000).set(10, 15 << 16 | 1).set(11, 1 << 16 | 1))
                      .status(),
                  0u);
    }

    /// Writes a command into the submission ring without the doorbell; returns its id.
    std::uint16_t place(unsigned queue, command request) {
        auto& own = pairs[queue];
        const auto id = static_cast<std::uint16_t>(++last_id);
        request.words[0] |= std::uint32_t{id} << 16;
        std::memcpy(bytes((queue == 0 ? 0x1000 : 0x3000) + own.tail * 64u), request.words.data(),
                    64);
        own.tail = (own.tail + 1) % depth;
        return id;
    }
    /// Takes the next completion from the ring, if there is one.
    std::optional<answer> take(unsigned queue) {
        auto& own = pairs[queue];
        answer next;
        std::memcpy(&next, bytes((queue == 0 ? 0x2000 : 0x4000) + own.head * 16u), sizeof next);
        if ((next.flags & 1) != (own.phase ? 1 : 0)) return std::nullopt;
        own.head = (own.head + 1) % depth;
        if (own.head == 0) own.phase = !own.phase;
        return next;
    }
    /// Doorbells: for all commands placed, and for all completions taken.
    void ring_tail(unsigned queue) { set(0x1000 + queue * 8, pairs[queue].tail); }
    void ring_head(unsigned queue) { set(0x1004 + queue * 8, pairs[queue].head); }

    std::uint16_t post(unsigned queue, const command& request) {
        const auto id = place(queue, request);
        ring_tail(queue);
        return id;
    }
    std::optional<answer> poll(unsigned queue) {
        const auto next = take(queue);
        if (next) ring_head(queue);
        return next;
    }
    answer wait(unsigned queue, double microseconds = 20'000) {
        for (double t = 0; t < microseconds; t += 5) {
            if (const auto done = poll(queue)) return *done;
            advance(5);
        }
        ADD_FAILURE() << "no completion";
        return {};
    }
    answer execute(unsigned queue, const command& request) {
        post(queue, request);
        return wait(queue);
    }
    /// A READ (2) or WRITE (1) of `count` blocks; the data is at `address`, in up to two pages.
    static command io(std::uint8_t opcode, std::uint64_t block, std::uint32_t count,
                      std::uint64_t address) {
        return command(opcode)
            .prps(address, (address & ~std::uint64_t{4095}) + 4096)
            .wide(10, block)
            .set(12, count - 1);
    }

    static constexpr unsigned depth = 16;
    struct pair {
        unsigned tail = 0, head = 0;
        bool phase = true;
    };
    std::array<pair, 2> pairs{};
    unsigned last_id = 0;
};

}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ranges>
#include <vector>

#include "tests/support/cards/card_host.h"
#include "tests/support/nitro_admin.h"

namespace trn::test {

/// Offloads requested by a descriptor, and the segment size of its meta descriptor.
struct wanted_offloads {
    bool ip_checksum = false, checksum = false, partial = false, segmentation = false;
    std::uint32_t segment = 0;  // bytes; not 0: a meta descriptor is sent
};

/// A minimal ENA driver: layouts and offsets are literal numbers, so that none are shared with the
/// model.
class network_host : public card_host {
public:
    using bytes_type = std::vector<std::uint8_t>;

    using answer = admin_answer;
    using command = admin_command;
    using wanted = wanted_offloads;

    struct queue {
        std::uint16_t cq = 0, sq = 0;
        std::uint32_t doorbell = 0, unmask = 0;
        std::uint64_t ring = 0, completions = 0;
        unsigned depth = 0, entry = 0;
        std::uint64_t entries = 0;  // offset of the ring in BAR2, of a low latency queue
        bool low_latency = false;
        std::uint16_t posted = 0;
        std::uint32_t taken = 0;  // completions taken
    };
    struct done {
        std::uint16_t request = 0, length = 0;
        bool first = false, last = false;
        std::uint32_t word = 0, hash = 0;  // of a receive completion: word 0, and the hash
    };

    /// Initialises the card as the driver does: from the probe to events.
    void start() {
        free_all();
        posted_ = completed_ = 0;
        set(0x54, 1);
        EXPECT_EQ(get(0x58) & 8, 8u);  // reset in progress: all earlier work has ended
        set(0x60, 0x100);
        set(0x64, 0);
        set(0x54, 0);
        aq_ = allocate(32 * 64);
        acq_ = allocate(32 * 64);
        aenq = allocate(16 * 64);
        set(0x10, static_cast<std::uint32_t>(aq_));
        set(0x14, 0);
        set(0x20, static_cast<std::uint32_t>(acq_));
        set(0x24, 0);
        set(0x18, 32 | 64u << 16);
        set(0x28, 32 | 64u << 16);
        set(0x38, static_cast<std::uint32_t>(aenq));
        set(0x3c, 0);
        set(0x34, 16 | 64u << 16);
        set(0x4c, 0);
        execute(command(9).put<std::uint8_t>(17, 26).put<std::uint32_t>(24, 0x1f));
        set(0x40, 16);
    }
    std::optional<answer> execute(command request) {
        const auto id = static_cast<std::uint16_t>(posted_ & 0xfff);
        std::memcpy(request.bytes.data(), &id, 2);
        request.bytes[3] = static_cast<std::uint8_t>(request.bytes[3] | (posted_ / 32 % 2 == 0));
        std::memcpy(bytes(aq_ + posted_ % 32 * 64), request.bytes.data(), 64);
        set(0x2c, ++posted_ & 0xffff);
        if (!expects_answers) return std::nullopt;
        advance(50);
        const auto address = acq_ + completed_ % 32 * 64;
        const bool there = (load<std::uint8_t>(address + 3) & 1) == (completed_ / 32 % 2 == 0);
        if (!there) {
            ADD_FAILURE() << "no completion";
            return std::nullopt;
        }
        ++completed_;
        return load<answer>(address);
    }
    answer feature(std::uint8_t id) { return execute(command(8).put(17, id)).value_or(answer()); }
    std::uint8_t status_of(const command& request) {
        return execute(request).value_or(answer()).status;
    }

    /// Configures low latency queues: inline headers, entries of 128 bytes, two descriptors before
    /// the header, multiple packets per burst.
    std::uint8_t agree_low_latency(std::uint16_t entry_size = 1) {
        return status_of(command(9)
                             .put<std::uint8_t>(17, 4)
                             .put<std::uint16_t>(30, 1)
                             .put(34, entry_size)
                             .put<std::uint16_t>(38, 2)
                             .put<std::uint16_t>(42, 2)
                             .put<std::uint16_t>(48, 3));
    }
    queue create(bool transmits, unsigned depth, std::uint32_t vector, bool low_latency = false) {
        queue made;
        made.low_latency = low_latency;
        made.depth = depth;
        made.entry = transmits ? 8 : 16;
        made.ring = allocate(depth * 16);
        made.completions = allocate(depth * made.entry);
        const auto cq = execute(command(3)
                                    .put<std::uint8_t>(4, 1 << 5)
                                    .put(5, static_cast<std::uint8_t>(made.entry / 4))
                                    .put(6, static_cast<std::uint16_t>(depth))
                                    .put(8, vector)
                                    .put(12, made.completions));
        if (!cq || cq->status != 0) {
            if (expects_answers) ADD_FAILURE() << "no completion queue";
            return made;
        }
        made.cq = cq->u16(8);
        made.unmask = cq->u32(20);
        const auto sq = execute(create_sq(transmits, made));
        if (!sq || sq->status != 0) {
            if (expects_answers) ADD_FAILURE() << "no submission queue";
            return made;
        }
        made.sq = sq->u16(8);
        made.doorbell = sq->u32(12);
        made.entries = sq->u32(16);
        return made;
    }
    static command create_sq(bool transmits, const queue& queue) {
        return command(1)
            .put<std::uint8_t>(4, transmits ? 1 << 5 : 2 << 5)
            .put<std::uint8_t>(6, queue.low_latency ? 3 : 1)
            .put<std::uint8_t>(7, 1)
            .put(8, queue.cq)
            .put(10, static_cast<std::uint16_t>(queue.depth))
            .put(12, queue.ring);
    }
    static command destroy_sq(bool transmits, const queue& queue) {
        return command(2).put(4, queue.sq).put<std::uint8_t>(6, transmits ? 1 << 5 : 2 << 5);
    }
    static command destroy_cq(const queue& queue) { return command(4).put(4, queue.cq); }
    void unmask(const queue& queue, unsigned rx_delay = 0, unsigned tx_delay = 0) {
        set(queue.unmask, rx_delay | tx_delay << 15 | 1u << 30);
    }

    struct part {
        std::uint64_t address;
        std::uint16_t bytes;
    };
    /// Writes the descriptors of one packet, without the doorbell.
    void describe(queue& queue, std::uint16_t request, const std::vector<part>& parts,
                  const wanted& options = {}) {
        bool first = true;
        if (options.segment != 0) {
            put_descriptor(queue,
                           1u << 14 | options.segment >> 10 << 16 | 1u << 21 | 1u << 23 |
                               phase_of(queue) << 24 | 1u << 26,
                           0, (options.segment & 0x3ff) << 22);
            first = false;
        }
        const std::uint32_t offloads = options.segmentation << 7 | options.ip_checksum << 13 |
                                       options.checksum << 14 | options.partial << 17;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const bool last = i + 1 == parts.size();
            const std::uint32_t id_hi = i == 0 ? request >> 10u : 0,
                                id_lo = i == 0 ? request & 0x3ffu : 0;
            put_descriptor(queue,
                           parts[i].bytes | id_hi << 16 | phase_of(queue) << 24 |
                               std::uint32_t{first} << 26 | std::uint32_t{last} << 27,
                           id_lo << 22 | (i == 0 ? offloads : 0), parts[i].address);
            first = false;
        }
    }
    /// Writes a packet of an inline header and parts to a low latency queue, without the doorbell.
    void describe_in_card(queue& queue, std::uint16_t request, const bytes_type& header,
                          const std::vector<part>& parts, const wanted& options = {}) {
        std::vector<std::array<std::uint32_t, 4>> all;
        if (options.segment != 0)
            all.push_back({1u << 14 | options.segment >> 10 << 16 | 1u << 21 | 1u << 23 | 1u << 26,
                           0, (options.segment & 0x3ff) << 22, 0});
        for (std::size_t i = 0; i < std::max<std::size_t>(parts.size(), 1); ++i) {
            const auto each = i < parts.size() ? parts[i] : part{0, 0};
            all.push_back({each.bytes, 0, static_cast<std::uint32_t>(each.address),
                           static_cast<std::uint32_t>(each.address >> 32)});
            if (i != 0) continue;
            all.back()[0] |= request >> 10u << 16;
            all.back()[1] = (request & 0x3ffu) << 22 | options.segmentation << 7 |
                            options.ip_checksum << 13 | options.checksum << 14 |
                            options.partial << 17;
            all.back()[3] |= static_cast<std::uint32_t>(header.size()) << 24;
        }
        all.back()[0] |= 1u << 27;
        for (std::size_t index = 0; index < all.size();) {
            bytes_type entry(128);
            const std::size_t count = std::min<std::size_t>(index == 0 ? 2 : 8, all.size() - index);
            std::memcpy(entry.data(), &all[index], count * 16);
            if (index == 0) std::ranges::copy(header | std::views::take(96), &entry[32]);
            write_ring(queue.entries + queue.posted % queue.depth * 128, entry);
            index += count;
            ++queue.posted;
        }
    }
    void ring(const queue& queue) { set(queue.doorbell, queue.posted); }
    /// Sends one packet from a contiguous buffer.
    void send(queue& queue, std::uint16_t request, const bytes_type& packet,
              const wanted& options = {}) {
        const auto address = allocate(packet.size());
        std::memcpy(bytes(address), packet.data(), packet.size());
        describe(queue, request, {{address, static_cast<std::uint16_t>(packet.size())}}, options);
        ring(queue);
    }
    /// Posts a receive buffer, without the doorbell.
    void offer(queue& queue, std::uint16_t request, std::uint64_t address, std::uint16_t size) {
        const auto descriptor = queue.ring + queue.posted % queue.depth * 16;
        store<std::uint32_t>(descriptor, size | phase_of(queue) << 24 | 7u << 26);
        store<std::uint32_t>(descriptor + 4, request);
        store<std::uint64_t>(descriptor + 8, address);
        ++queue.posted;
    }
    /// Takes the next completion, if there is one.
    std::optional<done> take(queue& queue) {
        const auto address = queue.completions + queue.taken % queue.depth * queue.entry;
        const std::uint32_t word = load<std::uint32_t>(address);
        if ((word >> 24 & 1) != (queue.taken / queue.depth % 2 == 0)) return std::nullopt;
        ++queue.taken;
        if (queue.entry == 8) return done{.request = static_cast<std::uint16_t>(word)};
        return done{.request = load<std::uint16_t>(address + 6),
                    .length = load<std::uint16_t>(address + 4),
                    .first = (word >> 26 & 1) != 0,
                    .last = (word >> 27 & 1) != 0,
                    .word = word,
                    .hash = load<std::uint32_t>(address + 8)};
    }

    std::uint64_t aenq = 0;

private:
    static std::uint32_t phase_of(const queue& queue) {
        return queue.posted / queue.depth % 2 == 0;
    }
    void put_descriptor(queue& queue, std::uint32_t word0, std::uint32_t word1,
                        std::uint64_t address) {
        const auto descriptor = queue.ring + queue.posted % queue.depth * 16;
        store(descriptor, word0);
        store(descriptor + 4, word1);
        store(descriptor + 8, address);
        ++queue.posted;
    }

    std::uint64_t aq_ = 0, acq_ = 0;
    std::uint32_t posted_ = 0, completed_ = 0;
};

}  // namespace trn::test

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
        const auto at = acq_ + completed_ % 32 * 64;
        const bool there = (load<std::uint8_t>(at + 3) & 1) == (completed_ / 32 % 2 == 0);
        if (!there) {
            ADD_FAILURE() << "no completion";
            return std::nullopt;
        }
        ++completed_;
        return load<answer>(at);
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
    static command create_sq(bool transmits, const queue& of) {
        return command(1)
            .put<std::uint8_t>(4, transmits ? 1 << 5 : 2 << 5)
            .put<std::uint8_t>(6, of.low_latency ? 3 : 1)
            .put<std::uint8_t>(7, 1)
            .put(8, of.cq)
            .put(10, static_cast<std::uint16_t>(of.depth))
            .put(12, of.ring);
    }
    static command destroy_sq(bool transmits, const queue& of) {
        return command(2).put(4, of.sq).put<std::uint8_t>(6, transmits ? 1 << 5 : 2 << 5);
    }
    static command destroy_cq(const queue& of) { return command(4).put(4, of.cq); }
    void unmask(const queue& of, unsigned rx_delay = 0, unsigned tx_delay = 0) {
        set(of.unmask, rx_delay | tx_delay << 15 | 1u << 30);
    }

    struct part {
        std::uint64_t address;
        std::uint16_t bytes;
    };
    /// Writes the descriptors of one packet, without the doorbell.
    void describe(queue& on, std::uint16_t request, const std::vector<part>& parts,
                  const wanted& how = {}) {
        bool first = true;
        if (how.segment != 0) {
            put_descriptor(on,
                           1u << 14 | how.segment >> 10 << 16 | 1u << 21 | 1u << 23 |
                               phase_of(on) << 24 | 1u << 26,
                           0, (how.segment & 0x3ff) << 22);
            first = false;
        }
        const std::uint32_t offloads =
            how.segmentation << 7 | how.ip_checksum << 13 | how.checksum << 14 | how.partial << 17;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const bool last = i + 1 == parts.size();
            const std::uint32_t id_hi = i == 0 ? request >> 10u : 0,
                                id_lo = i == 0 ? request & 0x3ffu : 0;
            put_descriptor(on,
                           parts[i].bytes | id_hi << 16 | phase_of(on) << 24 |
                               std::uint32_t{first} << 26 | std::uint32_t{last} << 27,
                           id_lo << 22 | (i == 0 ? offloads : 0), parts[i].address);
            first = false;
        }
    }
    /// Writes a packet of an inline header and parts to a low latency queue, without the doorbell.
    void describe_in_card(queue& on, std::uint16_t request, const bytes_type& header,
                          const std::vector<part>& parts, const wanted& how = {}) {
        std::vector<std::array<std::uint32_t, 4>> all;
        if (how.segment != 0)
            all.push_back({1u << 14 | how.segment >> 10 << 16 | 1u << 21 | 1u << 23 | 1u << 26, 0,
                           (how.segment & 0x3ff) << 22, 0});
        for (std::size_t i = 0; i < std::max<std::size_t>(parts.size(), 1); ++i) {
            const auto each = i < parts.size() ? parts[i] : part{0, 0};
            all.push_back({each.bytes, 0, static_cast<std::uint32_t>(each.address),
                           static_cast<std::uint32_t>(each.address >> 32)});
            if (i != 0) continue;
            all.back()[0] |= request >> 10u << 16;
            all.back()[1] = (request & 0x3ffu) << 22 | how.segmentation << 7 |
                            how.ip_checksum << 13 | how.checksum << 14 | how.partial << 17;
            all.back()[3] |= static_cast<std::uint32_t>(header.size()) << 24;
        }
        all.back()[0] |= 1u << 27;
        for (std::size_t at = 0; at < all.size();) {
            bytes_type entry(128);
            const std::size_t count = std::min<std::size_t>(at == 0 ? 2 : 8, all.size() - at);
            std::memcpy(entry.data(), &all[at], count * 16);
            if (at == 0) std::ranges::copy(header | std::views::take(96), &entry[32]);
            write_ring(on.entries + on.posted % on.depth * 128, entry);
            at += count;
            ++on.posted;
        }
    }
    void ring(const queue& of) { set(of.doorbell, of.posted); }
    /// Sends one packet from a contiguous buffer.
    void send(queue& on, std::uint16_t request, const bytes_type& packet, const wanted& how = {}) {
        const auto at = allocate(packet.size());
        std::memcpy(bytes(at), packet.data(), packet.size());
        describe(on, request, {{at, static_cast<std::uint16_t>(packet.size())}}, how);
        ring(on);
    }
    /// Posts a receive buffer, without the doorbell.
    void offer(queue& on, std::uint16_t request, std::uint64_t at, std::uint16_t size) {
        const auto to = on.ring + on.posted % on.depth * 16;
        store<std::uint32_t>(to, size | phase_of(on) << 24 | 7u << 26);
        store<std::uint32_t>(to + 4, request);
        store<std::uint64_t>(to + 8, at);
        ++on.posted;
    }
    /// Takes the next completion, if there is one.
    std::optional<done> take(queue& of) {
        const auto at = of.completions + of.taken % of.depth * of.entry;
        const std::uint32_t word = load<std::uint32_t>(at);
        if ((word >> 24 & 1) != (of.taken / of.depth % 2 == 0)) return std::nullopt;
        ++of.taken;
        if (of.entry == 8) return done{.request = static_cast<std::uint16_t>(word)};
        return done{.request = load<std::uint16_t>(at + 6),
                    .length = load<std::uint16_t>(at + 4),
                    .first = (word >> 26 & 1) != 0,
                    .last = (word >> 27 & 1) != 0,
                    .word = word,
                    .hash = load<std::uint32_t>(at + 8)};
    }

    std::uint64_t aenq = 0;

private:
    static std::uint32_t phase_of(const queue& of) { return of.posted / of.depth % 2 == 0; }
    void put_descriptor(queue& on, std::uint32_t word0, std::uint32_t word1,
                        std::uint64_t address) {
        const auto to = on.ring + on.posted % on.depth * 16;
        store(to, word0);
        store(to + 4, word1);
        store(to + 8, address);
        ++on.posted;
    }

    std::uint64_t aq_ = 0, acq_ = 0;
    std::uint32_t posted_ = 0, completed_ = 0;
};

}  // namespace trn::test

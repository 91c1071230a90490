// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/support/cards/card_host.h"
#include "tests/support/nitro_admin.h"

namespace trn::test {

/// A minimal EFA driver and verbs provider, written from the contract alone: layouts and offsets
/// are literal numbers, so that none are shared with the model.
class verbs_host : public card_host {
public:
    using answer = admin_answer;
    using command = admin_command;

    struct completion {
        std::uint16_t request_id;
        std::uint8_t status, flags;
        std::uint16_t qp, length;
        std::uint16_t ah, source_qp;
        std::uint32_t immediate;
        std::uint8_t gid[16];

        bool is_receive() const { return (flags >> 1 & 3) == 2; }
        unsigned operation() const { return flags >> 4 & 7; }
    };
    static_assert(sizeof(completion) == 32);

    struct queue {
        std::uint32_t handle = 0;
        std::uint16_t number = 0;
        std::uint32_t send_bell = 0, receive_bell = 0, ring = 0;
        std::uint64_t receives = 0;
        unsigned depth = 0, request_bytes = 64;
        std::uint16_t posted = 0, receives_posted = 0;
    };
    struct completion_ring {
        std::uint16_t number = 0;
        std::uint64_t base = 0;
        unsigned depth = 0, entry = 32;
        std::uint32_t bell = 0;
        std::uint32_t taken = 0;
    };
    struct element {
        std::uint32_t lkey = 0;
        std::uint64_t address = 0;
        std::uint32_t length = 0;
    };

    /// Drops all state, as when a new driver is loaded; call start() afterwards.
    void forget() {
        free_all();
        response_ = 0;
    }

    // --- Management

    std::uint32_t read(std::uint16_t reg) {
        if (++read_id_ == 0) ++read_id_;  // memory of a response is 0 at first
        const std::uint16_t id = read_id_;
        set(0x5c, id | std::uint32_t{reg} << 16);
        for (int i = 0; i < 100 && load<std::uint16_t>(response_) != id; ++i) advance(0.01);
        EXPECT_EQ(load<std::uint16_t>(response_), id);
        return load<std::uint32_t>(response_ + 4);
    }
    /// Initialises the card as the driver's probe does.
    void start() {
        if (response_ == 0) response_ = allocate(8);
        const auto set_response = [this] {
            set(0x64, 0);
            set(0x60, static_cast<std::uint32_t>(response_));
        };
        set_response();
        EXPECT_EQ(read(0x58) & 1, 1u);
        set(0x54, 1);
        set_response();
        EXPECT_EQ(read(0x58) & 8, 8u);
        set(0x54, 0);
        EXPECT_EQ(read(0x58) & 9, 1u);
        aq_ = allocate(32 * 64);
        acq_ = allocate(32 * 64);
        aenq_ = allocate(16 * 64);
        commands_ = 0;
        set(0x10, static_cast<std::uint32_t>(aq_));
        set(0x14, 0);
        set(0x18, 32 | 64 << 16);
        set(0x20, static_cast<std::uint32_t>(acq_));
        set(0x24, 0);
        set(0x28, 32 | 64 << 16);
        set(0x4c, 0);
        set(0x38, static_cast<std::uint32_t>(aenq_));
        set(0x3c, 0);
        set(0x34, 16 | 64 << 16);
        set(0x40, 0);
    }
    answer execute(command request) {
        const std::uint16_t id = commands_ & 0xfff;
        request.put<std::uint16_t>(0, id);
        request.bytes[3] =
            static_cast<std::uint8_t>((request.bytes[3] & ~1) | (commands_ / 32 % 2 == 0));
        std::memcpy(bytes(aq_ + commands_ % 32 * 64), request.bytes.data(), 64);
        const auto address = acq_ + commands_ % 32 * 64;
        const bool phase = commands_ / 32 % 2 == 0;
        set(0x2c, ++commands_ & 0xffff);
        if (!expects_answers) return {};
        for (int i = 0; i < 20 && (load<answer>(address).flags & 1) != phase; ++i) advance(10);
        const auto done = load<answer>(address);
        EXPECT_EQ(done.flags & 1, phase);
        EXPECT_EQ(done.id, id);
        return done;
    }
    answer feature(std::uint8_t id) { return execute(command(11).put<std::uint8_t>(17, id)); }
    std::array<std::uint8_t, 16> gid() { return feature(3).at<std::array<std::uint8_t, 16>>(8); }

    // --- Objects

    std::uint16_t alloc_pd() { return execute(command(14)).u16(8); }
    std::uint16_t alloc_uar() { return execute(command(16)).u16(8); }
    answer reg_mr_raw(std::uint16_t pd, std::uint64_t start, std::uint64_t length,
                      std::uint8_t access, const std::vector<std::uint64_t>& pages,
                      unsigned shift = 12) {
        command c(7);
        c.put(4, pd).put(40, length).put(48, static_cast<std::uint8_t>(shift)).put(49, access);
        c.put(56, start);  // drivers leave byte 52, the number of pages, at 0
        if (pages.size() <= 4) {
            for (unsigned i = 0; i < pages.size(); ++i) c.put(8 + i * 8, pages[i]);
        } else {
            const auto list = allocate(pages.size() * 8);
            std::memcpy(bytes(list), pages.data(), pages.size() * 8);
            c.bytes[3] = 2;
            c.put(8, static_cast<std::uint32_t>(pages.size() * 8)).put(12, list);
        }
        return execute(c);
    }
    /// Registers memory [at, at + length) at virtual addresses from `start` on; access: 1 local
    /// write, 2 remote write, 4 remote read.
    std::uint32_t reg_mr(std::uint16_t pd, std::uint64_t address, std::uint64_t length,
                         std::uint64_t start, std::uint8_t access = 7) {
        std::vector<std::uint64_t> pages;
        const auto count = (start % 4096 + length + 4095) / 4096;
        for (std::uint64_t i = 0; i < count; ++i)
            pages.push_back(address - start % 4096 + i * 4096);
        const auto done = reg_mr_raw(pd, start, length, access, pages);
        EXPECT_EQ(done.status, 0);
        return done.u32(8);
    }
    /// Allocates a region whose pages are registered later, by work requests.
    std::uint32_t alloc_mr(std::uint16_t pd, std::uint32_t max_pages) {
        const auto done = execute(command(20).put(4, pd).put(8, max_pages));
        EXPECT_EQ(done.status, 0);
        return done.u32(8);
    }
    completion_ring create_cq(std::uint16_t uar, std::uint16_t depth,
                              std::optional<std::uint16_t> eq = {}, bool gids = false) {
        completion_ring made{.base = allocate(depth * 32u), .depth = depth};
        command c(9);
        c.put<std::uint8_t>(4, eq ? 0x20 : 0).put<std::uint8_t>(5, gids ? 0x28 : 8).put(6, depth);
        c.put<std::uint16_t>(8, eq.value_or(0)).put(12, made.base);
        c.put<std::uint16_t>(24, 1).put(26, uar);
        const auto done = execute(c);
        EXPECT_EQ(done.status, 0);
        EXPECT_EQ(done.u16(10), depth);
        made.number = done.u16(8);
        made.bell = done.u32(12);
        return made;
    }
    std::uint16_t create_eq(std::uint16_t depth, std::uint8_t vector, std::uint64_t address) {
        command c(18);
        c.put(4, depth)
            .put(6, vector)
            .put<std::uint8_t>(7, 4)
            .put(8, address)
            .put<std::uint32_t>(16, 1);
        const auto done = execute(c);
        EXPECT_EQ(done.status, 0);
        return done.u16(8);
    }
    std::uint16_t create_ah(std::uint16_t pd, const std::array<std::uint8_t, 16>& gid) {
        const auto done = execute(command(5).put(4, gid).put(20, pd));
        EXPECT_EQ(done.status, 0);
        return done.u16(8);
    }
    static constexpr std::uint8_t ud = 1, srd = 2;
    queue create_qp(std::uint16_t pd, std::uint16_t uar, std::uint8_t type, std::uint16_t send_cq,
                    std::uint16_t receive_cq, unsigned depth = 16, std::uint8_t flags = 0,
                    unsigned request_bytes = 64) {
        queue made{
            .receives = allocate(depth * 16), .depth = depth, .request_bytes = request_bytes};
        command c(1);
        c.put(4, pd).put(6, type).put(7, flags).put(16, made.receives);
        c.put<std::uint32_t>(24, send_cq).put<std::uint32_t>(28, receive_cq);
        c.put<std::uint32_t>(40, depth * request_bytes).put<std::uint32_t>(44, depth);
        c.put<std::uint32_t>(48, depth * 16).put<std::uint32_t>(52, depth).put(56, uar);
        const auto done = execute(c);
        EXPECT_EQ(done.status, 0);
        made.handle = done.u32(8);
        made.number = done.u16(12);
        made.send_bell = done.u32(20);
        made.receive_bell = done.u32(24);
        made.ring = done.u32(28);
        return made;
    }
    answer modify(std::uint32_t handle, std::uint32_t state, std::uint32_t qkey = 0,
                  std::uint8_t retries = 0) {
        command c(2);
        c.put<std::uint32_t>(4, 1 | 4 | 32).put(8, handle).put(12, state).put(20, qkey);
        return execute(c.put(29, retries));
    }
    void to_rts(const queue& queue, std::uint32_t qkey, std::uint8_t retries = 7) {
        for (std::uint32_t state : {1u, 2u, 3u})
            EXPECT_EQ(modify(queue.handle, state, qkey, retries).status, 0);
    }

    // --- Work requests

    struct work {
        std::uint16_t id = 0;
        std::uint8_t operation = 0;  // 0 send, 1 read, 2 write
        std::uint16_t to_qp = 0, ah = 0;
        std::uint32_t qkey = 0;
        std::vector<element> local = {};
        std::vector<std::uint8_t> inlined = {};
        element remote = {};
        std::optional<std::uint32_t> immediate = {};
    };
    void post(queue& queue, const work& request) {
        std::vector<std::uint8_t> words(queue.request_bytes);
        const auto put = [&words](unsigned offset, auto value) {
            std::memcpy(&words[offset], &value, sizeof value);
        };
        const auto put_element = [&put](unsigned offset, const element& e) {
            put(offset, e.length);
            put(offset + 4, e.lkey);
            put(offset + 8, e.address);
        };
        const bool is_inline = !request.inlined.empty();
        put(0, request.id);
        words[2] = static_cast<std::uint8_t>(request.operation | (request.immediate ? 0x10 : 0) |
                                             (is_inline ? 0x20 : 0));
        put(4, request.to_qp);
        put(6,
            static_cast<std::uint16_t>(is_inline ? request.inlined.size() : request.local.size()));
        put(8, request.immediate.value_or(0));
        put(12, request.ah);
        put(16, request.qkey);
        if (request.operation != 0) put_element(32, request.remote);
        if (is_inline) {
            const unsigned begin = request.operation == 0 ? 32 : 48;
            const auto room = std::min<std::size_t>(words.size() - begin, request.inlined.size());
            std::memcpy(&words[begin], request.inlined.data(), room);
        }
        for (unsigned i = 0; i < request.local.size(); ++i)
            put_element(32 + 16 * (i + (request.operation != 0)), request.local[i]);
        post_words(queue, words);
    }
    /// Posts a work request; sets the bits common to all requests.
    void post_words(queue& queue, std::vector<std::uint8_t> words) {
        words.resize(queue.request_bytes);
        words[2] |= 0x80;
        words[3] = static_cast<std::uint8_t>((queue.posted / queue.depth % 2) | 0x1c);
        write_ring(queue.ring + queue.posted % queue.depth * queue.request_bytes, words);
        ++queue.posted;
        set(queue.send_bell, queue.posted);
    }
    /// Registers pages of 4 KiB for an ALLOC_MR region; `list` is the address of the page list, 0
    /// for the single page `page`.
    void post_fast_register(queue& queue, std::uint16_t id, std::uint32_t key, std::uint64_t start,
                            std::uint64_t length, std::uint64_t list, std::uint64_t page = 0) {
        std::vector<std::uint8_t> words(64);
        const auto put = [&words](unsigned offset, auto value) {
            std::memcpy(&words[offset], &value, sizeof value);
        };
        put(0, id);
        words[2] = 3;
        put(32, key);
        words[36] = 7;
        words[37] = static_cast<std::uint8_t>(12 | (list != 0 ? 0x20 : 0));
        put(40, start);
        put(48, length);
        put(56, list != 0 ? list : page);
        post_words(queue, words);
    }
    void post_fast_invalidate(queue& queue, std::uint16_t id, std::uint32_t key) {
        std::vector<std::uint8_t> words(64);
        std::memcpy(&words[0], &id, 2);
        words[2] = 4;
        std::memcpy(&words[32], &key, 4);
        post_words(queue, words);
    }
    void post_receive(queue& queue, std::uint16_t id, const std::vector<element>& elements) {
        for (unsigned i = 0; i < elements.size(); ++i) {
            const auto address = queue.receives + queue.receives_posted % queue.depth * 16;
            store(address, elements[i].address);
            store<std::uint16_t>(address + 8, id);
            store(address + 10, static_cast<std::uint16_t>(elements[i].length));
            store(address + 12, elements[i].lkey | (i == 0 ? 1u << 30 : 0) |
                                    (i + 1 == elements.size() ? 1u << 31 : 0));
            ++queue.receives_posted;
        }
        set(queue.receive_bell, queue.receives_posted);
    }
    std::optional<completion> poll(completion_ring& ring) {
        const auto address = ring.base + ring.taken % ring.depth * ring.entry;
        const auto next = load<completion>(address);
        if ((next.flags & 1) != (ring.taken / ring.depth % 2 == 0)) return std::nullopt;
        ++ring.taken;
        set(ring.bell, ring.taken & 0xffff);
        return next;
    }
    completion wait(completion_ring& ring, double microseconds = 20'000) {
        for (double t = 0; t < microseconds; t += 1) {
            if (const auto done = poll(ring)) return *done;
            advance(1);
        }
        ADD_FAILURE() << "no completion";
        return {};
    }

private:
    std::uint64_t response_ = 0, aq_ = 0, acq_ = 0, aenq_ = 0;
    std::uint32_t commands_ = 0;
    std::uint16_t read_id_ = 0;
};

}  // namespace trn::test

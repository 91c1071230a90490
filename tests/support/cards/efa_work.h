// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "tests/support/cards/verbs_host.h"
#include "tests/support/fuzz.h"

/// Workloads on EFA cards: copies that are verified, and the requests of a hostile host.
namespace trn::test::efa_work {

constexpr std::uint64_t va = 0x10'0000'0000;
constexpr std::uint32_t qkey = 7, bytes = 20'000;

/// One end of the verified copies: queue pair, regions and buffers of a host.
struct copier {
    explicit copier(verbs_host& local, verbs_host& peer) : host(local) {
        pd = local.alloc_pd();
        uar = local.alloc_uar();
        cq = local.create_cq(uar, 64);
        qp = local.create_qp(pd, uar, verbs_host::srd, cq.number, cq.number);
        local.to_rts(qp, qkey);
        ah = local.create_ah(pd, peer.gid());
        buffer = local.allocate(2 * bytes);
        key = local.reg_mr(pd, buffer, 2 * bytes, va);
        list = local.allocate(4096);
        fast_key = local.alloc_mr(pd, fast_pages);
    }
    static constexpr std::uint32_t fast_pages = 4;
    verbs_host& host;
    std::uint16_t pd = 0, uar = 0, ah = 0;
    verbs_host::completion_ring cq;
    verbs_host::queue qp;
    std::uint64_t buffer = 0;
    std::uint32_t key = 0;
    std::uint64_t list = 0;      // a page of page addresses
    std::uint32_t fast_key = 0;  // of a region registered without pages
};

/// Writes to the peer, reads the data back, and compares.
inline void copy_and_compare(copier& sender, const copier& receiver, fuzz_random& random) {
    auto* const data = sender.host.bytes(sender.buffer);
    for (std::uint32_t i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>(random.next());
    for (const std::uint8_t operation : {std::uint8_t{2}, std::uint8_t{1}}) {
        const std::uint64_t local = operation == 2 ? va : va + bytes;
        sender.host.post(sender.qp, {.id = operation,
                                     .operation = operation,
                                     .to_qp = receiver.qp.number,
                                     .ah = sender.ah,
                                     .qkey = qkey,
                                     .local = {{sender.key, local, bytes}},
                                     .remote = {receiver.key, va, bytes}});
        const auto done = sender.host.wait(sender.cq);
        require(done.status == 0 && done.request_id == operation, "a copy has failed");
    }
    require(std::equal(data, data + bytes, data + bytes), "a copy is wrong");
}

/// A value that is often valid in commands and work requests.
inline std::uint64_t some_value(fuzz_random& random) {
    switch (random.below(6)) {
    case 0:
        return random.next();
    case 1:
        return std::uint64_t{1} << random.below(64);
    case 2:
        return random.below(1 << 26) & ~std::uint64_t{4095};  // a page of the host
    case 3:
        return ~std::uint64_t{0} >> random.below(64);
    default:
        return random.below(20);
    }
}

/// A page list of up to three levels whose pages refer to each other or to nothing.
inline void some_list(verbs_host& card, verbs_host::command& c, fuzz_random& random) {
    constexpr std::uint64_t lists = 0x200'0000, pages = 16;
    const auto page = [&] {
        return random.below(8) == 0 ? some_value(random) : lists + random.below(pages) * 4096;
    };
    for (unsigned i = 0; i < 16; ++i)
        card.store<std::uint64_t>(lists + random.below(pages * 512) * 8, page());
    const auto chunk = lists + random.below(pages) * 4096;
    card.store(chunk + 4080, static_cast<std::uint32_t>(some_value(random)));
    card.store<std::uint64_t>(chunk + 4084, page());
    c.bytes[3] = static_cast<std::uint8_t>(random.below(2) == 0 ? 2 : 6);
    c.put(8, static_cast<std::uint32_t>(some_value(random))).put(12, page());
    c.put(40, random.below(std::size_t{1} << (12 + random.below(22))));
}

inline void some_command(verbs_host& card, fuzz_random& random) {
    verbs_host::command c(static_cast<std::uint8_t>(random.below(16) == 0 ? random.below(256)
                                                                          : 1 + random.below(20)));
    c.bytes[3] = static_cast<std::uint8_t>(random.below(4) << 1);
    for (unsigned offset = 4; offset + 8 <= 64; offset += 4)
        if (random.below(3) != 0) c.put(offset, static_cast<std::uint32_t>(some_value(random)));
    for (auto n = random.below(4); n > 0; --n)
        c.put(static_cast<unsigned>(4 + random.below(7) * 8), some_value(random));
    if (c.bytes[2] == 7 && random.below(2) == 0) {  // often a valid region
        c.put<std::uint16_t>(4, static_cast<std::uint16_t>(random.below(3)));
        c.put(40, random.below(1 << 24)).put<std::uint8_t>(48, static_cast<std::uint8_t>(12));
        c.put<std::uint8_t>(49, static_cast<std::uint8_t>(random.below(8)));
        c.put(12, random.below(1 << 26)).put(56, some_value(random));
        if (random.below(2) == 0) some_list(card, c, random);
    }
    if (random.below(8) != 0)
        card.execute(c);
    else
        card.set(0x2c, static_cast<std::uint32_t>(random.next()));
}

/// Registers pages of the copier's buffer for the ALLOC_MR region, with few invalid fields, or
/// invalidates them.
inline void some_registration(copier& owner, fuzz_random& random) {
    const auto wild = [&](auto value) {
        return random.below(8) == 0 ? static_cast<decltype(value)>(some_value(random)) : value;
    };
    const auto page = [&] { return wild(owner.buffer + random.below(4) * 4096); };
    const std::uint32_t key = wild(owner.fast_key);
    if (random.below(3) == 0) return owner.host.post_fast_invalidate(owner.qp, 9, key);
    // May exceed the maximum by one.
    const std::uint64_t pages = 1 + random.below(copier::fast_pages + 1);
    for (std::uint64_t i = 0; i < pages; ++i) owner.host.store(owner.list + 8 * i, page());
    const bool by_list = pages > 1 || random.below(2) == 0;
    owner.host.post_fast_register(owner.qp, 9, key, wild(va), wild(pages * 4096),
                                  by_list ? wild(owner.list) : 0, page());
}

/// Posts a work request or a receive with mostly valid fields to an existing queue pair.
inline void some_work(copier& owner, const copier& peer, std::uint16_t ah, fuzz_random& random) {
    const auto wild = [&](auto value) {
        return random.below(8) == 0 ? static_cast<decltype(value)>(some_value(random)) : value;
    };
    const auto element = [&](std::uint32_t key) {
        return verbs_host::element{wild(key), wild(va + random.below(bytes)),
                                   wild(static_cast<std::uint32_t>(random.below(9000)))};
    };
    const auto own_key = [&] { return random.below(4) == 0 ? owner.fast_key : owner.key; };
    if (random.below(8) == 0) return some_registration(owner, random);
    if (random.below(3) == 0) {
        std::vector<verbs_host::element> elements{element(own_key())};
        if (random.below(2) == 0) elements.push_back(element(own_key()));
        return owner.host.post_receive(owner.qp, 5, elements);
    }
    verbs_host::work request{.id = 9,
                             .operation = static_cast<std::uint8_t>(random.below(5)),
                             .to_qp = wild(random.below(2) == 0 ? peer.qp.number : owner.qp.number),
                             .ah = wild(ah),
                             .qkey = wild(qkey),
                             .local = {element(own_key())},
                             .remote = element(random.below(4) == 0 ? peer.fast_key : peer.key)};
    request.remote.length = wild(request.local[0].length);
    if (random.below(4) == 0) request.immediate = 1;
    if (random.below(4) == 0) request.inlined.assign(1 + random.below(32), 3);
    owner.host.post(owner.qp, request);
    if (random.below(8) == 0)  // the producer index leaves the ring or steps back
        owner.host.set(random.below(2) == 0 ? owner.qp.send_bell : owner.qp.receive_bell,
                       static_cast<std::uint32_t>(some_value(random)));
}

/// Writes random bytes anywhere in the send rings, and random doorbells.
inline void some_noise(verbs_host& card, fuzz_random& random) {
    std::vector<std::uint8_t> noise(64);
    for (auto& each : noise) each = static_cast<std::uint8_t>(random.next());
    card.write_ring(random.below(1 << 20) & ~std::size_t{63}, noise);
    card.set(0x1000 + random.below(2048) * 4, static_cast<std::uint32_t>(random.next()));
    if (random.below(4) == 0) {
        constexpr std::uint32_t registers[] = {0x10, 0x14, 0x18, 0x20, 0x24, 0x28, 0x34, 0x38,
                                               0x3c, 0x40, 0x4c, 0x5c, 0x60, 0x64, 0x68};
        card.set(registers[random.below(std::size(registers))],
                 static_cast<std::uint32_t>(some_value(random)));
    }
}

}  // namespace trn::test::efa_work

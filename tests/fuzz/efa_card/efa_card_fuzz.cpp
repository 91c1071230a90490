// SPDX-License-Identifier: Apache-2.0
// A hostile host: arbitrary admin commands, page lists, work requests, receives, doorbells and
// register writes on one EFA card, while two other cards of the fabric keep copying. The copies
// stay right, and after each reset the hostile card works as at first.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "models/ethernet_fabric/ethernet_fabric.h"
#include "platform/framework/log.h"
#include "tests/support/fuzz.h"
#include "tests/unit/efa_card/verbs_driver.h"

namespace {

using namespace trn;
using test::fuzz_random;
using test::verbs_driver;

constexpr std::uint64_t va = 0x10'0000'0000;
constexpr std::uint32_t qkey = 7, bytes = 20'000;

void require(bool held, const char* what) {
    if (held) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

/// A program that copies, with memory of its own.
struct copier {
    explicit copier(verbs_driver& on, verbs_driver& peer) : host(on) {
        pd = on.alloc_pd();
        uar = on.alloc_uar();
        cq = on.create_cq(uar, 64);
        qp = on.create_qp(pd, uar, verbs_driver::srd, cq.number, cq.number);
        on.to_rts(qp, qkey);
        ah = on.create_ah(pd, peer.gid());
        buffer = on.allocate(2 * bytes);
        key = on.reg_mr(pd, buffer, 2 * bytes, va);
    }
    verbs_driver& host;
    std::uint16_t pd = 0, uar = 0, ah = 0;
    verbs_driver::completion_ring cq;
    verbs_driver::queue qp;
    std::uint64_t buffer = 0;
    std::uint32_t key = 0;
};

/// Writes to the other side, reads it back, and compares.
void copy_and_compare(copier& from, const copier& to, fuzz_random& random) {
    auto* const data = from.host.bytes(from.buffer);
    for (std::uint32_t i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>(random.next());
    for (const std::uint8_t operation : {std::uint8_t{2}, std::uint8_t{1}}) {
        const std::uint64_t local = operation == 2 ? va : va + bytes;
        from.host.post(from.qp, {.id = operation,
                                 .operation = operation,
                                 .to_qp = to.qp.number,
                                 .ah = from.ah,
                                 .qkey = qkey,
                                 .local = {{from.key, local, bytes}},
                                 .remote = {to.key, va, bytes}});
        const auto done = from.host.wait(from.cq);
        require(done.status == 0 && done.request_id == operation, "a copy has failed");
    }
    require(std::equal(data, data + bytes, data + bytes), "a copy is wrong");
}

/// A value that commands and work requests mostly understand.
std::uint64_t some_value(fuzz_random& random) {
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

void some_command(verbs_driver& card, fuzz_random& random) {
    verbs_driver::command c(static_cast<std::uint8_t>(
        random.below(16) == 0 ? random.below(256) : 1 + random.below(20)));
    c.bytes[3] = static_cast<std::uint8_t>(random.below(4) << 1);
    for (unsigned at = 4; at + 8 <= 64; at += 4)
        if (random.below(3) != 0) c.put(at, static_cast<std::uint32_t>(some_value(random)));
    for (auto n = random.below(4); n > 0; --n)
        c.put(static_cast<unsigned>(4 + random.below(7) * 8), some_value(random));
    if (c.bytes[2] == 7 && random.below(2) == 0) {  // a region that has a chance
        c.put<std::uint16_t>(4, static_cast<std::uint16_t>(random.below(3)));
        c.put(40, random.below(1 << 24)).put<std::uint8_t>(48, static_cast<std::uint8_t>(12));
        c.put<std::uint8_t>(49, static_cast<std::uint8_t>(random.below(8)));
        c.put(12, random.below(1 << 26)).put(56, some_value(random));
    }
    if (random.below(8) != 0)
        card.execute(c);
    else
        card.set(0x2c, static_cast<std::uint32_t>(random.next()));
}

/// A work request or a receive of nearly valid fields, in the ring of an existing queue pair.
void some_work(copier& on, const copier& peer, std::uint16_t ah, fuzz_random& random) {
    const auto wild = [&](auto value) {
        return random.below(8) == 0 ? static_cast<decltype(value)>(some_value(random)) : value;
    };
    const auto element = [&](std::uint32_t key) {
        return verbs_driver::element{wild(key), wild(va + random.below(bytes)),
                                     wild(static_cast<std::uint32_t>(random.below(9000)))};
    };
    if (random.below(3) == 0) {
        std::vector<verbs_driver::element> to{element(on.key)};
        if (random.below(2) == 0) to.push_back(element(on.key));
        return on.host.post_receive(on.qp, 5, to);
    }
    verbs_driver::work what{.id = 9,
                            .operation = static_cast<std::uint8_t>(random.below(5)),
                            .to_qp = wild(random.below(2) == 0 ? peer.qp.number : on.qp.number),
                            .ah = wild(ah),
                            .qkey = wild(qkey),
                            .local = {element(on.key)},
                            .remote = element(peer.key)};
    what.remote.length = wild(what.local[0].length);
    if (random.below(4) == 0) what.immediate = 1;
    if (random.below(4) == 0) what.inlined.assign(1 + random.below(32), 3);
    on.host.post(on.qp, what);
}

/// Any bytes in any place of the send rings, and any doorbell.
void some_noise(verbs_driver& card, fuzz_random& random) {
    std::vector<std::uint8_t> noise(64);
    for (auto& each : noise) each = static_cast<std::uint8_t>(random.next());
    card.bar2.write_bytes(random.below(1 << 20) & ~std::size_t{63}, noise);
    card.set(0x1000 + random.below(2048) * 4, static_cast<std::uint32_t>(random.next()));
    if (random.below(4) == 0) {
        constexpr std::uint32_t registers[] = {0x10, 0x14, 0x18, 0x20, 0x24, 0x28, 0x34, 0x38,
                                               0x3c, 0x40, 0x4c, 0x5c, 0x60, 0x64, 0x68};
        card.bar0.write(registers[random.below(std::size(registers))],
                        static_cast<std::uint32_t>(some_value(random)));
    }
}

}  // namespace

int sc_main(int argc, char** argv) {
    log::replace_sink({});
    const efa_card::config cfg{.keep_alive = sc_core::SC_ZERO_TIME};
    verbs_driver hostile("hostile", cfg), b("b", cfg), c("c", cfg);
    ethernet_fabric net("net", {.ports = 3});
    net.port[0].join(hostile.card.net);
    net.port[1].join(b.card.net);
    net.port[2].join(c.card.net);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    b.start();
    c.start();
    copier left(b, c), right(c, b);
    hostile.expects_answers = false;
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        hostile.forget();
        hostile.start();
        copier own(hostile, hostile);
        const std::uint16_t to_victim = hostile.create_ah(own.pd, b.gid());
        copy_and_compare(own, own, random);
        for (auto n = 5 + random.below(60); n > 0; --n) {
            switch (random.below(4)) {
            case 0:
                some_noise(hostile, random);
                break;
            case 1:
                some_command(hostile, random);
                break;
            default:
                if (random.below(2) == 0)
                    some_work(own, own, own.ah, random);
                else
                    some_work(own, left, to_victim, random);
            }
            if (random.below(8) == 0) verbs_driver::run(static_cast<double>(1 + random.below(300)));
        }
        copy_and_compare(left, right, random);
        copy_and_compare(right, left, random);
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

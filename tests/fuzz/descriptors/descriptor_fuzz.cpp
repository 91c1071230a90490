// SPDX-License-Identifier: Apache-2.0
// Arbitrary descriptors, rings, doorbells and registers: the engines become idle after any input,
// and after a reset the next copy is correct.
#include "models/dma/udma/dma_descriptor_regs.h"
#include "models/misuse_rules.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/fuzz.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace {

using namespace trn;
using test::dma_bench;
using test::fuzz_random;

constexpr unsigned engines = 4, queues = 4;
constexpr std::uint64_t far = 0x5'0000'0000;  // used only by the copy that must be correct

std::uint64_t some_address(dma_bench& bench, fuzz_random& random) {
    const std::uint64_t bases[] = {0,
                                   0x1000'0000,
                                   dma_bench::ring_at,
                                   (36ull << 30) - 4096,
                                   dma_bench::host_at,
                                   dma_bench::message_at,
                                   dma_bench::semaphores_at,
                                   dma_bench::semaphores_at + 0x1800,
                                   bench.address(udma_regs::reg::m2s_q_tail_increment),
                                   bench.address(udma_regs::reg::m2s_q_sw_control),
                                   random.next()};
    const std::uint64_t base = bases[random.below(std::size(bases))];
    return random.below(4) == 0 ? base + random.below(1 << 20) : base + random.below(64) * 4;
}

void write_some_register(dma_bench& bench, fuzz_random& random) {
    const auto engine = random.below(engines) * bench.dma.settings().stride;
    const auto offset = random.below(8) == 0
                            ? random.below(0x42000)
                            : udma_regs::rows[random.below(udma_regs::rows.size())].element(0) +
                                  random.below(queues) * 0x1000;
    const auto value = static_cast<std::uint32_t>(
        random.below(2) == 0 ? random.next() : std::uint64_t{1} << random.below(32));
    const std::uint64_t address = dma_bench::registers_at + engine + (offset & ~3ull);
    if (random.below(3) == 0)
        bench.cpu.read(address);
    else
        bench.cpu.write(address, value);
}

void post_some_descriptors(dma_bench& bench, fuzz_random& random) {
    const auto e = static_cast<unsigned>(random.below(engines));
    const auto q = static_cast<unsigned>(random.below(queues));
    const auto count = static_cast<std::uint32_t>(1 + random.below(12));
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto length = static_cast<std::uint32_t>(random.below(4) == 0 ? random.below(65536)
                                                                            : random.below(64));
        const std::uint32_t flags = random.below(4) == 0 ? static_cast<std::uint32_t>(random.next())
                                                         : dma_bench::first | dma_bench::last;
        bench.put(test::m2s, some_address(bench, random), length, flags, q, e);
        bench.put(test::s2m, some_address(bench, random),
                  random.below(4) == 0 ? length + 1 : length, flags & (1u << 28), q, e);
    }
    const auto posted = random.below(16) == 0 ? static_cast<std::uint32_t>(random.next()) : count;
    bench.doorbell(test::s2m, posted, q, e);
    bench.doorbell(test::m2s, posted, q, e);
}

/// A compute packet with mostly valid words, so that it reaches later checks too.
void post_some_compute(dma_bench& bench, fuzz_random& random) {
    namespace op = dma_descriptor_regs::compute_operation;
    const auto e = static_cast<unsigned>(random.below(engines));
    const auto q = static_cast<unsigned>(random.below(queues));
    const auto wild = [&] { return random.below(16) == 0; };
    const auto operands = wild() ? random.below(32) : 1 + random.below(random.below(2) * 3 + 1);
    const auto type = random.below(wild() ? 16 : 14);
    std::uint64_t word = op::operation.set(0, random.below(wild() ? 16 : 9));
    word = op::from.set(op::to.set(word, random.below(2) == 0 ? type : random.below(14)), type);
    word = op::operands.set(word, operands);
    if (random.below(3) == 0) word |= random.next() & (0x1full << 17);
    if (wild()) word ^= 1ull << random.below(32);
    const std::uint64_t parameter =
        random.below(2) == 0 ? random.below(9) << 16 | random.below(9) : random.next() >> 32;
    const auto length = static_cast<std::uint32_t>(
        wild() ? random.below(65536) : (1 + random.below(16)) * (1u << random.below(8)));
    bench.put(test::m2s, word | parameter << 32, wild() ? 1 : 0, dma_bench::first, q, e,
              0x01080003 | 1u << 20);
    std::uint32_t sources = 1;
    if (op::operation.get(word) == op::operation_scaled_add)
        for (std::uint64_t n = 0; n < operands; n += 2, ++sources)
            bench.put(test::m2s, random.next(), 0, 0, q, e, 0x01080003 | 2u << 20);
    const auto pieces = operands == 0 ? 1 : operands + (random.below(3) == 0 ? 1 : 0);
    for (std::uint64_t n = 0; n < pieces; ++n, ++sources)
        bench.put(test::m2s, some_address(bench, random), length + (wild() ? 1 : 0),
                  n + 1 == pieces && !wild() ? dma_bench::last : 0, q, e);
    std::uint32_t destinations = 0;
    for (std::uint64_t n = 1 + random.below(2); n > 0; --n, ++destinations)
        bench.put(test::s2m, some_address(bench, random),
                  random.below(2) == 0 ? length : static_cast<std::uint32_t>(1 + random.below(64)),
                  0, q, e);
    bench.doorbell(test::s2m, destinations, q, e);
    bench.doorbell(test::m2s, sources, q, e);
}

/// Recovers as a driver does; the next copy must be correct.
void reset_and_copy(dma_bench& bench, fuzz_random& random) {
    for (auto& line : bench.reset_lines) line.set(true);
    for (auto& line : bench.reset_lines) line.set(false);
    for (unsigned e = 0; e < engines; ++e) {
        for (unsigned q = 0; q < queues; ++q) bench.init_queue(q, 32, e);
    }
    const auto e = static_cast<unsigned>(random.below(engines));
    const auto seed = static_cast<std::uint8_t>(random.next());
    bench.fill(far, 300, seed);
    bench.put_copy(far, far + 0x100000, 300, 0, e);
    bench.ring_both(1, 0, e);
    dma_bench::run(20'000);
    if (!bench.filled(far + 0x100000, 300, seed)) {
        std::fprintf(stderr, "the copy after the reset is wrong\n");
        std::abort();
    }
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    log::replace_sink({});
    misuse::set_policy_of_all(misuse::policy::count);
    dma_bench bench;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        set_timing(random.below(2) == 0 ? timing_mode::functional : timing_mode::contended);
        reset_and_copy(bench, random);
        for (auto n = 2 + random.below(20); n > 0; --n) {
            switch (random.below(8)) {
            case 0:
            case 1:
                write_some_register(bench, random);
                break;
            case 2:
                dma_bench::run(static_cast<double>(1 + random.below(5000)));
                bench.messages.answer();
                break;
            case 3:
            case 4:
                post_some_compute(bench, random);
                break;
            default:
                post_some_descriptors(bench, random);
            }
        }
        for (int i = 0; i < 20; ++i) {
            dma_bench::run(5'000);
            bench.messages.answer();
        }
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
// Throughput of copies through a descriptor ring, compared with memcpy of the same blocks.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "models/dma/udma/dma_descriptor_regs.h"
#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/bench/rows.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace {

using namespace trn;
using test::dma_bench;

constexpr std::uint64_t from = 0x1000'0000, to = 0x2000'0000, other = 0x3000'0000;
constexpr std::uint32_t ring_length = 8192;

/// Configures a queue, and writes its rings and sources: all unwritten pages are the host's zero
/// page, which would stay in its caches. Descriptors are stored without transactions, as by a
/// driver that has mapped its rings.
void prepare(dma_bench& bench) {
    bench.init_queue(0, ring_length);
    bench.rings_are_mapped = true;
    bench.fill(dma_bench::ring_at, 2 << 20, 0);
    bench.fill(from, 64 << 20, 1);
    bench.fill(other, 1 << 20, 2);
}

/// Posts `count` copies of `length` bytes and simulates until they complete. The working set is
/// count * length bytes per side, as for memcpy.
void copy_by_ring(dma_bench& bench, std::uint32_t count, std::uint32_t length) {
    for (std::uint32_t i = 0; i < count; ++i)
        bench.put_copy(from + std::uint64_t{i} * length, to + std::uint64_t{i} * length, length);
    bench.ring_both(count);
    while (bench.dma.busy()) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
}

void copy_by_memcpy(dma_bench& bench, std::uint32_t count, std::uint32_t length) {
    for (std::uint32_t i = 0; i < count; ++i)
        std::memcpy(bench.at(to + std::uint64_t{i} * length),
                    bench.at(from + std::uint64_t{i} * length), length);
}

/// The goal: at least this part of the peer's value.
void set_goal(test::bench_row& row, std::optional<double> least) {
    if (!least) return;
    row.goal = fmt::format("at least {} of {}", *least, row.peer);
    row.met = row.value >= *least * *row.peer_value;
}

test::bench_row bandwidth(dma_bench& bench, const std::string& name, std::uint32_t count,
                          std::uint32_t length, std::optional<double> least) {
    const std::size_t bytes = std::size_t{count} * length;
    copy_by_memcpy(bench, count, length);  // touches the pages
    // Alternates: newly mapped memory becomes faster with use.
    std::vector<double> by_ring, by_memcpy;
    for (int round = 0; round < 7; ++round) {
        by_ring.push_back(
            test::nanoseconds_once(bytes, [&] { copy_by_ring(bench, count, length); }));
        by_memcpy.push_back(
            test::nanoseconds_once(bytes, [&] { copy_by_memcpy(bench, count, length); }));
    }
    const double ring = test::median(by_ring), plain = test::median(by_memcpy);
    test::bench_row row{name, 1 / ring, "GB/s"};
    row.peer = "memcpy";
    row.peer_value = 1 / plain;
    set_goal(row, least);
    return row;
}

/// Posts sums of `count` pairs of 64 KiB of BF16 and simulates until they complete.
void add_by_ring(dma_bench& bench, std::uint32_t count) {
    namespace op = dma_descriptor_regs::compute_operation;
    constexpr std::uint32_t length = 65536, compute = 0x01080003 | 1u << 20;
    const std::uint64_t word = op::operation.set(0, op::operation_add) |
                               op::from.set(0, op::from_bf16) | op::to.set(0, op::from_bf16) |
                               op::operands.set(0, 2);
    for (std::uint64_t i = 0; i < count; ++i) {
        bench.put(test::m2s, word, 0, dma_bench::first, 0, 0, compute);
        bench.put(test::m2s, from + i * length, length, 0);
        bench.put(test::m2s, other + i * length, length, dma_bench::last);
        bench.put(test::s2m, to + i * length, length, 0);
    }
    bench.doorbell(test::s2m, count);
    bench.doorbell(test::m2s, count * 3);
    while (bench.dma.busy()) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
}

test::bench_row sums(dma_bench& bench, const std::string& name) {
    constexpr std::size_t bytes = 1 << 20;
    std::vector<double> by_ring, by_memcpy;
    for (int round = 0; round < 15; ++round) {
        by_ring.push_back(test::nanoseconds_once(bytes, [&] { add_by_ring(bench, 16); }));
        by_memcpy.push_back(
            test::nanoseconds_once(bytes, [&] { copy_by_memcpy(bench, 16, 65536); }));
    }
    test::bench_row row{name, 1 / test::median(by_ring), "GB/s"};
    row.peer = "memcpy";
    row.peer_value = 1 / test::median(by_memcpy);
    set_goal(row, 0.3);
    return row;
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    dma_bench bench;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    prepare(bench);
    std::vector<test::bench_row> rows;
    for (const auto mode : {timing_mode::functional, timing_mode::contended}) {
        set_timing(mode);
        const std::string suffix = mode == timing_mode::functional ? ", functional" : ", contended";
        const bool functional = mode == timing_mode::functional;
        const std::optional<double> large = functional ? std::optional(0.6) : std::nullopt;
        rows.push_back(
            bandwidth(bench, "ring copy, 64 KiB descriptors, 64 MiB" + suffix, 1024, 65536, large));
        rows.push_back(
            bandwidth(bench, "ring copy, 64 KiB descriptors, 1 MiB" + suffix, 16, 65536, large));
        rows.push_back(
            bandwidth(bench, "ring copy, 4 KiB descriptors, 4 MiB" + suffix, 1024, 4096, 0.5));
        rows.push_back(sums(bench, "BF16 sum of two buffers of 1 MiB into a third" + suffix));
        const double each = test::nanoseconds_each(4096, [&] { copy_by_ring(bench, 4096, 64); });
        rows.push_back({"64-byte descriptor, posted and done" + suffix, each, "ns"});
    }
    return test::report(rows, argc, argv);
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

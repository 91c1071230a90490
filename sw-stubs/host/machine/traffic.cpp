// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/machine/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace trn {

namespace {

constexpr std::uint32_t first_ring_id = 1;  // of a queue after trn_ring_init
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t min_poll_interval_ns = 100;
constexpr std::uint64_t polls_per_duration = 128;  // polls after each 1/128 of the time so far
constexpr std::uint64_t slowest_bytes_per_ns = 1;  // far below the rate of any path
constexpr std::uint64_t margin_ns = 20'000'000;    // added to the expected time

}  // namespace

traffic::traffic(device& chip, const std::vector<stream>& streams, std::uint32_t descriptor)
    : chip_(chip) {
    for (const auto& wanted : streams) add(wanted, descriptor);
    place_rings();
    write_rings();
}

traffic::~traffic() {
    for (const auto& lane : lanes_) trn_ring_release(chip_, lane.engine, queue);
}

void traffic::add(const stream& wanted, std::uint32_t descriptor) {
    lane& made = lanes_.emplace_back();
    made.engine = wanted.engine;
    for (const auto& part : wanted.segments) {
        bytes_ += part.bytes;
        const auto span = part.wrap ? part.wrap : part.bytes;
        for (std::uint64_t done = 0; done < part.bytes;) {
            const auto offset = done % span;
            const auto length = static_cast<std::uint32_t>(
                std::min({std::uint64_t{descriptor}, part.bytes - done, span - offset}));
            made.m2s.push_back(trn_m2s_descriptor(part.source + offset, length, first_ring_id, 0));
            made.s2m.push_back(
                trn_s2m_descriptor(part.destination + offset, length, first_ring_id, 0));
            done += length;
        }
    }
}

/// Each ring has a spare entry, so that it is never full.
void traffic::place_rings() {
    ring_bytes_ = page;
    for (auto& lane : lanes_) {
        const auto entries = static_cast<std::uint32_t>(lane.m2s.size()) + 2;
        lane.length = std::max(32u, (entries + 15) / 16 * 16);
        lane.m2s_at = ring_bytes_;
        lane.s2m_at = lane.m2s_at + lane.length * sizeof(trn_descriptor);
        ring_bytes_ = lane.s2m_at + lane.length * sizeof(trn_descriptor);
    }
    memory_ = std::make_unique<host_buffer>(chip_, ring_bytes_);
}

void traffic::write_rings() {
    word(0) = 1;
    std::vector<trn_ring_request> requests;
    for (std::size_t n = 0; n < lanes_.size(); ++n) {
        auto& lane = lanes_[n];
        // The marker comes last, with a write barrier: all earlier writes are complete.
        const auto marker = memory_->address() + (n + 1) * sizeof(std::uint32_t);
        lane.m2s.push_back(trn_m2s_descriptor(memory_->address(), sizeof(std::uint32_t),
                                              first_ring_id, TRN_WRITE_BARRIER));
        lane.s2m.push_back(
            trn_s2m_descriptor(marker, sizeof(std::uint32_t), first_ring_id, TRN_STRONG_ORDER));
        const auto put = [&](std::uint64_t offset, const std::vector<trn_descriptor>& ring) {
            std::memcpy(memory_->bytes().data() + offset, ring.data(),
                        ring.size() * sizeof(trn_descriptor));
        };
        put(lane.m2s_at, lane.m2s);
        put(lane.s2m_at, lane.s2m);
        requests.push_back({lane.engine, queue, memory_->address() + lane.m2s_at, lane.length,
                            memory_->address() + lane.s2m_at, lane.length});
    }
    for (std::size_t first = 0; first < requests.size(); first += TRN_MAX_RING_BATCH)
        chip_.check(trn_ring_init_batch(chip_, &requests[first],
                                        static_cast<std::uint32_t>(std::min<std::size_t>(
                                            TRN_MAX_RING_BATCH, requests.size() - first))));
}

std::uint32_t& traffic::word(std::size_t index) {
    return reinterpret_cast<std::uint32_t*>(memory_->bytes().data())[index];
}

void traffic::start() {
    started_ = trn_simulated_now(chip_);
    for (const auto& lane : lanes_) {
        const auto count = static_cast<std::uint32_t>(lane.m2s.size());
        chip_.check(trn_ring_start(chip_, lane.engine, queue, count, count));
    }
}

std::uint64_t traffic::wait() {
    const auto begun = trn_now(chip_);
    const auto limit = bytes_ / slowest_bytes_per_ns + margin_ns;
    std::size_t first = 0;  // polled in order, each until it is set
    while (first < lanes_.size()) {
        if (__atomic_load_n(&word(first + 1), __ATOMIC_ACQUIRE) != 0) {
            ++first;
            continue;
        }
        const auto waited = trn_now(chip_) - begun;
        if (waited > limit) explain(lanes_[first]);
        chip_.check(trn_sleep(chip_, std::max(min_poll_interval_ns, waited / polls_per_duration)));
    }
    return trn_simulated_now(chip_) - started_;
}

void traffic::explain(const lane& stuck) {
    trn_engine_state state{};
    chip_.check(trn_engine_get_state(chip_, stuck.engine, &state));
    const bool aborted = state.mode == TRN_ENGINE_ABORT;
    throw device_error(
        aborted ? TRN_ABORTED : TRN_TIMED_OUT,
        fmt::format("engine {} {} after {} descriptors were posted", stuck.engine,
                    aborted ? "aborted its queue" : "has not finished", stuck.m2s.size()));
}

}  // namespace trn

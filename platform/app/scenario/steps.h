// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/scenario/parameters.h"
#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/step_table.h"
#include "platform/app/scenario/world.h"

// What the files of steps share, and what each of them offers. step_kinds.cpp is the list.

namespace trn::scenario {

inline constexpr std::uint64_t any = ~std::uint64_t{0};

/// What a step holds of a chip's or host's memory is at most this; copies between memories of chips
/// that are not compared may be longer.
inline constexpr std::uint64_t max_held = 4ull << 30;
inline constexpr size_bounds held{.least = 0, .most = max_held};
/// Requests or descriptors that a size is cut into.
inline constexpr std::uint64_t max_parts = 1 << 22;

/// Why a place is no target of a step that takes an address; "" when it is one.
std::string address_fault(const location& place);
/// Reports at `key` when `size` is cut into more parts of `part` bytes than `max_parts`.
void check_parts(const reader& r, std::string_view key, std::uint64_t size, std::uint64_t part);

/// A control method. \throws step_failure
nlohmann::json call(world& w, std::string_view method, const nlohmann::json& params);

/// The keys `at_least` and `at_most` of steps that measure a rate.
struct rate_bounds {
    std::optional<data_rate> at_least = {}, at_most = {};
    /// Reports at `at_most` when nothing can be within the bounds.
    figure wanted(const reader& r, std::string name) const;
};
/// Reports at `at_most` when nothing can be within the bounds.
void check_bounds(const reader& r, const figure& wanted);
/// Reports it. \throws step_failure when it is outside its bounds
void measure(world& w, const figure& what);

/// HBM goes through its BAR window: the DMA engine cannot vouch for its own work.
std::vector<std::uint8_t> read_memory(world& w, const location& from, std::uint64_t size);
void write_memory(world& w, const location& to, const std::vector<std::uint8_t>& bytes);

/// boot, probe, reset, restart_queue.
std::vector<step_kind> reset_steps();
/// copy, submit, finish, memset, fill, verify, scrub.
std::vector<step_kind> memory_steps();
/// write_register, read_register, peek, poke, semaphore, event.
std::vector<step_kind> register_steps();
/// ring, release, descriptor, doorbell, engine.
std::vector<step_kind> queue_steps();
/// mailbox, read_counters, power.
std::vector<step_kind> firmware_steps();
/// wait, expect, expect_uart.
std::vector<step_kind> condition_steps();
/// One packet of doc/dma_compute.md, compared with the reference.
step_kind compute_step();
/// All chips of the machine copy at once.
step_kind traffic_step();
/// All cards at once, or one card and its partner.
step_kind efa_step();
/// Done by the firmware of the collective cores, and always compared with the reference.
step_kind collective_step();
/// A program of the user's, over the platform's sockets.
step_kind client_step();
/// snapshot, restore.
std::vector<step_kind> snapshot_steps();
step_kind inject_step();
/// sequence, together, figure: hold steps, and are read by their files.
std::vector<step_kind> nesting_steps();

}  // namespace trn::scenario

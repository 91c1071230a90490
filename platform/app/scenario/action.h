// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/parameters.h"
#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/world.h"

// What the readers of steps share.

namespace trn::scenario {

inline constexpr std::uint64_t any = ~std::uint64_t{0};
inline constexpr std::uint64_t word_max = 0xffffffff;

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

/// `at_least` and `at_most` as rates.
figure read_rate_figure(const reader& r, std::string name);
/// Reports at `at_most` when nothing can be within the bounds.
void check_bounds(const reader& r, const figure& wanted);
/// Reports it. \throws step_failure when it is outside its bounds
void measure(world& w, const figure& what);

/// HBM goes through its BAR window: the DMA engine cannot vouch for its own work.
std::vector<std::uint8_t> read_memory(world& w, const location& from, std::uint64_t size);
void write_memory(world& w, const location& to, const std::vector<std::uint8_t>& bytes);

/// A kind of step that is a mapping of keys.
struct step_kind {
    std::string_view name;
    action (*read)(const reader&);
};
std::span<const step_kind> step_kinds();

/// `compute: {...}`: one packet of doc/dma_compute.md, compared with the reference.
action read_compute(const reader& r);
/// `collective: {...}`: made by the firmware of the collective cores, and always compared with the
/// reference.
action read_collective(const reader& r);
/// `snapshot: NAME` and `restore: NAME`.
action read_snapshot(const reader& r);
action read_restore(const reader& r);
/// `client: {...}`: a program of the user's, over the platform's sockets.
action read_client(const reader& r);
/// `efa: {...}`: all cards at once, or one card and its partner.
action read_efa(const reader& r);

}  // namespace trn::scenario

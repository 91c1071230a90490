// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/scenario/parameters.h"
#include "platform/app/scenario/scenario_context.h"
#include "platform/app/scenario/step.h"
#include "platform/app/scenario/step_table.h"

// Functions shared by the files of steps, and the kinds that each file defines. step_kinds.cpp
// lists them.

namespace trn::scenario {

inline constexpr std::uint64_t any = ~std::uint64_t{0};

/// Limit of the bytes that a step copies into this process. Copies between memories of chips that
/// are not compared may be longer.
inline constexpr std::uint64_t max_held = 4ull << 30;
inline constexpr size_bounds held{.min = 0, .max = max_held};
inline constexpr size_bounds not_empty{.min = 1};
/// Limit of the requests or descriptors of a step.
inline constexpr std::uint64_t max_parts = 1 << 22;

/// Error message for a location that a step cannot address; else "".
std::string address_fault(const location& place);
/// Reports at `key` when `size` has more than `max_parts` parts of `part` bytes.
void check_parts(const reader& r, std::string_view key, std::uint64_t size, std::uint64_t part);

/// Calls a control method. \throws step_failure
nlohmann::json call(scenario_context& ctx, std::string_view method, const nlohmann::json& params);

/// The keys `at_least` and `at_most` of steps that measure a rate.
struct rate_bounds {
    std::optional<data_rate> at_least = {}, at_most = {};
    /// The figure with these bounds; reports at `at_most` when the bounds exclude every value.
    figure wanted(const reader& r, std::string name) const;
};
/// Reports at `at_most` when the bounds exclude every value.
void check_bounds(const reader& r, const figure& wanted);
/// Reports the figure. \throws step_failure when it is outside its bounds
void measure(scenario_context& ctx, const figure& measured);
/// The same for a sustained rate. \throws step_failure, also when it is 0: undefined
void measure_rate(scenario_context& ctx, const figure& measured);

/// Read and write memory; HBM through its BAR window, so that DMA engines do not check themselves.
std::vector<std::uint8_t> read_memory(scenario_context& ctx, const location& from,
                                      std::uint64_t size);
void write_memory(scenario_context& ctx, const location& to,
                  const std::vector<std::uint8_t>& bytes);

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
/// Runs one packet of doc/dma_compute.md and compares it with the reference.
step_kind compute_step();
/// program, start_program, finish_program, core_engine, tensor.
std::vector<step_kind> program_steps();
/// kernel, start_kernel.
std::vector<step_kind> kernel_steps();
step_kind core_engine_step();
step_kind tensor_step();
/// The chips of the machine, opened by the first call and again after a loss of power. \throws
/// device_error
machine& machine_of(scenario_context& ctx);
/// Measures the compute rate of all cores of the machine.
step_kind compute_rate_step();
/// Measures copies of all chips of the machine.
step_kind traffic_step();
/// Measures transfers of all EFA cards, or of one card and its partner.
step_kind efa_step();
/// All chips with this firmware in their CC-Cores; made when first needed.
collective_group& collective_chips(scenario_context& ctx, const std::string& image);
/// Runs a collective in the firmware of the CC-Cores, and compares it with the reference.
step_kind collective_step();
/// Runs a user's program with the platform's sockets.
step_kind client_step();
/// snapshot, restore.
std::vector<step_kind> snapshot_steps();
step_kind inject_step();
/// sequence, together, figure: they contain steps, and are read by scenario_files.
std::vector<step_kind> nesting_steps();

}  // namespace trn::scenario

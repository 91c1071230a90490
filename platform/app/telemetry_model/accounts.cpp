// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry_model/accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace trn::telemetry {

namespace {

static_assert(std::endian::native == std::endian::little);

/// Sums over all cores of an instance fit into 64 bits: counts, and times in ns (200 days).
constexpr std::uint64_t max_count = std::uint64_t{1} << 54;
constexpr std::uint64_t max_host_memory = std::uint64_t{1} << 46;  // contract 3.1

/// Names of the public driver's sysfs, by trn_memory_kind and trn_run_outcome.
constexpr std::array<const char*, TRN_MEMORY_KINDS> memory_kinds{
    "tensors", "constants", "model_code", "model_shared_scratchpad", "runtime_memory"};
constexpr std::array<const char*, TRN_RUN_OUTCOMES> outcomes{
    "success",        "execute_completed_with_error", "execute_completed_with_num_error",
    "oob_error",      "execute_sw_semaphore_error",   "execute_sw_psum_collision",
    "hw_nc_ue_error", "hw_dma_abort_error",           "timeout"};

bool is_unused(const trn_core_account& core) {
    static constexpr trn_core_account unused{};
    return std::memcmp(&core, &unused, sizeof core) == 0;
}

bool is_possible(const trn_core_account& core) {
    return std::max({core.loads, core.runs, core.busy_ns, std::ranges::max(core.outcomes)}) <=
           max_count;
}

}  // namespace

std::optional<trn_accounts> accounts_of(std::span<const std::uint8_t> record, const device& used) {
    trn_accounts accounts;
    if (record.size() != sizeof accounts) return std::nullopt;
    std::memcpy(&accounts, record.data(), sizeof accounts);
    if (accounts.version != TRN_ACCOUNTS_VERSION || accounts.host_memory > max_host_memory ||
        accounts.completed > max_count || std::ranges::max(accounts.latencies_ns) > max_count)
        return std::nullopt;
    const auto memory = used.memory_bytes.value_or(0);
    std::uint64_t left = memory;
    for (unsigned n = 0; n < TRN_ACCOUNT_CORES; ++n) {
        const auto& core = accounts.cores[n];
        if (!is_possible(core) || (n >= used.core_count && !is_unused(core))) return std::nullopt;
        for (const auto bytes : core.memory) {
            if (bytes > left) return std::nullopt;
            left -= bytes;
        }
    }
    return accounts;
}

void add_accounts(const trn_accounts& accounts, unsigned first_core, process& p, device& used) {
    p.host_memory["dma_buffers"] += accounts.host_memory;
    if (!p.cores) p.cores.emplace();
    for (unsigned n = 0; n < used.core_count && n < TRN_ACCOUNT_CORES; ++n) {
        const auto& counted = accounts.cores[n];
        if (counted.loads == 0) continue;
        p.cores->push_back(first_core + n);
        named_values memory, status;
        for (unsigned kind = 0; kind < TRN_MEMORY_KINDS; ++kind)
            memory[memory_kinds[kind]] = counted.memory[kind];
        for (unsigned outcome = 0; outcome < TRN_RUN_OUTCOMES; ++outcome)
            status[outcomes[outcome]] = counted.outcomes[outcome];
        for (const auto& [kind, bytes] : memory) p.device_memory[kind] += bytes;
        for (const auto& [outcome, runs] : status) p.status[outcome] += runs;
        if (n >= used.cores.size()) continue;
        auto& c = used.cores[n];
        c.device_memory_bytes =
            std::accumulate(std::begin(counted.memory), std::end(counted.memory), std::uint64_t{0});
        c.device_memory = std::move(memory);
        c.status = std::move(status);
        c.info = {{"model_load_count", counted.loads}, {"inference_count", counted.runs}};
    }
}

void add_latencies(const trn_accounts& accounts, std::vector<std::uint64_t>& all) {
    const auto count = std::min<std::uint64_t>(accounts.completed, TRN_ACCOUNT_LATENCIES);
    all.insert(all.end(), accounts.latencies_ns, accounts.latencies_ns + count);
}

named_values percentiles_of(std::vector<std::uint64_t> latencies) {
    if (latencies.empty()) return {};
    std::ranges::sort(latencies);
    named_values all;
    for (const unsigned percent : latency_percentiles) {
        // The nearest rank: the smallest value with that part of the values at or below it.
        const auto rank = (latencies.size() * percent + 99) / 100;
        all[fmt::format("p{}", percent)] = latencies[rank == 0 ? 0 : rank - 1];
    }
    return all;
}

}  // namespace trn::telemetry

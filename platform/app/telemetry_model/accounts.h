// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "platform/app/telemetry/machine_state.h"
#include "sw-stubs/driver/include/trn_accounts.h"

namespace trn::telemetry {

/// The record of a client of a device (doc/attach.md). The client may have sent anything: a record
/// of another form, or with numbers that the device cannot have, is nothing.
std::optional<trn_accounts> accounts_of(std::span<const std::uint8_t> record, const device& used);

/// Adds them to the process, and to the cores of the device, if they are known. `first_core`: the
/// number of the device's first core in the instance.
void add_accounts(const trn_accounts& accounts, unsigned first_core, process& p, device& used);

/// Appends the times of the last completed runs.
void add_latencies(const trn_accounts& accounts, std::vector<std::uint64_t>& all);
/// By percentile, as process::latency_ns; of nothing, nothing.
named_values percentiles_of(std::vector<std::uint64_t> latencies);

}  // namespace trn::telemetry

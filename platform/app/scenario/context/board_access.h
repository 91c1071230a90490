// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "platform/app/scenario/context/scenario_context.h"

namespace trn::scenario {

/// Calls a control method. \throws step_failure
nlohmann::json call(scenario_context& ctx, std::string_view method, const nlohmann::json& params);

/// Read and write memory; HBM through its BAR window, so that DMA engines do not check themselves.
std::vector<std::uint8_t> read_memory(scenario_context& ctx, const location& source,
                                      std::uint64_t size);
void write_memory(scenario_context& ctx, const location& destination,
                  const std::vector<std::uint8_t>& bytes);

}  // namespace trn::scenario

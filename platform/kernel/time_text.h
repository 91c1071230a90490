// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <systemc>

namespace trn {

/// Simulated time for people, exact: "1.5 us", "250 ns", "0 s".
std::string to_text(const sc_core::sc_time& time);

/// A duration with its unit: "10 us", "1.5ms", "2 s". Nothing when the unit is missing or unknown,
/// or when the number is negative or does not fit.
std::optional<sc_core::sc_time> parse_time(std::string_view text);

}  // namespace trn

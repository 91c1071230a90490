// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

namespace trn {

/// Simulated time as exact text: "1.5 us", "250 ns", "0 s".
std::string to_text(const sc_core::sc_time& time);
/// The same for a number of picoseconds.
std::string time_text(std::uint64_t picoseconds);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>

namespace trn {

/// Simulated time as exact text: "1.5 us", "250 ns", "0 s".
std::string to_text(const sc_core::sc_time& time);

}  // namespace trn

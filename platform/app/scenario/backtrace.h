// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trn::scenario {

/// From now on a fatal signal (a defect, an assertion, an abort from outside) first writes
/// {"backtrace": [pc, ...]} as a line to `pipe`, innermost first. Does nothing under a sanitizer,
/// whose report is better.
void install_crash_report(int pipe);

/// "function (file:line)" of each code address of this program, one line each. A child made by
/// fork() has its code at the same addresses.
std::string source_of(const std::vector<std::uint64_t>& addresses);

}  // namespace trn::scenario

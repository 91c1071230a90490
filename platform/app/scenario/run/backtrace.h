// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trn::scenario {

/// Installs handlers for fatal signals (defects, assertions, an abort from outside) that first
/// write {"backtrace": [pc, ...]} as one line to `pipe`, innermost first. Does nothing under a
/// sanitizer, whose report is better.
void install_crash_report(int pipe);

/// "function (file:line)" for each code address of this program, one per line. Addresses of a child
/// made by fork() are the same.
std::string source_of(const std::vector<std::uint64_t>& addresses);

}  // namespace trn::scenario

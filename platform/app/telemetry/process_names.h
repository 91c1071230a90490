// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace trn::telemetry {

/// The name of a process of this machine, from PROC/PID/comm; "": not known.
std::string name_of_process(const std::string& proc, std::uint64_t pid);
/// Its command line with blanks between the words; "": not known.
std::string command_of_process(const std::string& proc, std::uint64_t pid);

}  // namespace trn::telemetry

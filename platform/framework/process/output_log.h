// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace trn {

/// Writes the whole text; ignores a closed pipe.
void write_all(int file, std::string_view text);

/// The last 256 KiB of a log (a memory file).
std::string read_log(int file);
/// Releases the memory of the part of a log that read_log() omits, in large blocks.
void trim_log(int file);

/// Bytes of memory that a process has; 0: unknown.
std::uint64_t resident_memory(pid_t process);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "models/assembler/assembler.h"

namespace trn::isa {

/// A file that holds the streams of several engines: a header of 64 bytes, then the streams, each
/// 64-byte aligned. All numbers are little endian; unused bytes are 0.
///   0  "TRNPSET" and a zero byte     8  u32 version, 1     12  u32 number of streams, 1..5
///   64 + 16 n: u32 engine, u32 words, u64 offset in the file of stream n
struct program_set_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

bool is_program_set(std::span<const std::uint8_t> file);
std::vector<std::uint8_t> write_program_set(std::span<const stream> streams);
/// \throws program_set_error
std::vector<stream> read_program_set(std::span<const std::uint8_t> file);

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>

namespace trn::recording {

/// Writes a zstd frame with a checksum that holds `bytes` as they are (RFC 8878, raw blocks).
/// Returns the size of the frame. Precondition: less than 4 GiB.
std::size_t write_stored_frame(std::ostream& out, std::span<const std::uint8_t> bytes);

}  // namespace trn::recording

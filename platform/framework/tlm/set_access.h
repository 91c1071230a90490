// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tlm>

namespace trn {

/// Sets command, address and data of a payload that accesses `length` consecutive bytes.
inline void set_access(tlm::tlm_generic_payload& payload, tlm::tlm_command command,
                       std::uint64_t address, void* bytes, std::size_t length) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(bytes));
    payload.set_data_length(static_cast<unsigned>(length));
    payload.set_streaming_width(static_cast<unsigned>(length));
}

/// Sets a payload that accesses nothing: its extensions say what it is.
inline void set_message(tlm::tlm_generic_payload& payload, std::uint64_t address = 0) {
    set_access(payload, tlm::TLM_IGNORE_COMMAND, address, nullptr, 0);
    payload.set_streaming_width(1);
}

/// Number of consecutive addresses that the payload accesses: a streaming burst repeats its first
/// ones (IEEE 1666, 14.15).
inline unsigned addressed_bytes(const tlm::tlm_generic_payload& payload) {
    return std::min(payload.get_data_length(), payload.get_streaming_width());
}

}  // namespace trn

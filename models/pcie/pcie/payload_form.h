// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tlm>

#include "models/pcie/pcie/tlp.h"

namespace trn::pcie {

inline bool is_read_or_write(const tlm::tlm_generic_payload& request) {
    return request.get_command() <= tlm::TLM_WRITE_COMMAND;
}
/// Whether the request accesses consecutive bytes once. A TLP does.
inline bool is_linear(const tlm::tlm_generic_payload& request) {
    return request.get_streaming_width() >= request.get_data_length();
}
/// Whether the request accesses consecutive bytes, and all of them.
inline bool is_plain(const tlm::tlm_generic_payload& request) {
    return is_linear(request) && request.get_byte_enable_ptr() == nullptr;
}

/// The response to a request that has no effect whatever its address is: because of its command,
/// byte enables, streaming width or length. TLM_INCOMPLETE_RESPONSE: its target responds.
/// Configuration requests access bytes of one dword (2.2.7.1).
inline tlm::tlm_response_status response_to_form(const tlm::tlm_generic_payload& request,
                                                 tlp::space destination) {
    const unsigned length = request.get_data_length();
    if (request.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_OK_RESPONSE;
    if (!is_read_or_write(request)) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (request.get_byte_enable_ptr() != nullptr && request.get_byte_enable_length() == 0)
        return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (length != 0 && request.get_streaming_width() == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
    const bool one_dword = length >= 1 && length <= 4 && (request.get_address() & 3) + length <= 4;
    if (destination == tlp::space::config && !(one_dword && is_linear(request)))
        return tlm::TLM_BURST_ERROR_RESPONSE;
    return tlm::TLM_INCOMPLETE_RESPONSE;
}

/// Completes a request that has no effect because of its form. Returns whether it has.
inline bool complete_by_form(tlm::tlm_generic_payload& request, tlp::space destination) {
    if (is_plain(request) && is_read_or_write(request) && destination != tlp::space::config)
        [[likely]]
        return false;
    const auto response = response_to_form(request, destination);
    if (response == tlm::TLM_INCOMPLETE_RESPONSE) return false;
    request.set_response_status(response);
    return true;
}

/// Calls `access` with offset and bytes of each run of enabled bytes; `offset` is the first byte's.
template <typename Access>
void for_enabled_bytes(tlm::tlm_generic_payload& request, std::uint64_t offset, Access access) {
    const std::span<std::uint8_t> bytes(request.get_data_ptr(), request.get_data_length());
    const std::uint8_t* const enables = request.get_byte_enable_ptr();
    if (enables == nullptr) return access(offset, bytes);
    const unsigned enable_length = request.get_byte_enable_length();
    const auto enabled = [&](std::size_t i) {
        return enable_length != 0 && enables[i % enable_length] == TLM_BYTE_ENABLED;
    };
    for (std::size_t first = 0, end = 0; first < bytes.size(); first = end) {
        for (end = first + 1; end < bytes.size() && enabled(end) == enabled(first);) ++end;
        if (enabled(first)) access(offset + first, bytes.subspan(first, end - first));
    }
}

/// Fills the enabled bytes of a read.
inline void fill(tlm::tlm_generic_payload& request, std::uint8_t value) {
    for_enabled_bytes(request, 0, [value](std::uint64_t, std::span<std::uint8_t> bytes) {
        std::ranges::fill(bytes, value);
    });
}

}  // namespace trn::pcie

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/exec/exec_devices.h"

#include <array>
#include <utility>

#include "platform/framework/tlm/set_access.h"

namespace trn {

byte_registers::byte_registers(sc_core::sc_module_name name, std::function<void()> polled)
    : sc_module(name), polled_(std::move(polled)) {
    in.register_b_transport(this, &byte_registers::b_transport);
    in.register_transport_dbg(this, &byte_registers::transport_dbg);
}

/// Converts a one-byte access into the 32-bit access that `forward` executes. Returns its response.
template <typename Forward>
tlm::tlm_response_status byte_registers::widen(tlm::tlm_generic_payload& payload,
                                               const Forward& forward) {
    if (payload.get_address() >= registers) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (payload.get_data_length() != 1 || payload.get_byte_enable_ptr() != nullptr)
        return tlm::TLM_BURST_ERROR_RESPONSE;
    std::array<std::uint8_t, 4> word{payload.is_write() ? *payload.get_data_ptr()
                                                        : std::uint8_t{0}};
    tlm::tlm_generic_payload wide;
    set_access(wide, payload.get_command(), payload.get_address() * word.size(), word.data(),
               word.size());
    forward(wide);
    if (payload.is_read()) *payload.get_data_ptr() = word[0];
    return wide.get_response_status();
}

void byte_registers::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.is_read()) polled_();
    payload.set_response_status(widen(payload, [&](auto& wide) { out->b_transport(wide, delay); }));
}

unsigned byte_registers::transport_dbg(tlm::tlm_generic_payload& payload) {
    unsigned done = 0;
    widen(payload, [&](auto& wide) { done = out->transport_dbg(wide) == 4 ? 1 : 0; });
    return done;
}

}  // namespace trn

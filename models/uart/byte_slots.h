// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"

namespace trn {

/// A register socket that, when `byte_access` says so, takes accesses of byte 0 of a 32-bit slot as
/// accesses of its register: a 16550 has eight data lines, and stock drivers use only those.
class byte_slot_socket : public tlm_utils::simple_target_socket<byte_slot_socket, 64> {
public:
    byte_slot_socket(const char* name, register_bank& bank, const bool& byte_access)
        : simple_target_socket(name), bank_(bank), byte_access_(byte_access) {
        register_b_transport(this, &byte_slot_socket::access);
        register_transport_dbg(this, &byte_slot_socket::debug_access);
    }

private:
    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        constexpr sc_dt::uint64 slot_mask = 3;
        const bool is_byte = payload.get_data_length() == 1 &&
                             payload.get_byte_enable_ptr() == nullptr &&
                             (payload.get_address() & slot_mask) == 0;
        if (!byte_access_ || !is_byte) return bank_.access(payload, delay);
        std::array<unsigned char, 4> slot{payload.is_write() ? *payload.get_data_ptr()
                                                             : static_cast<unsigned char>(0)};
        tlm::tlm_generic_payload whole;
        whole.set_command(payload.get_command());
        whole.set_address(payload.get_address());
        whole.set_data_ptr(slot.data());
        whole.set_data_length(slot.size());
        whole.set_streaming_width(slot.size());
        bank_.access(whole, delay);
        payload.set_response_status(whole.get_response_status());
        if (payload.is_read()) *payload.get_data_ptr() = slot[0];
    }
    unsigned debug_access(tlm::tlm_generic_payload& payload) { return bank_.debug_access(payload); }

    register_bank& bank_;
    const bool& byte_access_;
};

}  // namespace trn

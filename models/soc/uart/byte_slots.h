// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

/// A register bank that also accepts accesses to byte 0 of a 32-bit slot, if `byte_access` is set:
/// a 16550 has eight data lines, and stock drivers access bytes.
class byte_slots final : public bank_target {
public:
    byte_slots(register_bank& bank, const bool& byte_access)
        : bank_target(bank), byte_access_(byte_access) {}

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        constexpr sc_dt::uint64 slot_mask = 3;
        const bool is_byte = payload.get_data_length() == 1 &&
                             payload.get_byte_enable_ptr() == nullptr &&
                             (payload.get_address() & slot_mask) == 0;
        if (!byte_access_ || !is_byte) return bank_target::b_transport(payload, delay);
        std::array<unsigned char, 4> slot{payload.is_write() ? *payload.get_data_ptr()
                                                             : static_cast<unsigned char>(0)};
        tlm::tlm_generic_payload whole;
        set_access(whole, payload.get_command(), payload.get_address(), slot.data(), slot.size());
        bank_target::b_transport(whole, delay);
        payload.set_response_status(whole.get_response_status());
        if (payload.is_read()) *payload.get_data_ptr() = slot[0];
    }

private:
    const bool& byte_access_;
};

using byte_slot_socket = implemented_socket<byte_slots>;

}  // namespace trn

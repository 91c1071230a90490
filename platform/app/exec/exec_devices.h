// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// Maps the 32-bit registers of our UART to the bytes 0 to 7, as in QEMU's machine "virt". Accesses
/// of other sizes are burst errors.
class byte_registers : public sc_core::sc_module {
public:
    static constexpr std::uint64_t size = 0x100, registers = 8;

    target_socket<byte_registers> in{"in"};
    tlm_utils::simple_initiator_socket<byte_registers, 64> out{"out"};

    /// `polled` is called before each read, since the program may be polling for input.
    byte_registers(sc_core::sc_module_name name, std::function<void()> polled);

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    template <typename Forward>
    tlm::tlm_response_status widen(tlm::tlm_generic_payload& payload, const Forward& forward);

    const std::function<void()> polled_;
};

}  // namespace trn

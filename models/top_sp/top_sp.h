// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "models/notification_queue/notifying_module.h"
#include "models/semaphores/semaphores.h"
#include "platform/tlm/backing_store.h"
#include "platform/tlm/irq.h"

namespace trn {

/// What the rest of the chip sees of a CC-Core (TOP_SP): a 4 MiB aperture that begins with events
/// and semaphores and is memory above them, and its register slot. Its hart comes later; programs
/// and data go into the memory. Spec: doc/models/top_sp.md.
class top_sp : public notifying_module {
public:
    struct config {
        sc_core::sc_time access_latency{50, sc_core::SC_NS};
        sc_core::sc_time register_latency{50, sc_core::SC_NS};
        std::uint64_t notifications_offset = 0;  ///< contract 9, in its registers
    };
    static constexpr std::uint64_t aperture_size = 0x40'0000;  // contract 3.1
    static constexpr std::uint64_t memory_offset = semaphores::size;
    static constexpr std::uint64_t registers_size = 0x4'0000;  // contract 3.2

    tlm_utils::simple_target_socket<top_sp, 64> aperture{"aperture"};
    tlm_utils::simple_target_socket<top_sp, 64> registers{"registers"};
    irq_in reset;

    top_sp(sc_core::sc_module_name name, const config& cfg);

    semaphores& sync() { return semaphores_; }
    backing_store& bytes() { return bytes_; }

private:
    void access_aperture(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_aperture(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void access_registers(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_registers(tlm::tlm_generic_payload& payload);
    void reset_changed(bool level);

    const config cfg_;
    backing_store bytes_;  // the whole aperture; what lies under the semaphores is never reached
    semaphores semaphores_;
};

}  // namespace trn

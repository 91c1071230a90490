// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>

#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/mtime_source.h"
#include "models/processor/riscv/riscv_hart.h"
#include "models/soc/notification_queue/notifying_module.h"
#include "models/soc/semaphores/semaphores.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/window_socket.h"

namespace trn {

/// A CC-Core (TOP_SP): a hart with 64 KiB each of instruction and data memory, in a 4 MiB aperture
/// that begins with events and semaphores, and a slot of registers. Comparators on semaphores, a
/// doorbell and a timer interrupt the hart, so that it can wait in WFI. It allocates no state until
/// software starts it for the first time. Spec: doc/models/processor/top_sp.md.
class top_sp : public notifying_module, private riscv::mtime_source {
public:
    struct config {
        std::uint64_t number = 0;                   ///< number in the chip's address map
        sc_core::sc_time clock{1, sc_core::SC_NS};  ///< time per instruction of the hart
        sc_core::sc_time access_latency{50, sc_core::SC_NS};
        sc_core::sc_time register_latency{50, sc_core::SC_NS};
        std::uint64_t notifications_offset = 0;  ///< contract 9; offset in its registers
    };
    static constexpr std::uint64_t aperture_size = 0x40'0000;  // contract 3.1
    // this and the next are invented
    static constexpr std::uint64_t control_offset = semaphores::size;
    static constexpr std::uint64_t memory_offset = 0x3000;
    static constexpr std::uint64_t instruction_offset = 0x1'0000;
    static constexpr std::uint64_t data_offset = 0x2'0000;
    static constexpr std::uint64_t registers_size = 0x4'0000;  // contract 3.2
    /// The hart's address map: its own aperture at 0, then its notification queues, the chip's AXI
    /// space at this address, and fabric addresses (bit 63) unchanged.
    static constexpr std::uint64_t axi_window = std::uint64_t{1} << 55;

    window_socket aperture{"aperture"};
    window_socket registers{"registers"};
    irq_in reset;
    /// Rising: the memory loses its bytes; `reset` clears the other state.
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level) bytes_.clear();
                      }};
    riscv_hart hart;

    top_sp(sc_core::sc_module_name name, const config& cfg, const hart_common& shared = {});

    semaphores& sync() { return semaphores_; }
    backing_store& bytes() { return bytes_; }

private:
    void map_aperture(window_socket& socket);
    void map_hart_bus();
    void access_memory(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_memory(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void access_chip(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek_chip(tlm::tlm_generic_payload& payload);
    bool pointer_for_hart(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void ask_chip_for_attribute(tlm::tlm_generic_payload& payload);
    void hook_control();
    void count_doorbells(std::uint32_t bits);
    void reset_changed(bool level);

    // riscv::mtime_source
    std::uint64_t mtime(sc_core::sc_time time) const override;

    void deliver() override;
    void hold_hart(const sc_core::sc_time& delay);
    void update_timer(const sc_core::sc_time& delay);
    void update_irq();
    std::uint32_t causes() const;

    const config cfg_;
    backing_store bytes_;  // whole aperture; bytes below registers are not accessible
    semaphores semaphores_;
    register_bank control_;
    window_socket hart_bus_{"hart_bus"};
    irq_out external_{"external"}, timer_{"timer"}, hart_reset_{"hart_reset"};
    std::uint32_t watched_ = 0;  // mask of enabled comparators
    sc_core::sc_event expiry_{"expiry"};
};

}  // namespace trn

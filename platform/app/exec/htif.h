// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <systemc>

#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// Spike's host-target interface: the page of RAM that holds the 64-bit words `tohost` and
/// `fromhost`. Reads return RAM (also by DMI). A write to tohost is a message to the host: exit
/// (odd value: code << 1
/// 1), a proxied system call (address of eight words), or a character.
class htif : public sc_core::sc_module {
public:
    struct config {
        std::uint64_t ram_base;
        std::uint64_t tohost;                   ///< address
        std::optional<std::uint64_t> fromhost;  ///< address; empty: responses are dropped
        std::function<void(std::uint64_t code)> on_exit;
    };
    static constexpr std::uint64_t page_size = 4096;

    target_socket<htif> in{"in"};  ///< addresses are offsets in RAM

    htif(sc_core::sc_module_name name, memory& ram, config cfg);

    /// Offset in RAM of the page that must be routed to this module.
    std::uint64_t page() const { return (cfg_.tohost - cfg_.ram_base) & ~(page_size - 1); }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

    void receive(std::uint64_t message);
    void system_call(std::uint64_t arguments);
    std::uint64_t write_file(std::uint64_t descriptor, std::uint64_t address, std::uint64_t length);
    void answer(std::uint64_t message);
    std::uint8_t* ram_at(std::uint64_t address, std::uint64_t length);

    memory& ram_;
    const config cfg_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/pcie/host_memory.h"
#include "models/pcie/tlp.h"
#include "platform/attach/function_port.h"
#include "platform/kernel/introspection.h"

namespace trn {

/// The host's side of one function: it enumerates the function (BAR addresses on our own bus),
/// carries the host's accesses to it as TLPs, and is the memory and the interrupt target behind its
/// upstream requests. Links and switches may stand between it and the endpoint.
///
/// What the host sees of the configuration space is a view: BAR registers and the MSI-X enable bit
/// are the host's own, as VFIO keeps them, because the real ones belong to this port.
class pcie_root_port : public sc_core::sc_module,
                       public function_port,
                       public publishes_statistics {
public:
    struct config {
        std::uint64_t window_base = std::uint64_t{1} << 44;    ///< bus address of the first BAR
        pcie::function_id requester = 0x0000;                  ///< who the host's requests are from
        pcie::function_id function = 0x0100;                   ///< bus 1, device 0, function 0
        sc_core::sc_time memory_latency{300, sc_core::SC_NS};  ///< of a host memory read; invented
    };
    /// Where MSI-X messages are written: outside of what a chip's host window can reach.
    static constexpr std::uint64_t message_address = std::uint64_t{0xfee0'0000} << 32;

    tlm_utils::simple_initiator_socket<pcie_root_port, 64> down{"down"};  // TLPs to the function
    tlm_utils::simple_target_socket<pcie_root_port, 64> dma{"dma"};       // TLPs from the function

    pcie_root_port(sc_core::sc_module_name name, const config& cfg);

    bar_info bar(unsigned index) override;
    void config_read(std::uint32_t offset, std::span<std::uint8_t> bytes) override;
    void config_write(std::uint32_t offset, std::span<const std::uint8_t> bytes) override;
    bool bar_read(unsigned index, std::uint64_t offset, std::span<std::uint8_t> bytes,
                  sc_core::sc_time& delay) override;
    bool bar_write(unsigned index, std::uint64_t offset, std::span<const std::uint8_t> bytes,
                   sc_core::sc_time& delay) override;
    bool map_host(const host_range& range) override { return memory_.map(range); }
    bool unmap_host(std::uint64_t iova, std::uint64_t size,
                    const std::function<void(const host_range&)>& forgotten) override;
    void watch_host_memory(traffic_watcher* by) override;
    void carry_host_messages(host_messages* carrier) override { memory_.carry(carrier); }
    void host_messages_ready() override { memory_.carrier_ready(); }
    unsigned interrupt_vectors() const override { return static_cast<unsigned>(raised_.size()); }
    void on_interrupt(unsigned vector, std::function<void()> raised) override;
    void reset() override;
    void detach() override;

    /// Finds the function and gives its BARs addresses; done at the start of simulation.
    void enumerate();
    const pcie::host_memory& memory() const { return memory_; }
    void publish(statistics& out) const override;

private:
    using payload = tlm::tlm_generic_payload;
    struct bar_window {
        std::uint64_t base = 0, size = 0;  // on our own bus; size 0 = no BAR
        std::uint32_t flags = 0;           // low four bits of the register
    };

    void start_of_simulation() override { enumerate(); }
    void size_bars();
    void assign_bars();
    void find_msix();
    void program_interrupts();
    void add_mappable_areas(unsigned index, bar_info& info);

    void send(tlm::tlm_command command, pcie::tlp::space to, std::uint64_t address,
              std::span<std::uint8_t> bytes, sc_core::sc_time& delay);
    std::uint32_t config_word(std::uint32_t offset);
    void set_config_word(std::uint32_t offset, std::uint32_t value);
    void set_config_half(std::uint32_t offset, std::uint16_t value);
    void write_table(std::uint64_t offset, std::uint32_t value);
    void config_write_dword(std::uint32_t offset, std::span<std::uint8_t> bytes);
    bool access(tlm::tlm_command command, unsigned index, std::uint64_t offset,
                std::span<std::uint8_t> bytes, sc_core::sc_time& delay);

    void b_transport(payload& request, sc_core::sc_time& delay);
    unsigned transport_dbg(payload& request) { return memory_.transport_dbg(request); }
    bool get_direct_mem_ptr(payload& request, tlm::tlm_dmi& dmi) {
        return memory_.get_direct_mem_ptr(request, dmi);
    }

    const config cfg_;
    std::array<bar_window, bar_count> bars_{};
    std::array<std::uint8_t, 24> view_{};       // the BAR registers as the host wrote them
    std::array<std::uint8_t, 24> view_mask_{};  // their writable bits
    std::uint32_t msix_ = 0;                    // capability offset; 0 = none
    std::uint8_t msix_bar_ = 0;
    std::uint64_t msix_table_ = 0;               // offset in that BAR
    std::uint8_t host_msix_enable_ = 0;          // the enable bit as the host wrote it
    std::vector<std::function<void()>> raised_;  // per vector; empty = disabled
    pcie::host_memory memory_;
};

}  // namespace trn

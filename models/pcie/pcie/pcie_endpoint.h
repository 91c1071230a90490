// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/pcie/pcie/config_space.h"
#include "models/pcie/pcie/error_reporting.h"
#include "models/pcie/pcie/lanes.h"
#include "models/pcie/pcie/msix_table.h"
#include "models/pcie/pcie/register_bridge.h"
#include "models/pcie/pcie/tlp.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/misuse/initiator.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// The PCI Express function of a chip: configuration space, BAR decoding, MSI-X, and access to host
/// memory. Spec: doc/models/pcie/pcie.md; device contract sections 1.1, 1.2 and 2.
///
/// A request outside of all BARs is an unsupported request, and so is every memory request while
/// memory space is disabled or the function is not in D0.
class pcie_endpoint : public sc_core::sc_module,
                      public plug::device,
                      public publishes_statistics,
                      public publishes_signals,
                      public accepts_faults {
public:
    struct config {
        std::uint16_t vendor_id = 0x1d0f;
        std::uint16_t device_id = 0x7564;     ///< contract 1.1
        std::uint8_t revision = 255;          ///< contract 2: 255 qemu, 240 emulator, else silicon
        std::uint32_t class_code = 0x120000;  ///< processing accelerator (the driver ignores it)
        std::uint16_t subsystem_vendor_id = 0x1d0f;        ///< invented
        std::uint16_t subsystem_id = 1;                    ///< invented
        std::uint64_t bar0_size = std::uint64_t{4} << 30;  ///< bytes, a power of two
        /// The register BAR has the prefetchable bit (7.5.1.2.1), which the contract's has not: an
        /// operating system that enumerates then finds room for it behind a bridge.
        bool bar0_prefetchable = false;
        unsigned register_bar = 0;  ///< contract 1.2: 0 or 2; with 2, MSI-X is in 0
        std::uint64_t bar4_size = std::uint64_t{256} << 30;  ///< bytes, a power of two; 0 = none
        unsigned memory_bar = 4;       ///< BAR of the memory: 4 or 2; with 2, MSI-X is in 4
        unsigned link_generation = 6;  ///< 1..6: 2.5 to 64 GT/s
        unsigned link_width = 8;       ///< lanes; inferred from the x8 NeuronLinks
        unsigned msix_vectors = 32;    ///< invented: the public driver uses no interrupts
        std::uint64_t serial_number = 1;
        /// BAR0 offset of the 4 KiB that may be read during boot
        std::uint64_t boot_words = 0x06c8'4000;
        sc_core::sc_time request_latency{100, sc_core::SC_NS};  ///< per host request; invented
        /// Time after which a read without completion fails; the lower end of range B (7.5.3.16).
        sc_core::sc_time completion_timeout{16, sc_core::SC_MS};
    };
    struct counts {
        std::uint64_t requests = 0;              ///< memory and configuration requests of the host
        std::uint64_t unsupported_requests = 0;  ///< host requests outside of all BARs
        std::uint64_t refused_dma = 0;           ///< chip accesses while bus master is disabled
        std::uint64_t interrupts = 0;            ///< MSI-X messages sent
        std::uint64_t lost_interrupts = 0;       ///< dropped by a fault
        std::uint64_t timeouts = 0;              ///< chip reads without a completion
        std::uint64_t error_messages = 0;        ///< error messages sent to the root port
    };

    plug link{"link", *this};                 // TLPs to and from the host
    target_socket<pcie_endpoint> dma{"dma"};  // accesses of the chip at host addresses
    using to_chip = tlm_utils::simple_initiator_socket_tagged_optional<pcie_endpoint, 64>;
    to_chip bar0{"bar0"};  // addresses are offsets in the register BAR
    to_chip bar4{"bar4"};
    irq_in msix;  // a rising edge raises the vector of the same number
    irq_in booting{"booting", 1, [](unsigned, bool) {}};  ///< high: software must wait
    /// High: no power. The function does not respond, and its link is down at both ends.
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) { supply(powered_, !level); }};
    /// Pulses when the function is reset; high while it has no power.
    irq_out function_reset{"function_reset"};
    /// High without power, including when the card is not in its slot.
    irq_out no_power{"no_power"};
    /// High while the card is not in its slot, or the slot has no power.
    irq_out no_slot_power{"no_slot_power"};

    pcie_endpoint(sc_core::sc_module_name name, const config& cfg);

    /// Raises an MSI-X vector; returns false when the function does not have it.
    bool interrupt(unsigned vector) { return vectors_.raise(vector); }

    void publish(statistics& out) const override;
    void publish_signals(signal_list& out) const override {
        for (const auto* way : {"to_host", "from_host"}) out.transactions(way);
    }
    std::vector<fault> faults() override;
    const config& settings() const { return cfg_; }
    const counts& counters() const { return counters_; }
    const pcie::register_bridge& bridge() const { return bridge_; }
    pcie::config_space& space() { return space_; }

private:
    using payload = tlm::tlm_generic_payload;
    enum class room { none, chip0, vectors, chip4 };
    struct window {
        std::uint64_t base = 0, size = 0;
        room contents = room::none;
    };

    /// BARs 0, 2 and 4 are used for registers, memory and MSI-X.
    unsigned vector_bar() const { return 6 - cfg_.register_bar - cfg_.memory_bar; }
    void build_header();
    void build_pcie_capability();
    void build_power_management();
    void build_msix();
    void build_extended_capabilities();
    void define_bar(unsigned index, std::uint64_t size, std::uint32_t flags, room contents);

    // plug::device: requests from the link
    void received(plug& local, payload& request, sc_core::sc_time& delay) override;
    unsigned peeked(plug& local, payload& request) override;
    bool asked_for_pointer(plug& local, payload& request, tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) override;
    void link_changed(plug& local) override;
    void link_erred(plug& local, link_error error) override;
    bool may_be_polled(const window& hit, const payload& request) const;
    void configure(payload& request, pcie::tlp& header);
    void access_vectors(payload& request);
    void refuse_request(payload& request);
    void report(std::optional<pcie::error_class> severity);
    const window* decode(std::uint64_t address, std::uint64_t length) const;

    void refuse_dma(payload& request);
    void b_transport_dma(payload& request, sc_core::sc_time& delay);
    unsigned transport_dbg_dma(payload& request);
    bool get_direct_mem_ptr_dma(payload& request, tlm::tlm_dmi& dmi);
    void invalidate_direct_mem_ptr(int contents, sc_dt::uint64 first, sc_dt::uint64 last);
    void forget_peers();

    void bars_changed();
    void command_changed();
    void power_changed();
    void device_control_changed();
    void msix_control_changed();
    void reset_function(pcie::config_space::reset_kind kind);
    void supply(bool& source, bool on);
    void postpone(payload& request, pcie::function_id requester);
    void execute_postponed();
    bool on() const { return powered_ && in_slot_; }
    bool send_message(std::uint64_t address, std::uint32_t data);

    struct host_cpu final : initiator {
        host_cpu() : initiator(kind::host) {}
        std::string describe() const override { return "the host"; }
    };

    const config cfg_;
    const host_cpu host_;
    pcie::config_space space_;
    pcie::msix_table vectors_;
    std::array<window, 3> windows_{};
    pcie::function_id id_ = 0;  // captured from configuration writes (2.2.9)
    pcie::error_reporting errors_{space_};
    std::uint16_t pcie_ = 0, power_ = 0, msix_ = 0;  // capability offsets
    bool powered_ = true, in_slot_ = true;
    /// Why bus mastering is off, until software switches it on: the host left, or the link went
    /// down.
    bool host_left_ = false, cut_off_ = false;
    bool bus_master_ = false, in_d3_ = false,
         memory_space_ = false;  // state after the last configuration write
    pcie::dma_lanes lanes_;
    pcie::peer_lanes peers_;
    pcie::register_bridge bridge_{*this};
    std::uint64_t lose_ = 0;           // number of host reads that the fault still drops
    std::uint64_t lose_messages_ = 0;  // number of interrupts that the fault still drops
    /// Writes of peers that arrived during an access of the card, or after such a write. They are
    /// posted, so they may be executed after it: one may reset the card in the middle of its work.
    struct posted_write {
        std::uint64_t address;
        std::vector<std::uint8_t> bytes;
        pcie::function_id requester;
    };
    unsigned accesses_ = 0;                           // in progress
    static constexpr std::size_t max_postponed = 64;  // later ones wait until one is done
    std::deque<posted_write> postponed_;
    bool is_executing_ = false;  // the first of them
    sc_core::sc_event access_over_;
    pending_access posted_{access_over_};
    deferral room_;
    counts counters_;
};

}  // namespace trn

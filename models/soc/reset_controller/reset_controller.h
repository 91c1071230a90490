// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

#include "platform/framework/kernel/boot_failure.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// Straps, clocks and resets of a chip. Each domain is held in reset from power-on until firmware
/// releases it. A chip reset (watchdog, thermal trip, software, host) pulses the reset of the
/// management processor, and puts all domains into reset again. Spec:
/// doc/models/soc/reset_controller.md.
class reset_controller : public sc_core::sc_module,
                         public reports_ready,
                         public publishes_signals,
                         public reports_boot_failure {
public:
    /// Topology of the machine's chips: doc/topology.md.
    enum class joined : std::uint8_t { none, ring, torus, switched };
    struct config {
        std::uint64_t routing_id = 0;  ///< strap: board position
        /// strap: unique per chip; neither 32-bit half may be 0xdeadbeef
        std::uint64_t serial = 1;
        std::uint64_t revision_id = 0;   ///< strap: PCI revision, 255 simulator, 240 emulator
        std::uint64_t generation = 4;    ///< strap: 4 Trainium3, 3 Trainium2, 2 Trainium1
        std::uint16_t server_id = 0;     ///< strap: id of the machine's first server
        std::uint16_t rack_id = 0;       ///< strap: id of the machine's first rack
        joined topology = joined::none;  ///< strap: topology of the chip's machine
        /// strap: length of a ring, columns of a torus, or chips of a server
        std::uint8_t shape_x = 1;
        std::uint8_t shape_y = 1;         ///< strap: rows of a torus, or servers of a rack
        std::uint8_t shape_z = 1;         ///< strap: servers of a torus, or racks
        std::uint8_t rack = 0;            ///< strap: rack of this chip
        std::uint8_t server_in_rack = 0;  ///< strap: server of this chip in its rack
        std::uint8_t chip = 0;            ///< strap: number of this chip in the server
        bool recovery = false;            ///< strap: the boot ROM does not load from flash
        bool prefer_slot_b = false;       ///< strap: the boot ROM tries slot B first
        sc_core::sc_time pll_lock_time{80, sc_core::SC_US};
        sc_core::sc_time chip_reset_time{10, sc_core::SC_US};  ///< length of the reset pulse
        sc_core::sc_time access_latency{20, sc_core::SC_NS};   ///< per register access
    };
    /// the field has 15 bits in misc RAM +0x70 (contract 4.1)
    static constexpr unsigned max_id = 0x7fff;
    static constexpr unsigned dma_lines = 12;     ///< 8 groups, 4 host-transfer engines
    static constexpr unsigned tpb_lines = 8;      ///< NeuronCores
    static constexpr unsigned top_sp_lines = 10;  ///< pairs of TOP_SPs, or single ones

    register_socket in{"in", regs_};
    irq_in watchdog_bite{"watchdog_bite", 1, [this](unsigned, bool level) {
                             if (level) request(cause::watchdog);
                         }};
    irq_in thermal_trip{"thermal_trip", 1, [this](unsigned, bool level) {
                            if (level) request(cause::thermal);
                        }};
    irq_in host_reset{"host_reset", 1, [this](unsigned, bool level) {
                          if (level) request(cause::host);
                      }};
    irq_in requested{"requested", 1, [this](unsigned, bool level) {
                         if (level) request(cause::software);
                     }};
    /// Without power, all domains are in reset and all state is lost.
    irq_in power_off{"power_off", 1, [this](unsigned, bool level) { power(!level); }};
    irq_out power_lost{"power_lost"};  ///< to blocks that lose their state without power
    irq_out chip_reset{"chip_reset"};  ///< management processor and its local devices
    sc_core::sc_vector<irq_out> dma_reset{"dma_reset", dma_lines};
    sc_core::sc_vector<irq_out> tpb_reset{"tpb_reset", tpb_lines};
    sc_core::sc_vector<irq_out> top_sp_reset{"top_sp_reset", top_sp_lines};

    reset_controller(sc_core::sc_module_name name, const config& cfg);

    /// Whether firmware has recorded that the chip is up.
    bool ready() const override;
    std::string boot_failure() const override;
    void publish_signals(signal_list& out) const override {
        out.state("state", {"off", "reset", "running"}, [this] {
            return power_off.level() ? 0 : chip_reset.level() ? 1 : 2;
        });
    }
    const config& settings() const { return cfg_; }

private:
    /// Bit numbers of RESET_REASON.
    enum class cause : unsigned { power_on, watchdog, software, thermal, host };

    void start_of_simulation() override { reset_domains(); }
    void run();

    void define_registers();
    void request(cause why, const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);
    void start_reset();
    void power(bool on);
    using domain_lines = sc_core::sc_vector<irq_out>;
    static void drive_domains(domain_lines& lines, std::uint64_t held,
                              const sc_core::sc_time& delay);
    void reset_domains();
    void trace_domains(const sc_core::sc_time& delay) const;
    std::uint64_t locked(const sc_core::sc_time& now) const;

    const config cfg_;
    register_bank regs_;
    sc_core::sc_time enabled_at_[4];  // when each PLL was enabled, absolute
    std::uint64_t causes_ = 0;        // causes of the scheduled chip reset
    bool resetting_ = false;
    sc_core::sc_event changed_;
};

}  // namespace trn

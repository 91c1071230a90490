// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/scale_up/neuron_link/configuration_requests.h"
#include "models/scale_up/neuron_link/fabric_identity.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// A chip's NeuronLink: windows for accesses to other chips, the ports of its links, the routing
/// table that firmware writes, and forwarding (transit) between chips that are not joined directly.
/// Spec: doc/models/scale_up/neuron_link.md.
class neuron_link : public sc_core::sc_module,
                    public plug::device,
                    public publishes_statistics,
                    public accepts_faults {
    struct entrance;

public:
    struct config {
        /// Bit of an AXI address that selects host memory, which partners cannot access.
        unsigned host_bit = 46;
        unsigned dies = 2;  ///< each with an AXI socket; bit 47 selects
        /// of an access into, out of or through the chip
        sc_core::sc_time latency{200, sc_core::SC_NS};
        sc_core::sc_time completion_timeout{50, sc_core::SC_US};
        unsigned hop_limit = 16;  ///< limit of chips that forward an access
        unsigned blocks = 4;      ///< number of blocks of links
        /// eight lanes per link: 160 lanes give the published 2.56 TB/s
        unsigned links_per_block = 5;

        unsigned lanes_per_block() const { return links_per_block * 8; }
        unsigned lanes() const { return blocks * lanes_per_block(); }
    };
    static constexpr unsigned ports = configuration_requests::ports, windows = 4;
    static constexpr std::uint64_t window_size = std::uint64_t{1} << 50;
    static constexpr std::uint64_t fabric_size = std::uint64_t{1} << 61;

    template <class T>
    using sockets = sc_core::sc_vector<T>;
    sockets<optional_target_socket<entrance>> window{"window", windows};
    sockets<optional_target_socket<entrance>> fabric{"fabric", windows};
    register_socket control{"control", regs_};  ///< neuron_link.regs.yaml
    sockets<tlm_utils::simple_initiator_socket_tagged<neuron_link, 64>> axi{"axi"};  ///< by die
    sockets<plug> port{"port"};
    irq_out irq{"irq"};
    /// While the line is high, links are down. State and tables are lost; firmware starts again.
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool lost) {
                          if (lost) forget();
                      }};

    SC_HAS_PROCESS(neuron_link);
    neuron_link(sc_core::sc_module_name name, const config& cfg);

    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    // Indices of sources: ports, then windows, then fabric windows. Indices of destinations: ports,
    // then the chip itself.
    static constexpr int from_window = ports, from_fabric = ports + windows;
    static constexpr int sources = ports + 2 * windows;
    static constexpr unsigned to_chip = ports;

    enum class cause : std::uint8_t {  // values of ERROR.CAUSE
        none,
        no_neighbour,
        no_route,
        hop_limit,
        link_down,
        not_of_the_chip,
        timeout
    };
    /// A window for accesses of the chip.
    struct entrance {
        neuron_link* link = nullptr;
        int source = from_window;
        void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
            link->pass(source, payload, delay);
        }
        unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
            return link->peek(source, payload);
        }
        bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
            return link->request_pointer(source, payload, dmi);
        }
    };
    enum class behaviour : std::uint8_t { good, mute, garbage };
    struct step {
        cause refused = cause::none;
        unsigned destination = to_chip;
        std::uint64_t address = 0;  // address at the destination
    };
    /// Counts bytes that this chip forwards, including copies through pointers.
    struct transit_count final : crossing {
        std::uint64_t bytes = 0;
        std::uint64_t before_power = 0;  // of these, before the last power loss
        const sc_core::sc_object& owner;
        explicit transit_count(const sc_core::sc_object& link) : owner(link) {}
        sc_core::sc_time reserve(tlm::tlm_command, std::uint64_t, std::uint64_t length,
                                 const sc_core::sc_time& start) override {
            bytes += length;
            return start;
        }
        void crossed(tlm::tlm_command, std::uint64_t length, const sc_core::sc_time& start,
                     const sc_core::sc_time&) override {
            report_transfer(owner.name(), "transit", length, start, start, sc_core::SC_ZERO_TIME);
        }
    };
    // plug::device
    void received(plug& local, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned peeked(plug& local, tlm::tlm_generic_payload& payload) override;
    bool asked_for_pointer(plug& local, tlm::tlm_generic_payload& payload,
                           tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) override;
    void link_changed(plug& local) override;

    void axi_revoked(int die, sc_dt::uint64 first, sc_dt::uint64 last);

    step next(int source, std::uint64_t address, std::uint64_t length) const;
    step through_window(unsigned number, std::uint64_t address) const;
    step toward(unsigned id, std::uint64_t axi_address, unsigned hops) const;
    std::optional<unsigned> route_to(unsigned id) const;
    bool is_own(unsigned id) const;
    bool is_chip_address(std::uint64_t axi_address, std::uint64_t length) const;
    void pass(int source, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek(int source, tlm::tlm_generic_payload& payload);
    bool request_pointer(int source, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void refuse(int source, cause why, tlm::tlm_generic_payload& payload);
    void note_error(int source, cause why, std::uint64_t address);
    bool refuse_pointer_to(int source, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void revoke(unsigned destination);
    tlm_utils::simple_initiator_socket_tagged<neuron_link, 64>& die_of(std::uint64_t address) {
        return axi[axi.size() > 1 ? address >> 47 & 1 : 0];
    }

    void make_registers();
    void forget();
    void set_default_windows();
    void command(unsigned index, std::uint64_t written);
    void finish_requests() { requests_.finish(); }
    void send_notices();
    void behave(behaviour wanted);
    std::uint64_t status_of(unsigned index) const;
    std::uint64_t errors_of(unsigned index) const;
    void raise(std::uint64_t causes);
    void update_irq(const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);

    const config cfg_;
    std::array<entrance, 2 * windows> entrances_;
    register_bank regs_;
    fabric_identity identity_{*this, ports, regs_, [this](std::uint64_t causes) { raise(causes); }};
    configuration_requests requests_{regs_, port, cfg_.completion_timeout,
                                     [this](std::uint64_t causes) { raise(causes); }};
    // Per destination: bit mask of the sources that asked for pointers since the last revocation.
    std::array<std::uint16_t, ports + 1> asked_{};
    transit_count transit_{*this};
    behaviour behaviour_ = behaviour::good;
    std::uint64_t errors_ = 0, timeouts_ = 0;  // numbers of accesses
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/scale_up/neuron_link/fabric_address.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/plug.h"

namespace trn {

enum class switch_part : std::uint8_t { lanes160, lanes320, ualink };
enum class switch_tier : std::uint8_t { none, sled, rack };  // values of KIND.TIER

/// A NeuronSwitch: forwards each access to the port that has claimed its target chip. Chips claim
/// through their own port. The crossbar does not block, so only links limit the rates. Spec:
/// doc/models/scale_up/neuron_switch.md.
class neuron_switch : public sc_core::sc_module,
                      public plug::device,
                      public publishes_statistics,
                      public accepts_faults {
public:
    struct config {
        switch_part part = switch_part::lanes160;
        unsigned planes = 1;  ///< parallel switch chips that share one set of ports
        unsigned ports = 0;   ///< 0: as many as the part has
        sc_core::sc_time latency = sc_core::SC_ZERO_TIME;  ///< per crossing; 0: the part's
        /// time to collect changes before partners are notified
        sc_core::sc_time notice_delay{500, sc_core::SC_US};
        switch_tier tier = switch_tier::sled;
        unsigned rack = 0, server = 0;  ///< position in the machine
        std::uint64_t serial = 1;

        unsigned port_count() const;
        unsigned lanes() const;  ///< lanes of all planes
    };
    static constexpr unsigned max_ports = 128;
    static std::optional<std::string> check(const config& cfg);

    sc_core::sc_vector<plug> port{"port"};

    SC_HAS_PROCESS(neuron_switch);
    neuron_switch(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }
    /// Lanes of links that are connected.
    unsigned lanes_used() const;
    /// The output port of accesses from port `source` to chip `id`; empty: no route.
    std::optional<unsigned> way_to(unsigned id, unsigned source) const;

    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    static constexpr std::uint8_t unclaimed = 0xff;
    /// Claims of a port, except single chips.
    struct claims {
        std::uint64_t servers = 0;  // bit mask, bit rack * 32 + server
        std::uint8_t racks = 0;
        // Per rack: mask of the reachable chips.
        std::array<std::uint16_t, fabric::racks> rack_chips{};
        std::uint8_t result = 0, taken_by = 0;  // result of the last claim
    };

    // plug::device
    void received(plug& local, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned peeked(plug& local, tlm::tlm_generic_payload& payload) override;
    bool asked_for_pointer(plug& local, tlm::tlm_generic_payload& payload,
                           tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) override;
    void link_changed(plug& local) override;
    void start_of_simulation() override;

    std::optional<unsigned> exit_of(std::uint64_t address, unsigned source) const;
    void revoke(unsigned output);
    void revoke_from(const std::vector<bool>& sources);
    void make_identity();
    void claim(unsigned number, std::uint64_t written);
    void drop_claims(unsigned number);
    void changed();
    void send_notices();
    std::uint64_t reachable(unsigned server) const;
    std::uint64_t racks_beside(unsigned number) const;
    std::uint64_t rack_chips_beside(unsigned number, unsigned rack) const;

    const config cfg_;
    const sc_core::sc_time latency_;
    register_bank identity_;
    std::array<std::uint8_t, fabric::ids> chip_port_;
    std::vector<claims> claims_;
    std::vector<std::vector<bool>> granted_;  // [output][source]: DMI pointers were granted
    std::vector<bool> refused_;               // [source]: refused for want of a route
    std::uint32_t generation_ = 0;
    std::uint64_t unroutable_ = 0;
    sc_core::sc_event gathered_;
    bool notice_due_ = false;
};

}  // namespace trn

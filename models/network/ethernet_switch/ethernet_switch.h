// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/network/ethernet_ports/ethernet_ports.h"
#include "models/network/ethernet_ports/packets_in_flight.h"
#include "models/network/ethernet_switch/packet.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/plug.h"

namespace trn {

/// An Ethernet switch: learns the port of each source address, forwards to that port, and floods
/// packets to unknown addresses. Packets between two ports stay in order. Spec:
/// doc/models/network/ethernet_switch.md.
class ethernet_switch : public sc_core::sc_module,
                        public plug::device,
                        public publishes_statistics,
                        public accepts_faults {
public:
    struct config {
        unsigned ports = 2;
        std::uint64_t port_bytes_per_second = 12'500'000'000;  ///< per port and direction
        sc_core::sc_time latency{10, sc_core::SC_US};          ///< between any two ports; invented
        std::uint64_t buffer = 4u << 20;  ///< limit of bytes that wait for a port
        std::uint64_t loss_ppm = 0;       ///< lost packets per million
    };
    struct counts {
        std::uint64_t packets = 0, bytes = 0, flooded = 0, lost = 0;
    };
    static constexpr std::size_t max_addresses = 8192;

    sc_core::sc_vector<plug> port{"port"};

    SC_HAS_PROCESS(ethernet_switch);
    ethernet_switch(sc_core::sc_module_name name, const config& cfg);

    const counts& counters() const { return counters_; }
    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    struct leaving {
        unsigned output;  // port
        std::unique_ptr<ethernet::packet> packet;
    };

    void received(plug& local, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    void learn(const ethernet::mac_address& address, unsigned source);
    void forward(std::unique_ptr<ethernet::packet> packet, unsigned output,
                 const sc_core::sc_time& arrived);
    void deliver();

    const config cfg_;
    ethernet_ports ports_;
    std::vector<std::uint64_t> waiting_;  // per port: bytes that are waiting for output
    std::map<ethernet::mac_address, unsigned> learned_;  // port of each learned address
    packets_in_flight<leaving> in_flight_;
    counts counters_;
};

}  // namespace trn

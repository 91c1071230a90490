// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/network/ethernet_fabric/frame.h"
#include "models/network/ethernet_ports/ethernet_ports.h"
#include "models/network/ethernet_ports/packets_in_flight.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/plug.h"

namespace trn {

/// The Ethernet between servers: a set of equal paths, with a bandwidth per port and in total, a
/// latency and a loss rate. Each packet takes a random path, so packets may arrive out of order.
/// A train of packets is handed over when its first packet arrives (frame.h).
/// Spec: doc/models/network/ethernet_fabric.md.
class ethernet_fabric : public sc_core::sc_module,
                        public plug::device,
                        public publishes_statistics,
                        public accepts_faults {
public:
    struct config {
        unsigned ports = 2;
        std::uint64_t port_bytes_per_second = 50'000'000'000;  ///< per port and direction
        std::uint64_t core_bytes_per_second = 0;  ///< of all ports together; 0: not limited
        sc_core::sc_time latency{12'200, sc_core::SC_NS};  ///< of the shortest path; invented
        unsigned paths = 64;                               ///< between any two ports
        /// latency of the longest path minus that of the shortest
        sc_core::sc_time spread{1, sc_core::SC_US};
        std::uint64_t loss_ppm = 0;  ///< lost packets per million
    };
    struct counts {
        std::uint64_t packets = 0, bytes = 0, lost = 0, misaddressed = 0;
    };

    sc_core::sc_vector<plug> port{"port"};

    SC_HAS_PROCESS(ethernet_fabric);
    ethernet_fabric(sc_core::sc_module_name name, const config& cfg);

    const counts& counters() const { return counters_; }
    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    void greet();
    void received(plug& local, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    void pass(plug& sender, ethernet::frame& train, unsigned packet);
    void deliver();
    void hand_over(std::unique_ptr<ethernet::frame> frame);

    const config cfg_;
    ethernet_ports ports_;
    std::optional<bandwidth_resource> core_;
    packets_in_flight<std::unique_ptr<ethernet::frame>> in_flight_;
    counts counters_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

#include "models/cards/instance_metadata/dhcp_server.h"
#include "models/cards/instance_metadata/metadata_server.h"
#include "models/cards/instance_metadata/tcp_service.h"
#include "models/network/ethernet_switch/packet.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/plug.h"

namespace trn {

/// Network services for a server, between its network card and the network: answers packets from
/// the card to the instance metadata service, 169.254.169.254, and to a DHCP server; forwards all
/// other packets unchanged without delay. Spec: doc/models/cards/instance_metadata.md.
class instance_metadata : public sc_core::sc_module,
                          public plug::device,
                          public publishes_statistics,
                          public accepts_faults {
public:
    using tokens = metadata::metadata_server::tokens;
    struct config {
        std::string product = {};  ///< the instance's type
        std::uint64_t serial = 1;  ///< determines the instance id
        std::string region = "us-east-1", zone = "us-east-1a";
        std::string user_data = {};  ///< empty: none
        std::string role = {};       ///< role whose credentials the instance gets; empty: none
        /// Whether reads need a token.
        instance_metadata::tokens tokens = instance_metadata::tokens::optional;
        unsigned hop_limit = 1;                        ///< of packets with a token
        sc_core::sc_time latency{50, sc_core::SC_US};  ///< of an answer; invented
    };
    static constexpr std::uint32_t address = 0xa9fe'a9fe;  ///< 169.254.169.254
    static constexpr std::size_t max_waiting = 64;         ///< packets; more are dropped

    plug card{"card", *this, 0};  ///< to the network card
    plug net{"net", *this, 1};    ///< to the network

    SC_HAS_PROCESS(instance_metadata);
    instance_metadata(sc_core::sc_module_name name, const config& cfg);

    /// As in the board asset tag of SMBIOS.
    std::string instance_id() const { return metadata::instance_id_of(cfg_.serial); }
    /// Address that the card gets by DHCP, in the subnet 172.31.0.0/20. Invented.
    std::uint32_t card_address() const;
    std::size_t connections() const { return service_.connections(); }
    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    struct waiting_packet {
        sc_core::sc_time due;
        std::unique_ptr<ethernet::packet> bytes;
    };

    void received(plug& local, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    void take(std::unique_ptr<ethernet::packet> packet, const sc_core::sc_time& arrived);
    void send(std::unique_ptr<ethernet::packet> packet);
    void run();
    void schedule();

    const config cfg_;
    metadata::metadata_server server_;
    metadata::tcp_service service_;
    metadata::dhcp_server dhcp_;
    std::deque<waiting_packet> packets_;
    std::uint64_t dropped_ = 0, lost_answers_ = 0;
    sc_core::sc_event due_;
};

}  // namespace trn

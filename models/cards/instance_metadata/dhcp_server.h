// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/network/ethernet_switch/packet.h"

namespace trn::metadata {

/// The router of a network card's subnet: a DHCP server (RFC 2131) that always assigns the card the
/// same address, and answers ARP for the router. Stateless: a reply depends only on its request.
class dhcp_server {
public:
    struct config {
        ethernet::mac_address mac{};  ///< of the router
        std::uint32_t router = 0;     ///< IPv4 address of the router
        std::uint32_t address = 0;    ///< IPv4 address that the card gets
        unsigned prefix = 20;         ///< bits of the subnet
        std::uint16_t mtu = 9001;
        std::uint32_t lease = 3600;  ///< seconds
        std::string domain, host;    ///< each at most 255 bytes
    };
    using sender = std::function<void(std::unique_ptr<ethernet::packet>)>;
    struct counts {
        std::uint64_t leases = 0, refused = 0;
    };

    dhcp_server(const config& cfg, sender sends);

    /// Whether the packet is an ARP request for the router, or for a DHCP server.
    bool takes(const ethernet::packet& packet) const;
    /// Precondition: takes(packet). Ignores malformed packets.
    void receive(const ethernet::packet& packet);
    const counts& counters() const { return counters_; }

private:
    enum class kind : std::uint8_t {
        discover = 1,
        offer = 2,
        request = 3,
        acknowledge = 5,
        refuse = 6,
        inform = 8,
    };
    /// Options of a message that affect the reply (RFC 2132).
    struct options {
        std::uint8_t message_kind = 0;
        std::optional<std::uint32_t> wanted, server;  // addresses
    };

    static std::optional<options> options_in(std::span<const std::uint8_t> bytes);
    void answer(std::span<const std::uint8_t> message, const options& asked);
    void reply(std::span<const std::uint8_t> message, kind message_kind, bool with_address);
    std::vector<std::uint8_t> options_of(kind message_kind, bool with_address) const;

    const config cfg_;
    const sender sends_;
    counts counters_;
};

}  // namespace trn::metadata

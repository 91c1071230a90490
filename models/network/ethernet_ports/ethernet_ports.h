// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

/// Ports of an Ethernet network: the rate of each direction, whether a port is up, and loss of
/// packets.
class ethernet_ports {
public:
    struct config {
        unsigned count;
        std::uint64_t bytes_per_second;  ///< per port and direction
        std::uint64_t loss_ppm;          ///< lost packets per million
        std::uint64_t seed;              ///< seed for lost packets and draw()
    };
    struct side {
        explicit side(std::uint64_t bytes_per_second);
        bandwidth_resource in, out;  ///< into the network, and out of it
        bool down = false;
    };

    explicit ethernet_ports(const config& cfg);

    side& operator[](std::size_t port) { return *sides_[port]; }
    std::size_t size() const { return sides_.size(); }
    /// Decides whether the next packet is lost.
    bool lose();
    /// A random number from the network's stream.
    std::uint64_t draw() { return chance_(); }
    /// Faults for loss of packets and for ports; `down` describes the effect of a port that is
    /// down.
    std::vector<accepts_faults::fault> faults(const std::string& down);

private:
    std::vector<std::unique_ptr<side>> sides_;
    std::mt19937_64 chance_;
    std::uint64_t loss_ppm_;
    std::uint64_t lose_next_ = 0;
};

}  // namespace trn

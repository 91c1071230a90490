// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

/// The ports of an Ethernet network as its packets see them: the rate of each direction, whether a
/// port works, and packets that are lost on the way.
class ethernet_ports {
public:
    struct config {
        unsigned count;
        std::uint64_t bytes_per_second;  ///< of each direction of a port
        std::uint64_t loss_ppm;          ///< packets lost of a million
        std::uint64_t seed;              ///< of the choice of lost packets and of draw()
    };
    struct side {
        explicit side(std::uint64_t bytes_per_second);
        bandwidth_resource in, out;  ///< into the network, out of it
        bool down = false;
    };

    explicit ethernet_ports(const config& cfg);

    side& operator[](std::size_t port) { return *sides_[port]; }
    std::size_t size() const { return sides_.size(); }
    /// Whether the next packet is lost.
    bool lose();
    /// A random number of the network.
    std::uint64_t draw() { return chance_(); }
    /// Loss of packets and of ports; `down` describes what a port that is down does.
    std::vector<accepts_faults::fault> faults(const std::string& down);

private:
    std::vector<std::unique_ptr<side>> sides_;
    std::mt19937_64 chance_;
    std::uint64_t loss_ppm_;
    std::uint64_t lose_next_ = 0;
};

}  // namespace trn

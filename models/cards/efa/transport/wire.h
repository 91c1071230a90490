// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>

#include "models/cards/efa/transport/srd_packet.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/plug.h"

namespace trn::efa_transport {

/// A card's port: rate, address in the fabric, and transmission. A packet to the card itself does
/// not pass the fabric.
class wire {
public:
    using arrival = std::function<void(std::unique_ptr<srd_packet>)>;

    /// `loop`: receives packets to the card itself.
    wire(plug& net, std::uint64_t bytes_per_second, arrival loop);

    std::uint64_t bytes_per_second() const { return bytes_per_second_; }
    ethernet::address address() const { return address_; }
    void set_address(ethernet::address mine) { address_ = mine; }
    /// Sends a packet, or the packets of a train that are not lost, each complete at its time.
    void send(std::unique_ptr<srd_packet> packet);
    /// Time at which the last packet has left (absolute).
    const sc_core::sc_time& free() const { return free_; }
    /// Delays later packets until `time` (absolute).
    void hold_until(const sc_core::sc_time& time) { free_ = time; }

private:
    plug& net_;
    arrival loop_;
    const std::uint64_t bytes_per_second_;
    bandwidth_resource lane_;
    sc_core::sc_time free_;
    ethernet::address address_ = 0;
};

}  // namespace trn::efa_transport

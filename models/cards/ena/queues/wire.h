// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>

#include "models/network/ethernet_switch/packet.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/plug.h"

namespace trn::ena_queues {

/// A card's port: rate, and whether its cable is connected.
class wire {
public:
    wire(plug& net, std::uint64_t bytes_per_second);

    bool up() const { return up_; }
    void set_up(bool up) { up_ = up; }
    /// Sends a packet that is complete at `ready` (absolute), if the cable is connected. \returns
    /// the time at which its last byte has left (absolute)
    sc_core::sc_time send(std::unique_ptr<ethernet::packet> packet, const sc_core::sc_time& ready);

private:
    plug& net_;
    bandwidth_resource lane_;
    bool up_ = true;
};

}  // namespace trn::ena_queues

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/wire.h"

#include <algorithm>
#include <utility>

#include "platform/framework/tlm/send_carried.h"

namespace trn::efa_transport {

using sc_core::sc_time;

wire::wire(plug& net, std::uint64_t bytes_per_second, arrival loop)
    : net_(net),
      loop_(std::move(loop)),
      bytes_per_second_(bytes_per_second),
      lane_({bytes_per_second, sc_core::SC_ZERO_TIME}) {}

void wire::send(std::unique_ptr<srd_packet> packet) {
    const sc_time now = sc_core::sc_time_stamp();
    const bool timed = timing() == timing_mode::contended;
    for (unsigned i = 0; i < packet->train; ++i) {
        if (!packet->has(i)) continue;
        const auto bytes = packet->share(i, packet->data.size()) + ethernet::frame::overhead;
        packet->times[i] = lane_.reserve(bytes, timed ? packet->times[i] : now);
        free_ = std::max(free_, packet->times[i]);
    }
    if (packet->destination == address_) return loop_(std::move(packet));
    if (net_.joined()) send_carried(net_, ethernet::carrier(std::move(packet)));
}

}  // namespace trn::efa_transport

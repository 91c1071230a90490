// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/wire.h"

#include <algorithm>
#include <utility>

#include "platform/framework/tlm/send_carried.h"

namespace trn::ena_queues {

using sc_core::sc_time;

wire::wire(plug& net, std::uint64_t bytes_per_second)
    : net_(net), lane_({bytes_per_second, sc_core::SC_ZERO_TIME}) {}

sc_time wire::send(std::unique_ptr<ethernet::packet> sent, const sc_time& ready) {
    const sc_time now = sc_core::sc_time_stamp();
    const bool timed = timing() == timing_mode::contended;
    // Memory may have responded later than its latency says.
    const sc_time start = timed ? std::max(ready, now) : now;
    const sc_time left = lane_.reserve(sent->bytes.size() + ethernet::packet::overhead, start);
    if (!up_ || !net_.joined()) return left;
    send_carried(net_, ethernet::packet_carrier(std::move(sent)), left - now);
    return left;
}

}  // namespace trn::ena_queues

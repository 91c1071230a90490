// SPDX-License-Identifier: Apache-2.0
#include "models/network/ethernet_switch/ethernet_switch.h"

#include <utility>

#include "platform/framework/kernel/random.h"
#include "platform/framework/tlm/send_carried.h"

namespace trn {

using ethernet::packet;
using sc_core::sc_time;

ethernet_switch::ethernet_switch(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      ports_({cfg.ports, cfg.port_bytes_per_second, cfg.loss_ppm, seed_for(this->name())}),
      waiting_(cfg.ports) {
    port.init(cfg.ports, [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    SC_METHOD(deliver);
    sensitive << in_flight_.due();
    dont_initialize();
}

void ethernet_switch::received(plug& local, tlm::tlm_generic_payload& payload, sc_time& delay) {
    auto* const carrier = payload.get_extension<ethernet::packet_carrier>();
    if (carrier == nullptr || carrier->carried == nullptr ||
        carrier->carried->bytes.size() < packet::min_bytes)
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    auto received = std::move(carrier->carried);
    auto& source = ports_[local.index()];
    ++counters_.packets;
    counters_.bytes += received->bytes.size();
    const sc_time arrived = source.in.reserve(received->bytes.size() + packet::overhead,
                                              sc_core::sc_time_stamp() + delay);
    if (source.down || ports_.lose()) {
        ++counters_.lost;
        return;
    }
    learn(received->source(), local.index());
    const auto known = learned_.find(received->destination());
    if (known != learned_.end()) {
        if (known->second != local.index()) forward(std::move(received), known->second, arrived);
        return;
    }
    ++counters_.flooded;
    for (unsigned output = 0; output < ports_.size(); ++output)
        if (output != local.index() && port[output].joined())
            forward(std::make_unique<packet>(*received), output, arrived);
}

void ethernet_switch::learn(const ethernet::mac_address& address, unsigned source) {
    if (ethernet::is_group(address)) return;
    const auto known = learned_.find(address);
    if (known != learned_.end())
        known->second = source;
    else if (learned_.size() < max_addresses)
        learned_.emplace(address, source);
}

void ethernet_switch::forward(std::unique_ptr<packet> sent, unsigned output,
                              const sc_time& arrived) {
    auto& out = ports_[output];
    const auto bytes = sent->bytes.size();
    if (out.down || waiting_[output] + bytes > cfg_.buffer) {
        ++counters_.lost;
        return;
    }
    waiting_[output] += bytes;
    sc_time arrival = out.out.reserve(bytes + packet::overhead, arrived);
    if (timing() == timing_mode::contended) arrival += cfg_.latency;
    in_flight_.add(arrival, {output, std::move(sent)});
}

void ethernet_switch::deliver() {
    in_flight_.take([this](leaving departure) {
        waiting_[departure.output] -= departure.packet->bytes.size();
        if (ports_[departure.output].down)
            ++counters_.lost;
        else
            send_carried(port[departure.output],
                         ethernet::packet_carrier(std::move(departure.packet)));
    });
}

std::vector<accepts_faults::fault> ethernet_switch::faults() {
    return ports_.faults("the port has no traffic, and its card does not learn of it");
}

void ethernet_switch::publish(statistics& out) const {
    out.count("packets", counters_.packets);
    out.count("bytes", counters_.bytes);
    out.count("flooded_packets", counters_.flooded);
    out.count("lost_packets", counters_.lost);
}

}  // namespace trn

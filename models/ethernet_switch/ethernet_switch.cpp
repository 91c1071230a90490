// SPDX-License-Identifier: Apache-2.0
#include "models/ethernet_switch/ethernet_switch.h"

#include <utility>

#include "platform/framework/kernel/fault_arguments.h"
#include "platform/framework/kernel/random.h"

namespace trn {

using ethernet::packet;
using sc_core::sc_time;

ethernet_switch::side::side(std::uint64_t rate)
    : in({rate, sc_core::SC_ZERO_TIME}), out({rate, sc_core::SC_ZERO_TIME}) {}

ethernet_switch::ethernet_switch(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg), chance_(seed_for(this->name())), loss_ppm_(cfg.loss_ppm) {
    port.init(cfg.ports, [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    for (unsigned i = 0; i < cfg.ports; ++i)
        sides_.push_back(std::make_unique<side>(cfg.port_bytes_per_second));
    SC_METHOD(deliver);
    sensitive << next_;
    dont_initialize();
}

bool ethernet_switch::lose() {
    if (lose_next_ > 0) {
        --lose_next_;
        return true;
    }
    return loss_ppm_ > 0 && chance_() % 1'000'000 < loss_ppm_;
}

void ethernet_switch::received(plug& at, tlm::tlm_generic_payload& payload, sc_time& delay) {
    auto* const carrier = payload.get_extension<ethernet::packet_carrier>();
    if (carrier == nullptr || carrier->carried == nullptr ||
        carrier->carried->bytes.size() < packet::min_bytes)
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    auto what = std::move(carrier->carried);
    side& from = *sides_[at.index()];
    ++counters_.packets;
    counters_.bytes += what->bytes.size();
    const sc_time arrived =
        from.in.reserve(what->bytes.size() + packet::overhead, sc_core::sc_time_stamp() + delay);
    if (from.down || lose()) {
        ++counters_.lost;
        return;
    }
    learn(what->source(), at.index());
    const auto known = ports_.find(what->destination());
    if (known != ports_.end()) {
        if (known->second != at.index()) forward(std::move(what), known->second, arrived);
        return;
    }
    ++counters_.flooded;
    for (unsigned to = 0; to < sides_.size(); ++to)
        if (to != at.index() && port[to].joined())
            forward(std::make_unique<packet>(*what), to, arrived);
}

void ethernet_switch::learn(const ethernet::mac_address& address, unsigned from) {
    if (ethernet::is_group(address)) return;
    const auto known = ports_.find(address);
    if (known != ports_.end())
        known->second = from;
    else if (ports_.size() < max_addresses)
        ports_.emplace(address, from);
}

void ethernet_switch::forward(std::unique_ptr<packet> what, unsigned to, const sc_time& arrived) {
    side& out = *sides_[to];
    const auto bytes = what->bytes.size();
    if (out.down || out.waiting + bytes > cfg_.buffer) {
        ++counters_.lost;
        return;
    }
    out.waiting += bytes;
    sc_time arrival = out.out.reserve(bytes + packet::overhead, arrived);
    if (timing() == timing_mode::contended) arrival += cfg_.latency;
    flying_.push({arrival, ++number_, to, std::move(what)});
    next_.notify(flying_.top().arrival - sc_core::sc_time_stamp());
}

void ethernet_switch::deliver() {
    const sc_time now = sc_core::sc_time_stamp();
    while (!flying_.empty() && flying_.top().arrival <= now) {
        const unsigned to = flying_.top().to;
        auto what = std::move(flying_.top().what);
        flying_.pop();
        side& out = *sides_[to];
        out.waiting -= what->bytes.size();
        if (out.down) {
            ++counters_.lost;
            continue;
        }
        ethernet::packet_carrier carrier(std::move(what));
        tlm::tlm_generic_payload payload;
        payload.set_extension(&carrier);
        sc_time delay;
        port[to].send(payload, delay);
        payload.clear_extension(&carrier);
    }
    if (!flying_.empty()) next_.notify(flying_.top().arrival - now);
}

std::vector<accepts_faults::fault> ethernet_switch::faults() {
    const auto set_down = [this](bool down) {
        return [this, down](const fault_arguments& arguments) {
            sides_[fault_number(arguments, "port", 0, sides_.size() - 1)]->down = down;
        };
    };
    return {
        {"loss", "ppm: packets of a million that are lost",
         [this](auto& arguments) { loss_ppm_ = fault_number(arguments, "ppm", 0, 1'000'000, 0); }},
        {"lose", "the next packets are lost; count (default 1)",
         [this](auto& arguments) { lose_next_ += fault_count(arguments); }},
        {"port_down", "port: no traffic, and its card does not learn of it", set_down(true)},
        {"port_up", "port: works again", set_down(false)}};
}

void ethernet_switch::publish(statistics& out) const {
    out.count("packets", counters_.packets);
    out.count("bytes", counters_.bytes);
    out.count("flooded_packets", counters_.flooded);
    out.count("lost_packets", counters_.lost);
}

}  // namespace trn

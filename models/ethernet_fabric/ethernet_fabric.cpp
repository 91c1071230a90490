// SPDX-License-Identifier: Apache-2.0
#include "models/ethernet_fabric/ethernet_fabric.h"

#include <algorithm>
#include <string>

#include "platform/framework/kernel/fault_arguments.h"
#include "platform/framework/kernel/random.h"

namespace trn {

using ethernet::frame;
using sc_core::sc_time;

ethernet_fabric::side::side(std::uint64_t rate)
    : in({rate, sc_core::SC_ZERO_TIME}), out({rate, sc_core::SC_ZERO_TIME}) {}

ethernet_fabric::ethernet_fabric(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg), chance_(seed_for(this->name())), loss_ppm_(cfg.loss_ppm) {
    port.init(cfg.ports, [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    for (unsigned i = 0; i < cfg.ports; ++i)
        sides_.push_back(std::make_unique<side>(cfg.port_bytes_per_second));
    if (cfg.core_bytes_per_second != 0)
        core_.emplace(bandwidth_resource::config{cfg.core_bytes_per_second, sc_core::SC_ZERO_TIME});
    SC_METHOD(deliver);
    sensitive << next_;
    dont_initialize();
}

/// Tells every card who it is.
void ethernet_fabric::start_of_simulation() {
    for (unsigned i = 0; i < cfg_.ports; ++i) {
        auto hello = std::make_unique<frame>();
        hello->what = frame::kind::hello;
        hello->destination = static_cast<ethernet::address>(i);
        hand_over(std::move(hello));
    }
}

bool ethernet_fabric::lose() {
    if (lose_next_ > 0) {
        --lose_next_;
        return true;
    }
    return loss_ppm_ > 0 && chance_() % 1'000'000 < loss_ppm_;
}

void ethernet_fabric::received(plug& at, tlm::tlm_generic_payload& payload, sc_time& delay) {
    auto* carried = payload.get_extension<ethernet::carrier>();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (carried == nullptr || carried->carried == nullptr)
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    auto what = std::move(carried->carried);
    const std::uint64_t bytes = what->data.size() + frame::overhead;
    ++counters_.packets;
    counters_.bytes += what->data.size();
    const sc_time now = sc_core::sc_time_stamp();
    sc_time through = sides_[at.index()]->in.reserve(bytes, now + delay);
    if (what->destination >= sides_.size()) {
        ++counters_.misaddressed;
        return;
    }
    if (sides_[at.index()]->down || sides_[what->destination]->down || lose()) {
        ++counters_.lost;
        return;
    }
    if (core_) through = std::max(through, core_->reserve(bytes, now + delay));
    // The way out is taken in the order of sending; which path was chosen only says by how much a
    // packet comes later, so that it does not hold up those that overtake it.
    sc_time arrival = sides_[what->destination]->out.reserve(bytes, through);
    if (timing() == timing_mode::contended) {
        arrival += cfg_.latency;
        const auto path = chance_() % cfg_.paths;
        if (cfg_.paths > 1)
            arrival +=
                cfg_.spread * (static_cast<double>(path) / static_cast<double>(cfg_.paths - 1));
    }
    if (what->of != 0) {
        const trace::on_behalf_of it(what->of);
        trace::span(name(), "packet", now + delay, arrival - now - delay,
                    {{"from", what->source}, {"to", what->destination}, {"bytes", bytes}});
    }
    flying_.push({arrival, ++number_, std::move(what)});
    next_.notify(flying_.top().arrival - now);
}

void ethernet_fabric::deliver() {
    const sc_time now = sc_core::sc_time_stamp();
    while (!flying_.empty() && flying_.top().arrival <= now) {
        auto what = std::move(flying_.top().what);
        flying_.pop();
        if (sides_[what->destination]->down)
            ++counters_.lost;
        else
            hand_over(std::move(what));
    }
    if (!flying_.empty()) next_.notify(flying_.top().arrival - now);
}

void ethernet_fabric::hand_over(std::unique_ptr<frame> what) {
    plug& to = port[what->destination];
    ethernet::carrier carrier(std::move(what));
    tlm::tlm_generic_payload payload;
    payload.set_extension(&carrier);
    sc_time delay;
    to.send(payload, delay);
    payload.clear_extension(&carrier);
}

std::vector<accepts_faults::fault> ethernet_fabric::faults() {
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
        {"port_down", "port: no traffic, as after the loss of its card", set_down(true)},
        {"port_up", "port: works again", set_down(false)}};
}

void ethernet_fabric::publish(statistics& out) const {
    out.count("packets", counters_.packets);
    out.count("bytes", counters_.bytes);
    out.count("lost_packets", counters_.lost);
    out.count("misaddressed_packets", counters_.misaddressed);
}

}  // namespace trn

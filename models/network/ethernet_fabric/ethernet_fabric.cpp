// SPDX-License-Identifier: Apache-2.0
#include "models/network/ethernet_fabric/ethernet_fabric.h"

#include <algorithm>
#include <string>

#include "platform/framework/kernel/random.h"
#include "platform/framework/tlm/send_carried.h"

namespace trn {

using ethernet::frame;
using sc_core::sc_time;

ethernet_fabric::ethernet_fabric(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      ports_({cfg.ports, cfg.port_bytes_per_second, cfg.loss_ppm, seed_for(this->name())}) {
    port.init(cfg.ports, [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    if (cfg.core_bytes_per_second != 0)
        core_.emplace(bandwidth_resource::config{cfg.core_bytes_per_second, sc_core::SC_ZERO_TIME});
    SC_METHOD(greet);
    SC_METHOD(deliver);
    sensitive << in_flight_.due();
    dont_initialize();
}

/// Sends each card its address, in the first delta cycle.
void ethernet_fabric::greet() {
    for (unsigned i = 0; i < cfg_.ports; ++i) {
        auto hello = std::make_unique<frame>();
        hello->is_hello = true;
        hello->destination = static_cast<ethernet::address>(i);
        hand_over(std::move(hello));
    }
}

void ethernet_fabric::received(plug& local, tlm::tlm_generic_payload& payload, sc_time&) {
    auto* carried = payload.get_extension<ethernet::carrier>();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (carried == nullptr || carried->carried == nullptr)
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    auto arriving = std::move(carried->carried);
    std::optional<sc_time> first;
    for (unsigned i = 0; i < arriving->train; ++i) {
        if (arriving->has(i)) pass(local, *arriving, i);
        if (arriving->has(i))
            first = std::min(first.value_or(arriving->times[i]), arriving->times[i]);
    }
    if (first) in_flight_.add(*first, std::move(arriving));
}

/// Frames pass a port in the order of their calls: a frame that is ahead leaves no gap.
static sc_time in_order(bandwidth_resource& port, std::uint64_t bytes, const sc_time& start) {
    port.hold_until(start);
    return port.reserve(bytes, start);
}

/// Passes one packet of a train: decides whether it is lost, or when it arrives.
void ethernet_fabric::pass(plug& sender, frame& train, unsigned packet) {
    const std::uint64_t data = train.share(packet, train.data.size());
    const std::uint64_t bytes = data + frame::overhead;
    const sc_time sent = train.times[packet];
    ++counters_.packets;
    counters_.bytes += data;
    auto& source = ports_[sender.index()];
    sc_time through = in_order(source.in, bytes, sent);
    if (train.destination >= ports_.size()) {
        ++counters_.misaddressed;
        return train.lose(packet);
    }
    auto& destination = ports_[train.destination];
    if (source.down || destination.down || ports_.lose()) {
        ++counters_.lost;
        return train.lose(packet);
    }
    if (core_) through = std::max(through, in_order(*core_, bytes, sent));
    // The output port is reserved in the order of sending. The delay of the chosen path is added
    // afterwards, so that it does not delay packets that overtake.
    sc_time arrival = in_order(destination.out, bytes, through);
    if (timing() == timing_mode::contended) {
        arrival += cfg_.latency;
        const auto path = ports_.draw() % cfg_.paths;
        if (cfg_.paths > 1)
            arrival +=
                cfg_.spread * (static_cast<double>(path) / static_cast<double>(cfg_.paths - 1));
    }
    train.times[packet] = arrival;
    if (train.cause == 0) return;
    const trace::on_behalf_of cause(train.cause);
    trace::span(name(), "packet", sent, arrival - sent,
                {{"from", train.source}, {"to", train.destination}, {"bytes", bytes}});
}

void ethernet_fabric::deliver() {
    in_flight_.take([this](std::unique_ptr<frame> frame) {
        if (ports_[frame->destination].down)
            counters_.lost += frame->present();
        else
            hand_over(std::move(frame));
    });
}

void ethernet_fabric::hand_over(std::unique_ptr<frame> frame) {
    plug& receiver = port[frame->destination];
    send_carried(receiver, ethernet::carrier(std::move(frame)));
}

std::vector<accepts_faults::fault> ethernet_fabric::faults() {
    return ports_.faults("the port has no traffic, as after the loss of its card");
}

void ethernet_fabric::publish(statistics& out) const {
    out.count("packets", counters_.packets);
    out.count("bytes", counters_.bytes);
    out.count("lost_packets", counters_.lost);
    out.count("misaddressed_packets", counters_.misaddressed);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/instance_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "platform/framework/kernel/random.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/send_carried.h"

namespace trn {

using ethernet::packet;
using metadata::tcp_service;
using sc_core::sc_time;

namespace {
// Invented.
constexpr ethernet::mac_address own_mac{0x02, 0x00, 0xa9, 0xfe, 0xa9, 0xfe};
constexpr ethernet::mac_address router_mac{0x02, 0x00, 0xac, 0x1f, 0x00, 0x01};

constexpr std::uint32_t subnet = 0xac1f'0000;  // 172.31.0.0, of a default VPC
constexpr unsigned subnet_bits = 20, vpc_bits = 16;
}  // namespace

instance_metadata::instance_metadata(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      server_(
          {.about = {.type = cfg.product,
                     .id = instance_id(),
                     .region = cfg.region,
                     .zone = cfg.zone,
                     .mac = {},
                     .address = {},
                     .subnet = fmt::format("{}/{}", metadata::address_text(subnet), subnet_bits),
                     .vpc = fmt::format("{}/{}", metadata::address_text(subnet), vpc_bits),
                     .user_data = cfg.user_data,
                     .role = cfg.role},
           .need = cfg.tokens,
           .hop_limit = static_cast<std::uint8_t>(cfg.hop_limit),
           .seed = seed_for(this->name())}),
      service_(
          {.mac = own_mac, .address = address, .seed = seed_for(this->name())},
          [this](const tcp_service::client& client, std::string_view request) {
              return server_.answer(client, request);
          },
          [this](std::unique_ptr<packet> packet) { send(std::move(packet)); }),
      dhcp_({.mac = router_mac,
             .router = subnet + 1,
             .address = card_address(),
             .prefix = subnet_bits,
             .domain = metadata::domain_of(cfg.region),
             .host = metadata::host_label_of(metadata::address_text(card_address()))},
            [this](std::unique_ptr<packet> packet) { send(std::move(packet)); }) {
    SC_METHOD(run);
    sensitive << due_;
    dont_initialize();
}

/// A subnet reserves its first four addresses and the last. `count` is prime.
std::uint32_t instance_metadata::card_address() const {
    constexpr std::uint32_t first = 4, count = 4091;
    return subnet + first + static_cast<std::uint32_t>(cfg_.serial % count);
}

void instance_metadata::received(plug& local, tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (local.index() == net.index()) return card.send(payload, delay);
    auto* const carrier = payload.get_extension<ethernet::packet_carrier>();
    if (carrier == nullptr || carrier->carried == nullptr ||
        !(service_.takes(*carrier->carried) || dhcp_.takes(*carrier->carried)))
        return net.send(payload, delay);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    take(std::move(carrier->carried), sc_core::sc_time_stamp() + delay);
}

void instance_metadata::take(std::unique_ptr<packet> packet, const sc_time& arrived) {
    if (packets_.size() >= max_waiting) {
        ++dropped_;
        return;
    }
    const bool timed = timing() == timing_mode::contended;
    packets_.push_back(
        {timed ? arrived + cfg_.latency : sc_core::sc_time_stamp(), std::move(packet)});
    schedule();
}

void instance_metadata::run() {
    const sc_time now = sc_core::sc_time_stamp();
    while (!packets_.empty() && packets_.front().due <= now) {
        const auto packet = std::move(packets_.front().bytes);
        packets_.pop_front();
        if (service_.takes(*packet))
            service_.receive(*packet);
        else
            dhcp_.receive(*packet);
    }
    service_.time_out();
    schedule();
}

void instance_metadata::schedule() {
    auto next = service_.next_timeout();
    if (!packets_.empty())
        next = next ? std::min(*next, packets_.front().due) : packets_.front().due;
    const sc_time now = sc_core::sc_time_stamp();
    if (next) due_.notify(*next > now ? *next - now : sc_core::SC_ZERO_TIME);
}

void instance_metadata::send(std::unique_ptr<packet> packet) {
    if (lost_answers_ > 0) {
        --lost_answers_;
        return;
    }
    send_carried(card, ethernet::packet_carrier(std::move(packet)));
}

std::vector<accepts_faults::fault> instance_metadata::faults() {
    return {{"lose",
             "the next packets of the service are lost",
             {fault_argument::count()},
             [this](const fault_values& given) { lost_answers_ += given.number("count"); }},
            {"unavailable",
             "the service answers 503",
             {},
             [this](auto&) { server_.set_available(false); }},
            {"available", "the service works again", {}, [this](auto&) {
                 server_.set_available(true);
             }}};
}

void instance_metadata::publish(statistics& out) const {
    out.count("requests", server_.counters().requests);
    out.count("refused_requests", server_.counters().refused);
    out.count("tokens", server_.counters().tokens);
    out.count("leases", dhcp_.counters().leases);
    out.count("refused_leases", dhcp_.counters().refused);
    out.count("dropped_packets", dropped_);
}

}  // namespace trn

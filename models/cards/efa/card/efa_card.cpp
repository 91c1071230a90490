// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/card/efa_card.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "models/cards/efa/card/efa_card_regs.h"

namespace trn {

using namespace efa_card_regs;
using efa_objects::doorbells;
using efa_objects::limits;
using efa_transport::srd_packet;
using sc_core::sc_time;

namespace {

constexpr std::uint64_t own_registers_at = 0x68;  // end of the management layer's registers
constexpr std::uint64_t doorbells_at = 0x1000;    // in BAR0, up to its end
constexpr unsigned doorbell_bar = 0;
constexpr std::uint32_t keep_alive_group = 1 << 4;

efa_admin::config admin_config(const efa_card::config& cfg) {
    return {.rdma_read = cfg.rdma_read,
            .rdma_write = cfg.rdma_write,
            .mtu = cfg.mtu,
            .gigabits = static_cast<std::uint16_t>(cfg.bytes_per_second() / 125'000'000),
            .guid = cfg.guid,
            .doorbell_bar = doorbell_bar,
            .max_eq = cfg.event_queues,
            .vectors = cfg.vectors};
}

efa_transport::packet_sender::config sender_config(const efa_card::config& cfg) {
    return {.packet = cfg.packet,
            .mtu = cfg.mtu,
            .window = cfg.window,
            .retries = cfg.retries,
            .processing = cfg.processing,
            .retransmit = cfg.retransmit,
            .rdma_read = cfg.rdma_read,
            .rdma_write = cfg.rdma_write};
}

}  // namespace

std::uint64_t efa_card::config::bytes_per_second() const {
    if (rate != 0) return rate;
    switch (generation) {
    case efa_card::generation::v2:
        return 12'500'000'000;
    case efa_card::generation::v3:
        return 25'000'000'000;
    case efa_card::generation::v4:
        break;
    }
    return 50'000'000'000;
}

efa_card::efa_card(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      irq("irq", cfg.vectors),
      cfg_(cfg),
      own_registers_(efa_card_regs::table),
      rings_("rings", {.size = limits::send_rings_bytes, .shared = cfg.shared_rings}),
      objects_(cfg.event_queues, doorbells_at,
               static_cast<unsigned>((bar0_size - doorbells_at) / doorbells::page_bytes)),
      management_("management", {.command_time = cfg.command_time}, dma, *this),
      admin_(admin_config(cfg), objects_, *this),
      writer_("writer", dma),
      wire_(net, cfg.bytes_per_second(),
            [this](std::unique_ptr<srd_packet> packet) { receiver_.arrived(std::move(packet)); }),
      completions_(objects_, writer_, [this](unsigned vector) { raise(vector); }),
      sender_("sender", sender_config(cfg), dma,
              {rings_.bytes().data(), static_cast<std::size_t>(rings_.bytes().size())}, objects_,
              wire_, completions_),
      receiver_("receiver", dma, objects_, sender_, completions_) {
    registers.map(0, own_registers_at, management_.registers);
    registers.map(own_registers_at, doorbells_at - own_registers_at, own_registers_,
                  own_registers_at);
    registers.map<&efa_card::ring_doorbell, &efa_card::peek_doorbell>(
        doorbells_at, bar0_size - doorbells_at, *this, doorbells_at);
    send_rings.bind(rings_.in);
    dma.register_invalidate_direct_mem_ptr(this, &efa_card::revoke);
    own_registers_.on_write(reg::eq_db, [this](register_access& a) {
        if (eq_db::arm.get(a.written) != 0)
            completions_.arm_events(static_cast<std::uint16_t>(eq_db::eq.get(a.written)));
    });
    SC_METHOD(keep_alive);
    sensitive << keep_alive_due_;
    dont_initialize();
}

void efa_card::revoke(sc_dt::uint64 first, sc_dt::uint64 last) {
    management_.invalidate(first, last);
    writer_.invalidate(first, last);
    sender_.invalidate(first, last);
    receiver_.invalidate(first, last);
}

// --- BAR0 ---

/// Doorbells are write-only. Writes outside doorbells have no effect, because a process may still
/// map the page of a queue that was destroyed.
void efa_card::ring_doorbell(payload& request, sc_time&) {
    std::uint32_t value = 0;
    const std::uint64_t address = request.get_address();
    const bool fits = request.get_data_length() == sizeof value && address % sizeof value == 0 &&
                      address < bar0_size && request.get_byte_enable_ptr() == nullptr;
    if (!fits) return request.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    if (request.is_read()) {
        std::memcpy(request.get_data_ptr(), &value, sizeof value);
        return;
    }
    std::memcpy(&value, request.get_data_ptr(), sizeof value);
    const auto* const bell = objects_.bells.find(address);
    if (bell == nullptr) return;
    const auto count = static_cast<std::uint16_t>(efa_io_regs::queue_doorbell::count.get(value));
    switch (bell->use) {
    case doorbells::purpose::send:
        return sender_.posted(bell->number, count);
    case doorbells::purpose::receive:
        return receiver_.posted(bell->number, count);
    case doorbells::purpose::completion:
        return completions_.consumed(static_cast<std::uint16_t>(bell->number), value);
    }
}

// --- reset ---

void efa_card::forget() {
    management_.forget();
    reset_by_driver();
}

void efa_card::reset_by_driver() {
    sender_.forget();
    receiver_.forget();
    writer_.abandon();
    admin_.reset();
    own_registers_.reset();
    keeps_alive_ = false;
    keep_alive_due_.cancel();
}

// --- efa_admin::listener ---

void efa_card::queue_pair_stopped(std::uint32_t handle, bool flushes) {
    sender_.stop(handle, flushes);
    receiver_.stop(handle, flushes);
}

void efa_card::ring_removed(const host_ring& ring) {
    writer_.drop(ring.base(), ring.base() + ring.bytes() - 1);
}

void efa_card::events_enabled(std::uint32_t groups) {
    keeps_alive_ = (groups & keep_alive_group) != 0 && cfg_.keep_alive != sc_core::SC_ZERO_TIME;
    if (keeps_alive_) keep_alive_due_.notify(cfg_.keep_alive);
}

void efa_card::keep_alive() {
    if (!keeps_alive_) return;
    management_.report(nitro_management::event_group::keep_alive, 0);
    keep_alive_due_.notify(cfg_.keep_alive);
}

// --- the network ---

void efa_card::received(plug&, payload& payload, sc_time&) {
    auto* const carrier = payload.get_extension<ethernet::carrier>();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (carrier == nullptr || carrier->carried == nullptr)
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (carrier->carried->is_hello) return wire_.set_address(carrier->carried->destination);
    auto* const packet = dynamic_cast<srd_packet*>(carrier->carried.get());
    if (packet == nullptr || reset.level()) return;  // dropped
    [[maybe_unused]] const auto* const same = carrier->carried.release();
    receiver_.arrived(std::unique_ptr<srd_packet>(packet));
}

// --- for tools ---

std::vector<accepts_faults::fault> efa_card::faults() {
    auto all = management_.faults();
    all.push_back(
        {"fatal_error", "the card reports a fatal error until it is reset", {}, [this](auto&) {
             management_.fail(1);
         }});
    return all;
}

std::optional<std::string> efa_card::describe_wait() const {
    if (sender_.unacknowledged() == 0) return std::nullopt;
    return fmt::format("{} packets not acknowledged", sender_.unacknowledged());
}

void efa_card::publish(statistics& out) const {
    management_.publish(out);
    const auto& packets = sender_.counters();
    const auto& counters = objects_.counters;
    out.count("bytes_sent", counters.basic.tx_bytes);
    out.count("bytes_received", counters.basic.rx_bytes);
    out.count("packets_sent", packets.packets);
    out.count("packets_received", counters.basic.rx_packets);
    out.count("dropped_packets", counters.basic.rx_drops);
    out.count("retransmits", packets.retransmits);
    out.count("out_of_order", packets.out_of_order);
    out.count("requests", sender_.requests().completed);
    out.count("failed_requests", sender_.requests().failed);
    out.count("completions", completions_.count());
}

}  // namespace trn

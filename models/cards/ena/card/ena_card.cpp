// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/card/ena_card.h"

#include <array>
#include <bit>
#include <memory>
#include <utility>

#include "models/cards/ena/card/ena_card_regs.h"
#include "models/cards/nitro_management/nitro_management_regs.h"

namespace trn {

using namespace ena_card_regs;
using ena_queues::find;
using sc_core::sc_time;

namespace {

constexpr std::uint64_t management_end = nitro_management_regs::size;

constexpr std::uint32_t group_bit(nitro_management::event_group group) {
    return 1u << static_cast<unsigned>(group);
}

ethernet::mac_address address_of(const ena_card::config& cfg) {
    constexpr std::uint64_t own_bits = (std::uint64_t{1} << 40) - 1;
    const std::uint64_t number =
        cfg.mac != 0 ? cfg.mac : std::uint64_t{0x02} << 40 | (cfg.serial & own_bits);
    ethernet::mac_address value{};
    for (std::size_t i = 0; i < value.size(); ++i)
        value[value.size() - 1 - i] = static_cast<std::uint8_t>(number >> 8 * i);
    return value;
}

}  // namespace

ena_card::ena_card(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      irq("irq", cfg.vectors),
      cfg_(cfg),
      mac_(address_of(cfg)),
      own_registers_(ena_card_regs::table),
      entries_("entry_memory", {.size = entries_size, .shared = cfg.shared_entries}),
      management_("management",
                  {.command_time = cfg.command_time,
                   .version = 0x000a,  // 0.10, as the driver prints it on instances
                   .controller_version = 0x0100'0001,
                   .dma_address_width = 48,
                   .event_count_is_limit = true},
                  dma, *this),
      admin_({.mac = mac_,
              .megabits = static_cast<std::uint32_t>(cfg.rate / 125'000),
              .queues = cfg.queues,
              .vectors = cfg.vectors,
              .card_rings = cfg.low_latency_queues},
             queues_, *this),
      writer_("writer", dma),
      wire_(net, cfg.rate),
      interrupts_("interrupts", [this](unsigned vector) { raise(vector); }),
      completions_(queues_, writer_, interrupts_),
      transmitter_("transmitter", cfg.processing,
                   {dma, {entries_.bytes().data(), static_cast<std::size_t>(entries_size)}},
                   queues_, completions_, wire_),
      receiver_("receiver", cfg.processing, dma, queues_, completions_) {
    registers.map(0, management_end, management_.registers);
    registers.map(management_end, bar0_size - management_end, own_registers_, management_end);
    entries.bind(entries_.in);
    dma.register_invalidate_direct_mem_ptr(this, &ena_card::revoke);
    set_up_registers();
    SC_METHOD(keep_alive);
    sensitive << keep_alive_due_;
    dont_initialize();
}

void ena_card::set_up_registers() {
    own_registers_.on_write(reg::doorbell, [this](register_access& a) {
        const auto number = static_cast<std::uint16_t>(a.index);
        const auto* const found = find(queues_.submissions, number);
        if (found == nullptr || failed()) return;
        const auto count = static_cast<std::uint16_t>(doorbell::count.get(a.written));
        if (found->way == ena_queues::direction::transmit)
            transmitter_.posted(number, count);
        else
            receiver_.posted(number, count);
    });
    own_registers_.on_write(reg::interrupt, [this](register_access& a) {
        const auto* const found = find(queues_.completions, a.index);
        if (found == nullptr) return;
        interrupts_.set(found->vector, static_cast<unsigned>(interrupt::rx_delay.get(a.written)),
                        static_cast<unsigned>(interrupt::tx_delay.get(a.written)),
                        interrupt::unmask.get(a.written) != 0);
    });
    // The driver is ready for events, or has room again: report the state of the link.
    management_.registers.on_write(nitro_management_regs::reg::aenq_cons_db,
                                   [this](register_access&) {
                                       if (!link_reported_) report_link();
                                   });
}

void ena_card::revoke(sc_dt::uint64 first, sc_dt::uint64 last) {
    management_.invalidate(first, last);
    writer_.invalidate(first, last);
    transmitter_.invalidate(first, last);
    receiver_.invalidate(first, last);
}

// --- BAR0 ---

std::uint32_t ena_card::doorbell_of(std::uint16_t number) const {
    return static_cast<std::uint32_t>(offset(reg::doorbell, number));
}

std::uint32_t ena_card::interrupt_of(std::uint16_t number) const {
    return static_cast<std::uint32_t>(offset(reg::interrupt, number));
}

// --- reset ---

void ena_card::forget() {
    management_.forget();
    reset_by_driver();
}

void ena_card::reset_by_driver() {
    transmitter_.forget();
    receiver_.forget();
    interrupts_.forget();
    writer_.abandon();
    admin_.reset();
    own_registers_.reset();
    events_ = 0;
    link_reported_ = false;
    keep_alive_due_.cancel();
}

// --- ena_admin::listener ---

void ena_card::queue_removed(std::uint16_t number) {
    transmitter_.removed(number);
    receiver_.removed(number);
}

void ena_card::ring_removed(const host_ring& ring) {
    writer_.drop(ring.base(), ring.base() + ring.bytes() - 1);
}

void ena_card::events_enabled(std::uint32_t groups) {
    using group = nitro_management::event_group;
    events_ = groups;
    keep_alive_due_.cancel();
    if ((events_ & group_bit(group::keep_alive)) != 0 && cfg_.keep_alive != sc_core::SC_ZERO_TIME)
        keep_alive_due_.notify(cfg_.keep_alive);
}

/// After a fatal error, the card moves no packets and sends no events until its reset: Linux's
/// driver ignores the fatal event, and recovers by its keep-alive watchdog.
bool ena_card::failed() const {
    return management_.registers.get(nitro_management_regs::dev_sts::fatal_error) != 0;
}

void ena_card::fail() {
    management_.fail(1);
    for (auto& [number, queue] : queues_.submissions) queue.taken = queue.posted;
    transmitter_.forget();
    receiver_.forget();
}

void ena_card::keep_alive() {
    if (failed()) return;
    keep_alive_due_.notify(cfg_.keep_alive);
    if (lost_keep_alives_ > 0) {
        --lost_keep_alives_;
        return;
    }
    const auto& counters = queues_.counters;
    const auto drops = std::bit_cast<std::array<std::uint32_t, 4>>(
        std::array{counters.rx_drops, counters.tx_drops});  // each low half first
    management_.report(nitro_management::event_group::keep_alive, 0, drops);
}

void ena_card::set_link(bool up) {
    wire_.set_up(up);
    if (link_reported_) report_link();  // otherwise reported at the driver's next event count
}

void ena_card::report_link() {
    using group = nitro_management::event_group;
    if ((events_ & group_bit(group::link_change)) == 0) return;
    const std::array<std::uint32_t, 1> state{wire_.up() ? 1u : 0u};
    link_reported_ = management_.report(group::link_change, 0, state);
}

// --- the network ---

/// Drops packets for other MAC addresses, which a switch floods.
void ena_card::received(plug&, payload& payload, sc_time&) {
    auto* const carrier = payload.get_extension<ethernet::packet_carrier>();
    if (carrier == nullptr || carrier->carried == nullptr ||
        carrier->carried->bytes.size() < ethernet::packet::min_bytes)
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    const auto destination = carrier->carried->destination();
    if ((destination != mac_ && !ethernet::is_group(destination)) || !wire_.up() || reset.level() ||
        failed())
        return;
    receiver_.arrived(std::move(carrier->carried));
}

// --- for tools ---

std::vector<accepts_faults::fault> ena_card::faults() {
    const auto count = fault_argument::count();
    const std::vector<fault> own{
        {"lost_packet_completion",
         "the next packets are not completed",
         {count},
         [this](const fault_values& given) { completions_.lose(given.number("count")); }},
        {"lost_keep_alive",
         "the next keep-alive events are not sent",
         {count},
         [this](const fault_values& given) { lost_keep_alives_ += given.number("count"); }},
        {"fatal_error",
         "the card reports a fatal error, and does nothing until it is reset",
         {},
         [this](auto&) { fail(); }},
        {"link_down", "the cable is pulled", {}, [this](auto&) { set_link(false); }},
        {"link_up", "the cable is plugged in", {}, [this](auto&) { set_link(true); }}};
    auto all = management_.faults();
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

void ena_card::publish(statistics& out) const {
    management_.publish(out);
    const auto& counters = queues_.counters;
    out.count("bytes_sent", counters.tx_bytes);
    out.count("bytes_received", counters.rx_bytes);
    out.count("packets_sent", counters.tx_packets);
    out.count("packets_received", counters.rx_packets);
    out.count("dropped_sends", counters.tx_drops);
    out.count("dropped_packets", counters.rx_drops);
    out.count("completions", completions_.count());
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie_link/pcie_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "models/pcie/pcie/tlp.h"
#include "platform/framework/config/units.h"
#include "platform/framework/kernel/random.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

using sc_core::sc_time;

namespace {

// PCIe 6.0 3.6.2.2: REPLAY_NUM has two bits; when it rolls over, the link retrains.
constexpr unsigned replays_in_a_row = 4;

/// Number of packets of at most `size` bytes; at least one. Most accesses need no division.
std::uint64_t parts(std::uint64_t bytes, std::uint64_t size) {
    return bytes <= size ? 1 : (bytes + size - 1) / size;
}

}  // namespace

std::optional<std::string> pcie_link::check(const config& cfg) {
    const auto last = signalling::generations(cfg.protocol);
    if (cfg.generation > last) return fmt::format("generation must be from 1 to {}", last);
    if (std::min(cfg.posted_data, cfg.completion_data) < cfg.max_payload)
        return "posted_data and completion_data must cover max_payload";
    return std::nullopt;
}

pcie_link::direction::direction(const config& cfg)
    : wire({1, sc_core::SC_ZERO_TIME}),  // set_rates() sets the rate
      flows{credit_flow({cfg.posted_headers, cfg.posted_data}),
            credit_flow({cfg.non_posted_headers, cfg.non_posted_data}),
            credit_flow({cfg.completion_headers, cfg.completion_data})} {}

pcie_link::pcie_link(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      machine_({cfg.detect_time, cfg.polling_time, cfg.configuration_time, cfg.recovery_time,
                cfg.configuration_time}),
      directions_{direction(cfg), direction(cfg)},
      lost_(cfg.links, 0),
      widths_(cfg.links, static_cast<std::uint8_t>(cfg.lanes)),
      speed_limit_(cfg.generation),
      crc_rate_(cfg.crc_rate) {
    sc_assert(!check(cfg));
    for (const unsigned side : {0u, 1u}) {
        ways_[side].link = ends_[side].link = this;
        ways_[side].side = ends_[side].side = side;
        highest_[side] = cfg.generation;
    }
    if (!cfg.needs_training) {
        asked_ = {true, true};
        machine_.settle(sc_core::SC_ZERO_TIME, cfg.generation);
    }
    set_rates();
    SC_METHOD(settled);
    dont_initialize();
    sensitive << over_;
}

// --- Data transfer

const signalling& pcie_link::speed() const {
    const unsigned now = machine_.phase_at(sc_core::sc_time_stamp()).generation;
    return signalling::of(cfg_.protocol, now == 0 ? wanted_generation() : now);
}

unsigned pcie_link::working_links() const {
    return static_cast<unsigned>(std::count_if(widths_.begin(), widths_.end(),
                                               [](std::uint8_t width) { return width > 0; }));
}

unsigned pcie_link::working_lanes() const {
    unsigned all = 0;
    for (const auto width : widths_) all += width;
    return all;
}

std::uint64_t pcie_link::raw_rate() const {
    return speed().lane_bits_per_second / 8 * working_lanes();
}

std::uint64_t pcie_link::wire_bytes(std::uint64_t payload, std::uint64_t packets) const {
    const signalling& s = speed();
    const auto content =
        static_cast<unsigned __int128>(payload) + packets * std::uint64_t{s.packet_overhead};
    if (content >> 32 == 0)  // a division of 128 bits takes longer
        return (static_cast<std::uint64_t>(content) * s.wire + s.content - 1) / s.content;
    return static_cast<std::uint64_t>((content * s.wire + s.content - 1) / s.content);
}

void pcie_link::set_rates() {
    for (auto& each : directions_) {
        each.wire.set_rate(std::max<std::uint64_t>(raw_rate(), 1));
        for (auto& flow : each.flows) flow.set(working_links(), cfg_.latency * 2);
    }
}

/// Draws the number of good units before the next bad one: a geometric distribution needs only one
/// draw per error, for independent errors.
std::uint64_t pcie_link::gap() {
    if (!random_) random_ = std::make_unique<std::mt19937_64>(seed_for(name()));
    const double uniform = (static_cast<double>((*random_)() >> 11) + 0.5) * 0x1p-53;
    const double units = std::floor(std::log(uniform) / std::log1p(-crc_rate_));
    return units < 1e18 ? static_cast<std::uint64_t>(units) : std::uint64_t{1} << 60;
}

/// Number of transmissions that fail, including replays that fail again.
pcie_link::bad pcie_link::bad_units(direction& d, std::uint64_t units) {
    bad found;
    if (crc_rate_ > 0) {
        for (unsigned in_a_row = 0; d.good_units < units; ++found.units) {
            in_a_row = d.good_units == 0 && found.units > 0 ? in_a_row + 1 : 1;
            found.rollover |= in_a_row == replays_in_a_row;
            units -= d.good_units;
            d.good_units = gap();
        }
        d.good_units -= units;
    }
    if (!corrupt_.empty()) {
        auto& next = corrupt_.front();
        found.units += next.times;
        found.rollover |= next.times >= replays_in_a_row;
        if (--next.count == 0) corrupt_.pop_front();
    }
    return found;
}

/// Delays a direction for its replays: everything after a bad flit is sent again, which takes one
/// round trip. After too many failures of one flit, the link retrains, and both directions wait.
sc_time pcie_link::send_again(unsigned side, const bad& damaged, const sc_time& through) {
    direction& d = directions_[side];
    d.replays += damaged.units;
    sc_time end = through + cfg_.replay_time * static_cast<double>(damaged.units);
    if (damaged.rollover) {
        ++d.rollovers;
        if (machine_.phase_at(sc_core::sc_time_stamp()).state == link_state::l0) recover(false);
        end = std::max(end, machine_.settled());
    }
    const bool timed = timing() == timing_mode::contended;
    if (timed) d.wire.hold_until(end);
    plug &sender = side == 0 ? a : b, &receiver = side == 0 ? b : a;
    receiver.report_link_error(link_error::bad_packet);
    if (damaged.rollover) sender.report_link_error(link_error::replay_rollover);
    return timed ? end : through;
}

sc_time pcie_link::carry(unsigned side, packet_class category, std::uint64_t payload,
                         std::uint64_t packets, const sc_time& start) {
    direction& d = directions_[side];
    const std::uint64_t wire = wire_bytes(payload, packets);
    d.payload += payload;
    d.packets += packets;
    sc_time through = d.wire.reserve(wire, start);
    if (timing() == timing_mode::contended)
        through = d.flows[static_cast<std::size_t>(category)].take({packets, payload}, start,
                                                                   through, d.wire.occupancy(wire));
    if (crc_rate_ == 0 && corrupt_.empty()) return through;
    const unsigned flit = speed().flit;
    const bad found = bad_units(d, flit == 0 ? packets : (wire + flit - 1) / flit);
    return found.units == 0 ? through : send_again(side, found, through);
}

sc_time pcie_link::way::reserve(tlm::tlm_command command, std::uint64_t, std::uint64_t bytes,
                                const sc_time& start) {
    const auto& cfg = link->cfg_;
    const std::uint64_t packets = parts(bytes, cfg.max_payload);
    if (command == tlm::TLM_WRITE_COMMAND)
        return link->carry(side, packet_class::posted, bytes, packets, start);
    const std::uint64_t requests = parts(bytes, cfg.max_read_request);
    const sc_time asked = link->carry(side, packet_class::non_posted, 0, requests, start);
    return std::max(asked, link->carry(1 - side, packet_class::completion, bytes, packets, start));
}

sc_time pcie_link::way::reserve_non_posted_write(std::uint64_t bytes, const sc_time& start) {
    const sc_time asked = link->carry(side, packet_class::non_posted, bytes, 1, start);
    return std::max(asked, link->carry(1 - side, packet_class::completion, 0, 1, start));
}

/// Data beyond the receiver's buffer must wait, since the next hop accepts it only until `taken`.
void pcie_link::way::held_until(tlm::tlm_command command, const sc_time& taken) {
    const bool write = command == tlm::TLM_WRITE_COMMAND;
    direction& data = link->directions_[write ? side : 1 - side];
    data.flows[static_cast<std::size_t>(write ? packet_class::posted : packet_class::completion)]
        .held_until(taken, data.wire.settings().bytes_per_second);
}

/// Reports the direction that carries the data; a read's requests are short.
void pcie_link::way::crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_time& start,
                             const sc_time& until) {
    const bool write = command == tlm::TLM_WRITE_COMMAND;
    const unsigned direction = write ? side : 1 - side;
    const std::uint64_t packets = (bytes + link->cfg_.max_payload - 1) / link->cfg_.max_payload;
    report_transfer(fmt::format("{}.{}", link->name(), direction == 0 ? "a_to_b" : "b_to_a"),
                    command, bytes, start, until,
                    link->directions_[direction].wire.occupancy(link->wire_bytes(bytes, packets)));
}

void pcie_link::received(plug& local, tlm::tlm_generic_payload& payload, sc_time& delay) {
    const auto* header = payload.get_extension<pcie::tlp>();
    if (header != nullptr &&
        header->destination == pcie::tlp::space::slot_power)  // does not use the lanes
        return other(local).send(payload, delay);
    if (!up()) {
        ++refused_;
        return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    // The bytes of a repeated access were counted in its first attempt.
    if (!pcie::is_repeated(payload)) {
        const sc_time now = sc_core::sc_time_stamp();
        const bool configures =
            header != nullptr && header->destination == pcie::tlp::space::config;
        way& path = ways_[local.index()];
        const std::uint64_t bytes = payload.get_data_length();
        const sc_time at_link = now + delay;
        // Messages without data have the direction of a write.
        const tlm::tlm_command command =
            payload.is_read() ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
        const sc_time through = configures && payload.is_write()
                                    ? path.reserve_non_posted_write(bytes, at_link)
                                    : path.reserve(command, payload.get_address(), bytes, at_link);
        if (trace::on()) path.crossed(command, bytes, at_link, through);
        if (timing() == timing_mode::contended) delay = through - now + cfg_.latency;
    }
    other(local).send(payload, delay);
    // Add the latency of the completion last: reservations at later hops begin before it.
    const bool has_completion = payload.is_response_ok() || !pcie::is_deferred(payload);
    if (payload.is_read() && timing() == timing_mode::contended && has_completion)
        delay += cfg_.latency;
}

unsigned pcie_link::peeked(plug& local, tlm::tlm_generic_payload& payload) {
    return up() ? other(local).peek(payload) : 0;
}

bool pcie_link::asked_for_pointer(plug& local, tlm::tlm_generic_payload& payload,
                                  tlm::tlm_dmi& dmi) {
    if (!up() && !memory_descriptor::asked(payload)) return refuse_pointer(payload, dmi);
    route::add(payload, ways_[local.index()]);
    const bool granted = other(local).ask_for_pointer(payload, dmi);
    dmi.set_read_latency(dmi.get_read_latency() + cfg_.latency * 2);
    dmi.set_write_latency(dmi.get_write_latency() + cfg_.latency);
    return granted;
}

void pcie_link::pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) {
    other(local).revoke_pointers(first, last);
}

// --- Training

unsigned pcie_link::wanted_generation() const {
    return std::max(1u, std::min({highest_[0], highest_[1], speed_limit_, cfg_.generation}));
}

bool pcie_link::can_train() const {
    return asked_[0] && asked_[1] && !broken_ && a.joined() && b.joined() && working_lanes() > 0;
}

/// Starts training now, or at the end of the failure of a time.
void pcie_link::start(bool reset_first) {
    const sc_time begin = std::max(sc_core::sc_time_stamp(), broken_until_);
    if (reset_first)
        machine_.hot_reset(begin, wanted_generation());
    else
        machine_.train(begin, wanted_generation());
    accepts_from_ = machine_.settled();
    over_.cancel();
    over_.notify(accepts_from_ - sc_core::sc_time_stamp());
}

/// Meanwhile, data waits in the replay buffers; none is lost or refused.
void pcie_link::recover(bool new_width) {
    const sc_time now = sc_core::sc_time_stamp();
    if (!up()) return start();
    machine_.recover(now, wanted_generation(), new_width);
    for (auto& each : directions_) each.wire.hold_until(machine_.settled());
    over_.cancel();
    over_.notify(machine_.settled() - now);
}

void pcie_link::settled() {
    set_rates();
    for (plug* side : {&a, &b}) side->report_link_change();
}

void pcie_link::go_down(link_state state) {
    if (!machine_.runs()) return machine_.stop(state);
    const bool carried = up();
    machine_.stop(state);
    over_.cancel();
    if (!carried) return;
    for (plug* side : {&a, &b}) {
        side->revoke_pointers();
        side->report_link_change();
    }
}

void pcie_link::train(unsigned side, unsigned highest_generation) {
    asked_[side] = true;
    highest_[side] = highest_generation == 0 ? cfg_.generation : highest_generation;
    if (!can_train()) {
        if (!machine_.runs()) machine_.stop(link_state::detect);
        return;
    }
    if (!machine_.runs())
        start();
    else if (machine_.generation() != wanted_generation())
        recover(false);
}

void pcie_link::disable(unsigned side) {
    asked_[side] = false;
    go_down(link_state::disabled);
}

void pcie_link::lose(unsigned side) {
    if (up()) ++downs_;
    disable(side);
}

void pcie_link::hot_reset() {
    if (!can_train()) return;
    go_down(link_state::hot_reset);
    start(/*reset_first=*/true);
}

void pcie_link::lose_lanes(unsigned link, unsigned lanes) {
    lost_[link] = static_cast<std::uint8_t>(std::min(lost_[link] + lanes, cfg_.lanes));
    widths_[link] = static_cast<std::uint8_t>(std::bit_floor(cfg_.lanes - lost_[link]));
    if (working_lanes() > 0) return machine_.runs() ? recover(true) : void();
    if (up()) ++downs_;
    go_down(link_state::detect);
}

link_end::status pcie_link::state_of(unsigned side) const {
    const auto phase = machine_.phase_at(sc_core::sc_time_stamp());
    unsigned narrowest = cfg_.lanes;
    for (const auto width : widths_)
        if (width > 0) narrowest = std::min<unsigned>(narrowest, width);
    const bool links = phase.generation > 0;  // the lanes have formed a link
    return {.state = phase.state,
            .present = (side == 0 ? b : a).joined() && !broken_,
            .generation = phase.generation,
            .lanes = links ? narrowest : 0,
            .links = links ? working_links() : 0,
            .all_lanes = links ? working_lanes() : 0,
            .degraded = working_lanes() < cfg_.lanes * cfg_.links};
}

link_end::capability pcie_link::seen_end::can() const {
    return {link->cfg_.generation, link->cfg_.lanes, link->cfg_.links};
}

link_end::counters pcie_link::counts_of(unsigned side) const {
    const direction &out = directions_[side], &in = directions_[1 - side];
    return {.sent = out.wire.bytes(),
            .received = in.wire.bytes(),
            .payload_sent = out.payload,
            .payload_received = in.payload,
            .replays = in.replays,
            .rollovers = out.rollovers,
            .downs = downs_};
}

link_end::counters pcie_link::seen_end::count() const {
    const counters now = link->counts_of(side);
    return {.sent = now.sent - cleared.sent,
            .received = now.received - cleared.received,
            .payload_sent = now.payload_sent - cleared.payload_sent,
            .payload_received = now.payload_received - cleared.payload_received,
            .replays = now.replays - cleared.replays,
            .rollovers = now.rollovers - cleared.rollovers,
            .downs = now.downs - cleared.downs};
}

void pcie_link::seen_end::clear_counters() {
    cleared = link->counts_of(side);
}

// --- Tools

void pcie_link::publish_signals(signal_list& out) const {
    std::vector<std::string> states;
    for (auto s = link_state::detect; s <= link_state::hot_reset;
         s = static_cast<link_state>(static_cast<unsigned>(s) + 1))
        states.emplace_back(to_string(s));
    const auto phase = [this] { return machine_.phase_at(sc_core::sc_time_stamp()); };
    out.state("state", states, [phase] { return static_cast<std::uint64_t>(phase().state); });
    out.number("generation", 4, [phase] { return phase().generation; });
    out.number("lanes", 16, [this] { return working_lanes(); });
    constexpr std::array classes{"posted", "non_posted", "completion"};
    for (unsigned side = 0; side < 2; ++side) {
        const std::string name = side == 0 ? "a_to_b" : "b_to_a";
        out.transactions(name);
        for (std::size_t c = 0; c < classes.size(); ++c) {
            const auto& flow = directions_[side].flows[c];
            const auto pool = name + "." + classes[c];
            const auto free = [&flow] { return flow.available(sc_core::sc_time_stamp()); };
            out.number(pool + "_header_credits", 32, [free] { return free().headers; });
            out.number(pool + "_data_credits", 32, [free] { return free().bytes; });
        }
    }
}

void pcie_link::publish(statistics& out) const {
    for (const unsigned d : {0u, 1u}) {
        const auto name = [&](std::string_view counter) {
            return fmt::format("{}_{}", d == 0 ? "a_to_b" : "b_to_a", counter);
        };
        out.count(name("wire_bytes"), directions_[d].wire.bytes());
        out.count(name("payload_bytes"), directions_[d].payload);
        out.count(name("packets"), directions_[d].packets);
        out.count(name("replays"), directions_[d].replays);
        out.count(name("replay_rollovers"), directions_[d].rollovers);
        const auto& flows = directions_[d].flows;
        out.count(name("posted_credit_waits"), flows[0].waits());
        out.count(name("non_posted_credit_waits"), flows[1].waits());
        out.count(name("completion_credit_waits"), flows[2].waits());
    }
    out.count("downs", downs_);
    out.count("refused", refused_);
}

std::vector<accepts_faults::fault> pcie_link::faults() {
    const auto lose_now = [this] {
        if (up()) ++downs_;
        go_down(link_state::detect);
    };
    const sc_time second(1, sc_core::SC_SEC);
    return {
        {"link_down",
         "the link is down until link_up",
         {},
         [=, this](auto&) {
             broken_ = true;
             lose_now();
         }},
        {"link_up",
         "ends link_down; the devices' link trains again",
         {},
         [this](auto&) {
             broken_ = false;
             if (can_train() && !machine_.runs()) start();
         }},
        {"flap",
         "the link goes down, and comes back after a time and a training",
         {fault_argument::time("for", 1000 * second, "how long it is down").by_default(10'000'000)},
         [=, this](const fault_values& given) {
             const auto end = later(sc_core::sc_time_stamp(), given.time("for"));
             broken_until_ = std::max(broken_until_, end);
             lose_now();
             if (can_train()) start();
         }},
        {"lane_loss",
         "lanes of a link fail; if all do, the link is lost",
         {fault_argument::number("link", 0, cfg_.links - 1, "of the cable's equal links")
              .by_default(0),
          fault_argument::number("lanes", 1, cfg_.lanes, "how many fail").by_default(1)},
         [this](const fault_values& given) {
             lose_lanes(given.number<unsigned>("link"), given.number<unsigned>("lanes"));
         }},
        {"lane_repair",
         "all lanes work again",
         {},
         [this](auto&) {
             std::fill(lost_.begin(), lost_.end(), std::uint8_t{0});
             std::fill(widths_.begin(), widths_.end(), static_cast<std::uint8_t>(cfg_.lanes));
             if (can_train()) recover(true);
         }},
        {"speed_limit",
         "higher speeds cannot be reached",
         {fault_argument::number("generation", 1, cfg_.generation, "highest that works")
              .by_default(cfg_.generation)},
         [this](const fault_values& given) {
             speed_limit_ = given.number<unsigned>("generation");
             if (can_train()) recover(false);
         }},
        {"crc",
         "the next transfers have a CRC error; four in a row make the link train again",
         {fault_argument::number("count", 1, 1'000'000, "how many transfers").by_default(1),
          fault_argument::number("times", 1, 1000, "errors in a row of each").by_default(1)},
         [this](const fault_values& given) {
             corrupt_.push_back({given.number<unsigned>("count"), given.number<unsigned>("times")});
         }},
        {"crc_rate",
         "flits have a CRC error at random",
         {fault_argument::real("rate", 0, max_errors, "part of all flits")},
         [this](const fault_values& given) {
             crc_rate_ = given.real("rate");
             if (crc_rate_ > 0)
                 for (auto& each : directions_) each.good_units = gap();
         }}};
}

}  // namespace trn

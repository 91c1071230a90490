// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/neuron_link/neuron_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "models/misuse_rules.h"
#include "models/pcie/pcie/tlp.h"
#include "models/scale_up/neuron_link/fabric_address.h"
#include "models/scale_up/neuron_link/neuron_link_regs.h"
#include "models/scale_up/neuron_link/notice.h"
#include "platform/framework/misuse/hardware_failed.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

namespace regs = neuron_link_regs;
using regs::reg;
using sc_core::sc_time;

neuron_link::neuron_link(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg), regs_(regs::table) {
    port.init(ports, [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    axi.init(cfg.dies);
    for (unsigned i = 0; i < cfg.dies; ++i)
        axi[i].register_invalidate_direct_mem_ptr(this, &neuron_link::axi_revoked,
                                                  static_cast<int>(i));
    for (unsigned i = 0; i < windows; ++i) {
        const auto listen = [this](auto& socket, entrance& way, unsigned source) {
            way = {this, static_cast<int>(source)};
            socket.register_b_transport(&way, &entrance::b_transport);
            socket.register_transport_dbg(&way, &entrance::transport_dbg);
            socket.register_get_direct_mem_ptr(&way, &entrance::get_direct_mem_ptr);
        };
        listen(window[i], entrances_[i], from_window + i);
        listen(fabric[i], entrances_[windows + i], from_fabric + i);
    }
    make_registers();
    SC_METHOD(finish_requests);
    dont_initialize();
    sensitive << requests_.answered();
}

// --- Routing

bool neuron_link::is_own(unsigned id) const {
    return regs_.get(regs::own_id::valid) != 0 && (regs_[reg::own_id] & (fabric::ids - 1)) == id;
}

/// The port in the most specific valid row: chip of the own server, server of the own rack, rack.
std::optional<unsigned> neuron_link::route_to(unsigned id) const {
    const auto port_in = [](std::uint64_t row) -> std::optional<unsigned> {
        if (regs::route_rack::valid.get(row) == 0) return std::nullopt;
        return static_cast<unsigned>(regs::route_rack::port.get(row));
    };
    const bool same_rack = regs_.get(regs::own_id::rack) == fabric::rack_of(id);
    if (same_rack && regs_.get(regs::own_id::server) == fabric::server_of(id))
        if (const auto found = port_in(regs_.get(reg::route_chip, fabric::chip_of(id))))
            return found;
    if (same_rack)
        if (const auto found = port_in(regs_.get(reg::route_server, fabric::server_of(id))))
            return found;
    return port_in(regs_.get(reg::route_rack, fabric::rack_of(id)));
}

neuron_link::step neuron_link::toward(unsigned id, std::uint64_t axi_address, unsigned hops) const {
    if (is_own(id)) return {cause::none, to_chip, axi_address};
    if (hops >= cfg_.hop_limit) return {.refused = cause::hop_limit};
    const auto way = route_to(id);
    if (!way) return {.refused = cause::no_route};
    if (!port[*way].up()) return {.refused = cause::link_down, .destination = *way};
    return {cause::none, *way, fabric::address_of(id, axi_address, hops + 1)};
}

neuron_link::step neuron_link::through_window(unsigned number, std::uint64_t address) const {
    const auto row = regs_.get(reg::window, number);
    if (regs::window::valid.get(row) == 0) return {.refused = cause::no_neighbour};
    if (regs::window::by_id.get(row) != 0)
        return toward(static_cast<unsigned>(row) & (fabric::ids - 1), address, 0);
    const auto output = static_cast<unsigned>(regs::window::port.get(row));
    if (!port[output].joined()) return {.refused = cause::no_neighbour};
    if (!port[output].up()) return {.refused = cause::link_down, .destination = output};
    return {cause::none, output, address};  // the address that the partner receives
}

/// Whether an access stays inside the AXI space of a chip (both dies), outside of the host's
/// window.
bool neuron_link::is_chip_address(std::uint64_t axi_address, std::uint64_t length) const {
    return axi_address <= fabric::axi_mask && length <= fabric::axi_mask + 1 - axi_address &&
           (axi_address >> cfg_.host_bit & 1) == 0;
}

neuron_link::step neuron_link::next(int source, std::uint64_t address, std::uint64_t length) const {
    const bool by_id =
        source >= from_fabric || (source < from_window && (address & fabric::flag) != 0);
    const std::uint64_t inside = by_id ? address & fabric::axi_mask : address;
    // On the wire, bits 50:48 count hops; accesses from inside the chip must not set them.
    const bool has_hop_bits = source >= from_fabric && (address >> 48 & 7) != 0;
    if (has_hop_bits || !is_chip_address(inside, length))
        return {.refused = cause::not_of_the_chip};
    if (by_id)
        return toward(fabric::id_of(address), inside,
                      source < from_window ? fabric::hops_of(address) : 0);
    if (source < from_window) return {cause::none, to_chip, inside};
    return through_window(source - from_window, inside);
}

// --- Forwarding

void neuron_link::note_error(int source, cause why, std::uint64_t address) {
    ++errors_;
    const std::uint64_t count = regs_.get(regs::error::count) + 1;
    regs_.set(reg::error, regs::error::count.set(0, count & 0xffff) |
                              regs::error::port.set(0, std::min(source, from_window)) |
                              regs::error::cause.set(0, static_cast<std::uint64_t>(why)));
    regs_.set(reg::error_address_lo, address & 0xffff'ffff);
    regs_.set(reg::error_address_hi, address >> 32);
}

void neuron_link::refuse(int source, cause why, tlm::tlm_generic_payload& payload) {
    const auto rule = [&]() -> const misuse::rule& {
        switch (why) {
        case cause::no_neighbour:
            return misuse::no_neighbour;
        case cause::no_route:
            return misuse::no_route;
        case cause::hop_limit:
            return misuse::hop_limit;
        case cause::link_down:
            return misuse::port_down;
        default:
            return misuse::not_of_the_neighbour;
        }
    };
    const auto origin = source < from_window ? fmt::format("port {}", source)
                        : source < from_fabric
                            ? fmt::format("window {}", source - from_window)
                            : fmt::format("fabric window {}", source - from_fabric);
    note_error(source, why, payload.get_address());
    misuse::report(rule(), *this, fmt::format("{:#x} from {}", payload.get_address(), origin));
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

void neuron_link::pass(int source, tlm::tlm_generic_payload& payload, sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const step hop = next(source, address, payload.get_data_length());
    if (hop.refused != cause::none) return refuse(source, hop.refused, payload);
    if (source < from_window && hop.destination != to_chip)
        transit_.pass(payload.get_command(), address, payload.get_data_length(),
                      sc_core::sc_time_stamp() + delay);
    const sc_time start = delay;
    delay += cfg_.latency;
    std::optional<pcie::framed> own;  // of the requester
    if (source >= from_window) own.emplace(payload, pcie::function_id{});
    payload.set_address(hop.address);
    if (hop.destination == to_chip)
        die_of(hop.address)->b_transport(payload, delay);
    else
        port[hop.destination].send(payload, delay);
    payload.set_address(address);
    if (payload.is_read()) delay += cfg_.latency;  // latency of the completion
    if (!own || !own->header.lost) return;
    // The requester's completion timeout (PCIe 6.0 2.8), measured from the request's start.
    delay = start + cfg_.completion_timeout;
    ++timeouts_;
    note_error(source, cause::timeout, address);
    misuse::hardware_failed();
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
}

unsigned neuron_link::peek(int source, tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const step hop = next(source, address, payload.get_data_length());
    if (hop.refused != cause::none) return 0;
    payload.set_address(hop.address);
    const unsigned done = hop.destination == to_chip ? die_of(hop.address)->transport_dbg(payload)
                                                     : port[hop.destination].peek(payload);
    payload.set_address(address);
    return done;
}

bool neuron_link::request_pointer(int source, tlm::tlm_generic_payload& payload,
                                  tlm::tlm_dmi& dmi) {
    const std::uint64_t address = payload.get_address();
    const step hop = next(source, address, 1);
    if (hop.refused != cause::none) return refuse_pointer_to(source, payload, dmi);
    if (source < from_window && hop.destination != to_chip) route::add(payload, transit_);
    asked_[hop.destination] = static_cast<std::uint16_t>(asked_[hop.destination] | 1u << source);
    payload.set_address(hop.address);
    const bool granted = hop.destination == to_chip
                             ? die_of(hop.address)->get_direct_mem_ptr(payload, dmi)
                             : port[hop.destination].ask_for_pointer(payload, dmi);
    payload.set_address(address);

    // Limits the pointer to one chip's AXI space, and translates its range to the requester's
    // addresses.
    const std::uint64_t space_start = hop.address & ~fabric::axi_mask;
    const std::uint64_t first = std::max<std::uint64_t>(dmi.get_start_address(), space_start);
    const std::uint64_t last =
        std::min<std::uint64_t>(dmi.get_end_address(), space_start | fabric::axi_mask);
    if (granted) dmi.set_dmi_ptr(dmi.get_dmi_ptr() + (first - dmi.get_start_address()));
    dmi.set_start_address(first - hop.address + address);
    dmi.set_end_address(last - hop.address + address);
    dmi.set_read_latency(dmi.get_read_latency() + cfg_.latency * 2);
    dmi.set_write_latency(dmi.get_write_latency() + cfg_.latency);
    return granted;
}

/// A change of any port or table may end the refusal.
bool neuron_link::refuse_pointer_to(int source, tlm::tlm_generic_payload& payload,
                                    tlm::tlm_dmi& dmi) {
    for (auto& sources_of : asked_)
        sources_of = static_cast<std::uint16_t>(sources_of | 1u << source);
    return refuse_pointer(payload, dmi);
}

/// Revokes the DMI pointers to `destination`, and refusals, from all sources that have some. Each
/// source is notified at most once, so that the recursion ends in a ring of chips.
void neuron_link::revoke(unsigned destination) {
    const unsigned asked = asked_[destination];
    asked_[destination] = 0;
    constexpr std::uint64_t last = ~std::uint64_t{0};
    for (int source = 0; source < sources; ++source) {
        if ((asked >> source & 1) == 0) continue;
        if (source < from_window)
            port[source].revoke_pointers();
        else if (source < from_fabric)
            window[source - from_window]->invalidate_direct_mem_ptr(0, last);
        else
            fabric[source - from_fabric]->invalidate_direct_mem_ptr(0, last);
    }
}

void neuron_link::axi_revoked(int, sc_dt::uint64 first, sc_dt::uint64) {
    // Higher addresses are windows, for which no pointers exist.
    if (first <= fabric::axi_mask) revoke(to_chip);
}

void neuron_link::received(plug& local, tlm::tlm_generic_payload& payload, sc_time& delay) {
    const auto* tlp = payload.get_extension<pcie::tlp>();
    const bool configures = tlp != nullptr && tlp->destination == pcie::tlp::space::config;
    const bool good = behaviour_ == behaviour::good;
    // Faults: a mute chip does not answer; a garbled completion of a memory access is dropped by
    // the requester.
    if (behaviour_ == behaviour::mute || (!good && !configures)) return pcie::lose(payload);
    if (!good) return identity_.answer_garbage(local.index(), payload, delay);
    if (configures) return identity_.answer(local.index(), payload, delay);
    pass(static_cast<int>(local.index()), payload, delay);
}
unsigned neuron_link::peeked(plug& local, tlm::tlm_generic_payload& payload) {
    return behaviour_ == behaviour::good ? peek(static_cast<int>(local.index()), payload) : 0;
}
bool neuron_link::asked_for_pointer(plug& local, tlm::tlm_generic_payload& payload,
                                    tlm::tlm_dmi& dmi) {
    if (behaviour_ == behaviour::good)
        return request_pointer(static_cast<int>(local.index()), payload, dmi);
    return refuse_pointer_to(static_cast<int>(local.index()), payload, dmi);
}
void neuron_link::pointers_revoked(plug& local, std::uint64_t, std::uint64_t) {
    revoke(local.index());
}
void neuron_link::link_changed(plug& local) {
    revoke(local.index());
    raise(regs::irq_status::changed.set(0, std::uint64_t{1} << local.index()));
}

// --- Registers

void neuron_link::set_default_windows() {
    for (unsigned i = 1; i < windows; ++i)
        regs_.set(reg::window, regs::window::valid.mask() | regs::window::port.set(0, i), i);
}

void neuron_link::forget() {
    for (unsigned destination = 0; destination <= to_chip; ++destination) revoke(destination);
    for (auto& each : port)
        if (auto* link = each.link()) {
            link->lose();
            link->clear_counters();
        }
    requests_.forget();
    regs_.reset();
    transit_.before_power = transit_.bytes;
    set_default_windows();
    irq.cancel();
    update_irq();
}

void neuron_link::make_registers() {
    set_default_windows();
    regs_.view(reg::ports, [this](unsigned, unsigned) {
        std::uint64_t present = 0;
        for (unsigned i = 0; i < ports; ++i)
            if (port[i].joined()) present |= std::uint64_t{1} << i;
        return regs::ports::count.set(present, ports);
    });
    // A changed table or place revokes pointers, since they may lead to other chips now.
    const auto reroute = [this](register_access& a) {
        if (a.value == a.old) return;
        for (unsigned destination = 0; destination <= to_chip; ++destination) revoke(destination);
    };
    regs_.on_write(reg::own_id, [this, reroute](register_access& a) {
        reroute(a);
        send_notices();
    });
    regs_.on_write(reg::own_serial_hi, [this](register_access&) { send_notices(); });
    regs_.on_write(reg::own_state, [this](register_access&) { send_notices(); });
    regs_.on_write(reg::irq_status, [this](register_access& a) { update_irq(a.delay); });
    regs_.on_write(reg::irq_enable, [this](register_access& a) { update_irq(a.delay); });
    const auto transit = [this] { return transit_.bytes - transit_.before_power; };
    regs_.view(reg::transit_lo, [transit](unsigned, unsigned) { return transit() & 0xffff'ffff; });
    regs_.view(reg::transit_hi, [transit](unsigned, unsigned) { return transit() >> 32; });
    regs_.on_write(reg::window, reroute);
    regs_.on_write(reg::route_rack, reroute);
    regs_.on_write(reg::route_server, reroute);
    regs_.on_write(reg::route_chip, reroute);

    regs_.on_write(reg::port_control, [this](register_access& a) { command(a.index, a.written); });
    regs_.view(reg::port_status, [this](unsigned, unsigned index) { return status_of(index); });
    regs_.view(reg::port_errors, [this](unsigned, unsigned index) { return errors_of(index); });
    const auto counted = [this](std::uint64_t link_end::counters::*counter, unsigned shift) {
        return [this, counter, shift](unsigned, unsigned index) -> std::uint64_t {
            const auto* link = port[index].link();
            return link == nullptr ? 0 : link->count().*counter >> shift & 0xffff'ffff;
        };
    };
    regs_.view(reg::port_rollovers, counted(&link_end::counters::rollovers, 0));
    regs_.view(reg::port_sent_lo, counted(&link_end::counters::sent, 0));
    regs_.view(reg::port_sent_hi, counted(&link_end::counters::sent, 32));
    regs_.view(reg::port_received_lo, counted(&link_end::counters::received, 0));
    regs_.view(reg::port_received_hi, counted(&link_end::counters::received, 32));
    regs_.on_write(reg::config_command,
                   [this](register_access& a) { requests_.start(a.index, a); });
}

void neuron_link::command(unsigned index, std::uint64_t written) {
    auto* link = port[index].link();
    if (link == nullptr) return;
    if (regs::port_control::clear_counters.get(written) != 0) link->clear_counters();
    if (regs::port_control::disable.get(written) != 0) return link->disable();
    if (regs::port_control::hot_reset.get(written) != 0) link->hot_reset();
    if (regs::port_control::train.get(written) != 0)
        link->train(static_cast<unsigned>(regs::port_control::speed_limit.get(written)));
}

std::uint64_t neuron_link::status_of(unsigned index) const {
    using namespace regs::port_status;
    if (!port[index].joined()) return 0;
    const auto* link = port[index].link();
    if (link == nullptr)  // joined without a link model: always up
        return present.mask() | up.mask() | state.set(0, state_l0);
    const auto now = link->state();
    const auto full = link->can();
    std::uint64_t value = state.set(0, static_cast<std::uint64_t>(now.state));
    if (link->up()) value |= up.mask();
    if (now.present) value |= present.mask();
    if (now.degraded) value |= degraded.mask();
    value = generation.set(value, now.generation);
    value = lanes.set(value, std::min(now.all_lanes, 255u));
    return lanes_full.set(value, std::min(full.lanes * full.links, 255u));
}

std::uint64_t neuron_link::errors_of(unsigned index) const {
    const auto* link = port[index].link();
    if (link == nullptr) return 0;
    const auto counted = link->count();
    return regs::port_errors::downs.set(0, std::min<std::uint64_t>(counted.downs, 0xff)) |
           regs::port_errors::replays.set(0, std::min<std::uint64_t>(counted.replays, 0xff'ffff));
}

void neuron_link::raise(std::uint64_t causes) {
    regs_.set(reg::irq_status, regs_[reg::irq_status] | causes);
    update_irq();
}

void neuron_link::update_irq(const sc_core::sc_time& delay) {
    irq.set((regs_[reg::irq_status] & regs_[reg::irq_enable]) != 0, delay);
}

void neuron_link::send_notices() {
    for (auto& each : port)
        if (each.up()) fabric::send_notice(each);
}

// --- Tools

void neuron_link::publish(statistics& out) const {
    out.count("transit_bytes", transit_.bytes);
    out.count("refused", errors_ - timeouts_);
    out.count("timeouts", timeouts_ + requests_.timeouts());
}

/// A chip that answers again sends notices, and looks again at partners whose notices it has not
/// answered.
void neuron_link::behave(behaviour wanted) {
    const bool was_good = behaviour_ == behaviour::good;
    behaviour_ = wanted;
    for (unsigned destination = 0; destination <= to_chip; ++destination) revoke(destination);
    if (was_good || wanted != behaviour::good) return;
    std::uint64_t partners = 0;
    for (const auto& each : port)
        if (each.up()) partners |= std::uint64_t{1} << each.index();
    raise(regs::irq_status::notice.set(0, partners));
    send_notices();
}

std::vector<accepts_faults::fault> neuron_link::faults() {
    const auto answer = [this](behaviour wanted) {
        return [this, wanted](const fault_values&) { behave(wanted); };
    };
    return {{"mute",
             "does not respond to accesses through its ports, until talk",
             {},
             answer(behaviour::mute)},
            {"garbage",
             "returns invalid responses through its ports, until talk",
             {},
             answer(behaviour::garbage)},
            {"talk", "ends mute and garbage, and sends notices", {}, answer(behaviour::good)}};
}

}  // namespace trn

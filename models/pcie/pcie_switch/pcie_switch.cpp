// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie_switch/pcie_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "models/pcie/pcie/capabilities.h"
#include "models/pcie/pcie/link_rate.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using pcie::bridge;
using pcie::function_id;
using pcie::tlp;
using sc_core::sc_time;

namespace {

constexpr unsigned devices_of_a_bus = 32;

/// Downstream ports are functions 0 of the devices on the switch's internal bus; more ports become
/// further functions of the first devices.
function_id place_of(unsigned index) {
    return static_cast<function_id>((index % devices_of_a_bus) << 3 | index / devices_of_a_bus);
}

}  // namespace

pcie_switch::lanes::lanes(std::uint64_t rate)
    : directions{bandwidth_resource({rate, sc_core::SC_ZERO_TIME}),
                 bandwidth_resource({rate, sc_core::SC_ZERO_TIME})} {}

pcie_switch::pcie_switch(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      up_(pcie::payload_bytes_per_second(cfg.generation, cfg.up_lanes), make_bridge(0, true)) {
    down.init(cfg.down_ports(), [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    for (unsigned i = 0; i < cfg.down_ports(); ++i)
        down_.push_back(std::make_unique<side>(
            pcie::payload_bytes_per_second(cfg.generation, config::lanes_per_port),
            make_bridge(i, false)));
    built_ = true;
}

std::unique_ptr<bridge> pcie_switch::make_bridge(unsigned index, bool upstream) {
    const bridge::config about{
        .port_role = upstream ? bridge::role::upstream : bridge::role::downstream,
        .vendor_id = 0x1d0f,
        .device_id = static_cast<std::uint16_t>(0x0160 + (cfg_.lanes() == 320 ? 0x160 : 0)),
        .generation = cfg_.generation,
        .lanes = upstream ? cfg_.up_lanes : config::lanes_per_port,
        .slot = index + 1,
        .many_functions = !upstream && cfg_.down_ports() > devices_of_a_bus};
    bridge::hooks hooks;
    if (upstream)
        hooks.reset_below = [this] {
            for (unsigned i = 0; i < down_.size(); ++i) reset(i);
        };
    else
        hooks.reset_below = [this, index] { reset(index); };
    const auto self = [this, index, upstream]() -> bridge& {
        return upstream ? *up_.bridge : *down_[index]->bridge;
    };
    hooks.message = [this, self](std::uint64_t address, std::uint32_t value) {
        send_up(self().id(), tlp::space::memory, address, value);
    };
    hooks.report = [this, self, upstream](pcie::error_class severity) {
        if (!upstream && !up_.bridge->forwards(severity)) return;
        send_up(self().id(), tlp::space::error, static_cast<std::uint64_t>(severity), 0);
    };
    hooks.changed = [this] {
        if (!built_) return;
        up.revoke_pointers();
        for (auto& each : down) each.revoke_pointers();
    };
    return std::make_unique<bridge>(about, std::move(hooks));
}

/// Sends an interrupt or an error message of a port.
void pcie_switch::send_up(function_id requester, tlp::space space, std::uint64_t address,
                          std::uint32_t value) {
    payload request;
    pcie::framed framed(request, requester);
    framed.header.destination = space;
    set_access(request, tlm::TLM_WRITE_COMMAND, address, &value, sizeof value);
    sc_time untimed;
    up.send(request, untimed);
}

// --- Routing

void pcie_switch::received(plug& local, payload& request, sc_time& delay) {
    auto* header = request.get_extension<tlp>();
    const bool from_above = local.index() == up_index;
    side& entry = side_of(local);
    if (header != nullptr && header->destination == tlp::space::slot_power) {
        request.set_response_status(tlm::TLM_OK_RESPONSE);
        return supply(request.get_address() != 0);
    }
    if (header == nullptr || !entry.bridge->reachable())
        return request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (header->destination == tlp::space::hot_reset) {
        if (from_above) reset_all();
        return request.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    if (header->destination == tlp::space::error) {
        const auto severity = static_cast<pcie::error_class>(request.get_address());
        if (!from_above && entry.bridge->forwards(severity) && up_.bridge->forwards(severity))
            up.send(request, delay);
        return request.set_response_status(tlm::TLM_OK_RESPONSE);  // messages are posted
    }
    if (header->destination == tlp::space::config) {
        if (!from_above) return refuse(request, *entry.bridge, PCI_ERR_UNC_UNSUP);
        return configure(request, *header, delay);
    }
    if (header->destination == tlp::space::completion)
        return pass_completion(local, request, *header, delay);
    const way next = route_memory(local, *header, request.get_address(), request.get_data_length());
    if (next.out == nullptr) return refuse(request, *next.refused_by, next.error);
    if (!pcie::is_repeated(request)) ++*next.count;
    const sc_time now = sc_core::sc_time_stamp();
    const sc_time start = now + delay;
    const bool timed = timing() == timing_mode::contended;
    if (timed) delay += cfg_.latency;  // a message has its effect beyond the switch
    next.out->send(request, delay);
    if (!request.is_response_ok()) return;  // also if it is deferred
    if (redirects_completion(next) && request.is_read() && !header->relaxed_ordering)
        redirect_completion(request, *header, delay);
    if (!timed) return;
    // Both ports are occupied at the same time; the slower one determines the end.
    const auto through = std::max(
        entry.inbound.reserve(request.get_command(), 0, request.get_data_length(), start),
        next.through->outbound.reserve(request.get_command(), 0, request.get_data_length(), start));
    delay = std::max(delay, through - now + cfg_.latency);
    if (request.is_read()) delay += cfg_.latency;  // of the completion
}

/// Whether the completion of a peer-to-peer request must be redirected: ACS of the completer's
/// port.
bool pcie_switch::redirects_completion(const way& next) const {
    return next.count == &counters_.peer && next.through->bridge->acs(PCI_ACS_CR);
}

/// Sends a completion to the root complex instead of directly to the requester (6.12.1.1); the root
/// complex sends it back, routed by the requester's id. The latency of the remaining path was
/// already added for the request.
void pcie_switch::redirect_completion(const payload& request, const tlp& header, sc_time& delay) {
    payload completion;
    pcie::framed framed(completion, header.requester);
    framed.header.destination = tlp::space::completion;
    framed.header.target = header.requester;
    framed.header.completer = this;
    set_message(completion);
    completion.set_data_length(request.get_data_length());
    occupy(up_.outbound, completion, delay);
    up.send(completion, delay);
    occupy(up_.inbound, completion, delay);
    ++counters_.redirected;
}

void pcie_switch::pass_completion(plug& local, payload& completion, const tlp& header,
                                  sc_time& delay) {
    // the completion is back at the switch that redirected it
    if (header.completer == this) return completion.set_response_status(tlm::TLM_OK_RESPONSE);
    side& entry = side_of(local);
    occupy(entry.inbound, completion, delay);
    if (local.index() != up_index) {
        occupy(up_.outbound, completion, delay);
        return up.send(completion, delay);
    }
    for (unsigned i = 0; i < down_.size(); ++i) {
        if (!down_[i]->bridge->has_bus(pcie::bus_of(header.target))) continue;
        occupy(down_[i]->outbound, completion, delay);
        return down[i].send(completion, delay);
    }
    pcie::refuse(completion);
}

/// Adds half of a crossing, for the port at one side.
void pcie_switch::occupy(passage& part, const payload& completion, sc_time& delay) {
    if (timing() != timing_mode::contended) return;
    const sc_time now = sc_core::sc_time_stamp();
    delay = part.reserve(tlm::TLM_WRITE_COMMAND, 0, completion.get_data_length(), now + delay) -
            now + cfg_.latency * 0.5;
}

pcie_switch::way pcie_switch::below(std::uint64_t address, std::uint64_t length, unsigned except) {
    for (unsigned i = 0; i < down_.size(); ++i)
        if (i != except && down_[i]->bridge->claims(address, length))
            return {.out = &down[i], .through = down_[i].get()};
    return {};
}

pcie_switch::way pcie_switch::route_memory(const plug& source, const tlp& header,
                                           std::uint64_t address, std::uint64_t length) {
    const auto refused = [](bridge& port, std::uint32_t error) {
        return way{.refused_by = &port, .error = error};
    };
    if (source.index() == up_index) {
        way next = up_.bridge->claims(address, length) ? below(address, length, up_index) : way{};
        if (next.out == nullptr) return refused(*up_.bridge, PCI_ERR_UNC_UNSUP);
        if (!next.through->bridge->reachable())
            return refused(*next.through->bridge, PCI_ERR_UNC_UNSUP);
        next.count = &counters_.down;
        return next;
    }
    bridge& port = *down_[source.index()]->bridge;
    if (!port.passes_up()) return refused(port, PCI_ERR_UNC_UNSUP);
    if (port.acs(PCI_ACS_SV) && !port.has_bus(pcie::bus_of(header.requester)))
        return refused(port, PCI_ERR_UNC_ACSV);
    // A request to an address below its own port arrives only when a switch below has redirected
    // it.
    if (port.claims(address, length)) {
        if (!port.acs(PCI_ACS_UF)) return refused(port, PCI_ERR_UNC_UNSUP);
    } else if (!port.acs(PCI_ACS_RR)) {
        way next = below(address, length, source.index());
        if (next.out != nullptr) {
            if (!next.through->bridge->reachable())
                return refused(*next.through->bridge, PCI_ERR_UNC_UNSUP);
            next.count = &counters_.peer;
            return next;
        }
        // 7.5.1.3: requests to this switch's own window that match no port are not forwarded
        // upstream.
        if (up_.bridge->claims(address, length)) return refused(port, PCI_ERR_UNC_UNSUP);
    }
    if (!up_.bridge->passes_up()) return refused(*up_.bridge, PCI_ERR_UNC_UNSUP);
    return {.out = &up, .through = &up_, .count = &counters_.up};
}

void pcie_switch::configure(payload& request, tlp& header, sc_time& delay) {
    const auto bus = pcie::bus_of(header.target);
    const auto place = static_cast<function_id>(header.target & 0xff);
    if (!up_.bridge->has_bus(bus)) {  // the upstream port itself, the only device on its link
        if (place == 0) return up_.bridge->configure(request, header, *this);
        return find_no_device(request, *up_.bridge);
    }
    for (unsigned i = 0; i < down_.size(); ++i) {
        bridge& port = *down_[i]->bridge;
        if (bus == up_.bridge->secondary()) {
            if (place == place_of(i)) return port.configure(request, header, *this);
        } else if (port.has_bus(bus)) {
            if (port.reachable()) return down[i].send(request, delay);
            return find_no_device(request, port);
        }
    }
    request.set_response_status(
        tlm::TLM_ADDRESS_ERROR_RESPONSE);  // no such device: unsupported request without an error
                                           // (2.3.1)
}

/// A configuration request without a device: by these, hosts find out which slots are empty. It is
/// an unsupported request, and not counted as refused.
void pcie_switch::find_no_device(payload& request, bridge& port) {
    port.log(PCI_ERR_UNC_UNSUP, &request);
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

void pcie_switch::refuse(payload& request, bridge& port, std::uint32_t error) {
    port.log(error, &request);
    ++counters_.refused;
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

unsigned pcie_switch::peeked(plug& local, payload& request) {
    const auto* header = request.get_extension<tlp>();
    static const tlp of_host{};
    if (!side_of(local).bridge->reachable()) return 0;
    if (header != nullptr && header->destination == tlp::space::config)  // of the upstream port
        return local.index() == up_index && request.is_read() &&
                       pcie::answer(up_.bridge->space(), request)
                   ? request.get_data_length()
                   : 0;
    const way next = route_memory(local, header == nullptr ? of_host : *header,
                                  request.get_address(), request.get_data_length());
    return next.out == nullptr ? 0 : next.out->peek(request);
}

bool pcie_switch::asked_for_pointer(plug& local, payload& request, tlm::tlm_dmi& dmi) {
    const auto* header = request.get_extension<tlp>();
    static const tlp of_host{};
    side& entry = side_of(local);
    const way next =
        entry.bridge->reachable()
            ? route_memory(local, header == nullptr ? of_host : *header, request.get_address(), 1)
            : way{};
    if (next.out == nullptr) return refuse_pointer(request, dmi);
    // Completions must be redirected; reads through a pointer would bypass the redirection.
    if (redirects_completion(next) && request.is_read()) {
        if (memory_attribute::asked(request) && next.out->ask_for_pointer(request, dmi))
            memory_attribute::answer(request);
        return refuse_pointer(request, dmi);
    }
    route::add(request, entry.inbound);
    route::add(request, next.through->outbound);
    const bool granted = next.out->ask_for_pointer(request, dmi);
    if (granted && redirects_completion(next)) dmi.allow_write();
    dmi.set_read_latency(dmi.get_read_latency() + cfg_.latency * 2);
    dmi.set_write_latency(dmi.get_write_latency() + cfg_.latency);
    return granted;
}

void pcie_switch::pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) {
    if (local.index() != up_index) up.revoke_pointers(first, last);
    for (auto& each : down)
        if (&each != &local) each.revoke_pointers(first, last);
}

// --- Links and resets

void pcie_switch::start_of_simulation() {
    for (unsigned i = 0; i < down_.size(); ++i)
        if (!down[i].joined()) down_[i]->bridge->leave_empty();
}

void pcie_switch::link_changed(plug& local) {
    if (local.index() != up_index)
        down_[local.index()]->bridge->link(pcie::answers(local));
    else if (!local.up())
        reset_all();
}

void pcie_switch::link_erred(plug& local, link_error error) {
    side_of(local).bridge->log(error);
}

/// Hot reset on the link of a downstream port.
void pcie_switch::reset(unsigned index) {
    pcie::signal(down[index], tlp::space::hot_reset);
}

/// The switch itself is pulled or inserted, together with the cards in its slots.
void pcie_switch::supply(bool on) {
    for (unsigned i = 0; i < down_.size(); ++i) {
        if (down_[i]->bridge->present()) pcie::signal(down[i], tlp::space::slot_power, on);
        down_[i]->bridge->power(on);
    }
    up_.bridge->power(on);
}

void pcie_switch::reset_all() {
    for (unsigned i = 0; i < down_.size(); ++i) {
        reset(i);
        down_[i]->bridge->reset();
    }
    up_.bridge->reset();
}

std::vector<accepts_faults::fault> pcie_switch::faults() {
    return bridge::faults(down_.size(), [this](std::size_t index) {
        return std::pair<bridge&, plug&>(*down_[index]->bridge, down[index]);
    });
}

void pcie_switch::publish(statistics& out) const {
    out.count("requests_down", counters_.down);
    out.count("requests_up", counters_.up);
    out.count("peer_requests", counters_.peer);
    out.count("refused_requests", counters_.refused);
    out.count("redirected_completions", counters_.redirected);
    const auto bytes = [&](const std::string& port, const side& port_side) {
        const auto& [in, outward] = port_side.capacity.directions;
        if (in.bytes() + outward.bytes() == 0) return;  // most of the 39 ports carry no traffic
        out.count(port + "_bytes_in", in.bytes());
        out.count(port + "_bytes_out", outward.bytes());
    };
    bytes("up", up_);
    for (unsigned i = 0; i < down_.size(); ++i) bytes(fmt::format("down{}", i), *down_[i]);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/root_complex.h"

#include <fmt/format.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "models/pcie/pcie/capabilities.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/netlist/kinds/model_refusal.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using pcie::bridge;
using pcie::function_id;
using pcie::host_function;
using pcie::tlp;
using sc_core::sc_time;

namespace {

bridge::config port_config(const root_complex::config& cfg, unsigned index) {
    // Invented device ids: those of AWS's hosts are not published.
    const bool xeon = cfg.processor == host_processor::xeon;
    return {.port_role = bridge::role::root_port,
            .vendor_id = static_cast<std::uint16_t>(xeon ? 0x8086 : 0x1d0f),
            .device_id = static_cast<std::uint16_t>(xeon ? 0x352a : 0x0200),
            .generation = cfg.link_generation,
            .lanes = cfg.link_width,
            .slot = index + 1,
            .many_functions = false};
}

}  // namespace

root_complex::root_complex(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      memory_(cfg.memory),
      firmware_({.ports = cfg.ports, .window_base = cfg.window_base}, *this, *this) {
    port.init(cfg.ports, [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    for (unsigned i = 0; i < cfg.ports; ++i) {
        bridge::hooks hooks;
        hooks.reset_below = [this, i] { reset_below(i); };
        hooks.message = [this](std::uint64_t address, std::uint32_t data) {
            cfg_.boot_firmware ? hot_plug(data) : send_message(address, data);
        };
        hooks.changed = [this] { forget_all_pointers(); };
        hooks.received = [this](function_id source, pcie::error_class severity) {
            report(source, severity);
        };
        ports_.push_back(std::make_unique<bridge>(port_config(cfg, i), std::move(hooks)));
    }
    SC_METHOD(boot);
    SC_METHOD(deliver_messages);
    sensitive << message_due_;
    dont_initialize();
    SC_METHOD(repeat_accesses);
    sensitive << repetition_;
    dont_initialize();
}

root_complex::~root_complex() = default;

// --- Boot firmware

/// A process, because transport is for the time of simulation (IEEE 1666-2011, clause 11). It runs
/// in the first delta cycle; other processes find the functions in the next one.
void root_complex::boot() {
    for (unsigned i = 0; i < cfg_.ports; ++i)
        if (!port[i].joined()) ports_[i]->leave_empty();
    if (cfg_.boot_firmware) try {
            firmware_.enumerate();
        } catch (const model_refusal& why) {
            return why.report();
        }
    for (const auto& f : firmware_.functions())
        if ((f->id() & 0xff) == 0) by_bus_[pcie::bus_of(f->id())] = f.get();
    started_ = true;
}

void root_complex::hot_plug(std::uint32_t message) {
    if (!started_) return;
    const auto slot = firmware_.hot_plug(message);
    if (!slot) return;
    ++counters_.hot_plug_events;
    if (events_.slot) events_.slot(slot->port, slot->reachable);
}

/// An MSI of a port, which is a write of the root complex itself.
void root_complex::send_message(std::uint64_t address, std::uint32_t data) {
    if (!processors_.has_memory()) return;
    payload write;
    set_access(write, tlm::TLM_WRITE_COMMAND, address, reinterpret_cast<std::uint8_t*>(&data),
               sizeof data);
    sc_time delay;
    processors_.transport(write, delay);
}

void root_complex::report(function_id source, pcie::error_class severity) {
    if (severity == pcie::error_class::correctable || !events_.uncorrectable) return;
    const std::uint32_t error = firmware_.take_error(source);
    if (error != 0 && error != PCI_ERR_UNC_SURPDN) events_.uncorrectable(source, error);
}

std::vector<serves_functions::served> root_complex::functions() {
    std::vector<served> all;
    for (const auto& f : firmware_.functions())
        all.push_back({&f->device(), f.get(), f->class_code(), f->id(),
                       firmware_.bridges_above(f->id()), f->pci_id()});
    return all;
}

// --- Requests of the host

void root_complex::send(payload& request, tlp& header, sc_time& delay) {
    if (header.destination == tlp::space::config)
        configure(request, header, delay);
    else if (const auto target = port_of(request.get_address(), request.get_data_length()))
        pass_down(*target, request, delay);
    else
        pcie::refuse(request);
    if (header.lost) {
        if (timing() == timing_mode::contended) delay += cfg_.completion_timeout;
        time_out(header.target, request.get_command());
    }
    // Value of a CPU's read without a completion.
    if (request.is_read() && !request.is_response_ok()) pcie::fill(request, 0xff);
}

void root_complex::time_out(function_id target, tlm::tlm_command command) {
    ++counters_.timeouts;
    if (command == tlm::TLM_WRITE_COMMAND) return;  // posted: no error of PCIe
    for (const auto& above : ports_)
        if (above->has_bus(pcie::bus_of(target))) above->log(PCI_ERR_UNC_COMP_TIME);
}

/// Repeats the host's accesses that targets have deferred, and ends those that are late.
void root_complex::repeat_accesses() {
    auto first = sc_core::sc_max_time();
    for (const auto& f : firmware_.functions())
        if (const auto deadline = f->repeat()) first = std::min(first, *deadline);
    if (first < sc_core::sc_max_time()) repetition_.notify(first - sc_core::sc_time_stamp());
}

std::optional<std::string> root_complex::describe_wait() const {
    std::string all;
    for (const auto& f : firmware_.functions())
        if (const auto access = f->describe_wait())
            all += fmt::format("{}{} to answer {}", all.empty() ? "" : ", ", f->device().name(),
                               *access);
    return all.empty() ? std::nullopt : std::optional(all);
}

void root_complex::configure(payload& request, tlp& header, sc_time& delay) {
    const auto bus = pcie::bus_of(header.target);
    if (bus == 0) {
        const unsigned device = header.target >> 3;
        if (device < ports_.size() && (header.target & 7) == 0)
            return ports_[device]->configure(request, header, *this);
        return pcie::refuse(request);
    }
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->has_bus(bus)) return pass_down(i, request, delay);
    pcie::refuse(request);
}

std::optional<unsigned> root_complex::port_of(std::uint64_t address, std::uint64_t length) const {
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->claims(address, length)) return i;
    return std::nullopt;
}

void root_complex::pass_down(unsigned target, payload& request, sc_time& delay) {
    if (ports_[target]->reachable())
        port[target].send(request, delay);
    else  // 2.9.1: the port itself completes requests to a link that is down
        pcie::refuse(request);
}

bool root_complex::direct_pointer(payload& request, tlm::tlm_dmi& dmi) {
    const auto target = port_of(request.get_address(), 1);
    if (target && ports_[*target]->reachable()) return port[*target].ask_for_pointer(request, dmi);
    return refuse_pointer(request, dmi);
}

unsigned root_complex::peek(payload& request, const tlp& header) {
    if (header.destination == tlp::space::config) {
        const auto bus = pcie::bus_of(header.target);
        const unsigned device = header.target >> 3;
        if (bus == 0)
            return device < ports_.size() && (header.target & 7) == 0 && request.is_read() &&
                           pcie::answer(ports_[device]->space(), request)
                       ? request.get_data_length()
                       : 0;
        for (unsigned i = 0; i < ports_.size(); ++i)
            if (ports_[i]->has_bus(bus) && ports_[i]->reachable()) return port[i].peek(request);
        return 0;
    }
    const auto target = port_of(request.get_address(), request.get_data_length());
    return target && ports_[*target]->reachable() ? port[*target].peek(request) : 0;
}

void root_complex::forget_memory(std::uint64_t first, std::uint64_t last) {
    if (!started_) return;
    for (auto& each : port) each.revoke_pointers(first, last);
}

void root_complex::forget_pointers(function_id function, std::uint64_t first, std::uint64_t last) {
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->has_bus(pcie::bus_of(function))) port[i].revoke_pointers(first, last);
}

void root_complex::forget_all_pointers() {
    if (!started_) return;
    for (auto& each : port) each.revoke_pointers();
    processors_.revoke_pointers();
}

// --- Requests of functions

host_function* root_complex::sender(const tlp& header) {
    return (header.requester & 0xff) == 0 ? by_bus_[pcie::bus_of(header.requester)] : nullptr;
}

/// Whether a request from port `source` is peer-to-peer: returns the target port and address.
/// Nothing: the address belongs to host memory, mapped or not.
std::optional<root_complex::peer> root_complex::peer_of(unsigned source,
                                                        const host_function* function,
                                                        std::uint64_t address,
                                                        std::uint64_t length) const {
    if (!cfg_.peer_to_peer) return std::nullopt;
    if (function != nullptr) {
        if (function->memory().shares(address)) return std::nullopt;
        if (const auto placed = peer_of_host(source, *function, address, length)) return placed;
        if (function->memory().has(address)) return std::nullopt;
    }
    // ACS request redirect: only mapped addresses may pass
    if (ports_[source]->acs(PCI_ACS_RR)) return std::nullopt;
    const auto target = port_of(address, length);
    // A request back to its own port is only valid when a switch below has redirected it.
    if (!target || (target == source && !ports_[source]->acs(PCI_ACS_UF))) return std::nullopt;
    return peer{*target, address, false};
}

/// Translates like an IOMMU: the host that has both functions has placed the other's BAR at this
/// address. Such a request may return through the port at which it arrived.
std::optional<root_complex::peer> root_complex::peer_of_host(unsigned source,
                                                             const host_function& function,
                                                             std::uint64_t address,
                                                             std::uint64_t length) const {
    if (function.host() == 0) return std::nullopt;
    if (ports_[source]->acs(PCI_ACS_RR) && !function.memory().has(address)) return std::nullopt;
    for (const auto& other : firmware_.functions()) {
        if (other.get() == &function || other->host() != function.host()) continue;
        const auto on_bus = other->on_bus(address, length);
        const auto target = on_bus ? port_of(*on_bus, length) : std::nullopt;
        if (target) return peer{*target, *on_bus, true};
    }
    return std::nullopt;
}

void root_complex::received(plug& local, payload& request, sc_time& delay) {
    auto* header = request.get_extension<tlp>();
    bridge& above = *ports_[local.index()];
    // Only root complexes enumerate.
    if (!started_ && header != nullptr && header->destination == tlp::space::config)
        throw model_refusal(
            *this, fmt::format("port[{}] is joined to another root port: a root port leads to a "
                               "chip, a card or a switch's 'up'",
                               local.index()));
    if (header == nullptr || !above.reachable()) return pcie::refuse(request);
    if (header->destination == tlp::space::error) {
        ++counters_.error_messages;
        request.set_response_status(tlm::TLM_OK_RESPONSE);
        const auto severity = static_cast<pcie::error_class>(request.get_address());
        if (above.forwards(severity)) above.receive_error(header->requester, severity);
        return;
    }
    if (header->destination == tlp::space::completion)
        return pass_completion(request, *header, delay);
    if (!above.passes_up()) return refuse(request, above, PCI_ERR_UNC_UNSUP);
    if (above.acs(PCI_ACS_SV) && !above.has_bus(pcie::bus_of(header->requester)))
        return refuse(request, above, PCI_ERR_UNC_ACSV);
    host_function* function = sender(*header);
    if (cfg_.boot_firmware && request.get_address() == host_function::message_address &&
        request.is_write()) {
        std::uint32_t value = 0;
        std::memcpy(&value, request.get_data_ptr(),
                    std::min<std::size_t>(sizeof value, request.get_data_length()));
        request.set_response_status(tlm::TLM_OK_RESPONSE);
        return function != nullptr ? deliver(*function, value, delay) : hot_plug(value);
    }
    if (is_unknown(function)) {
        ++counters_.refused;
        return pcie::refuse(request);
    }
    if (lose_ > 0 && request.is_read()) {
        if (--lose_ == 0) forget_all_pointers();  // requests for pointers are no longer refused
        return pcie::lose(request);
    }
    const std::uint64_t address = request.get_address();
    if (const auto target = peer_of(local.index(), function, address, request.get_data_length())) {
        const bool is_new = !pcie::is_repeated(request);
        if (is_new) ++counters_.peer_requests;
        if (is_new && timing() == timing_mode::contended)
            delay += cfg_.peer_latency * (request.is_read() ? 2 : 1);
        request.set_address(target->address);
        pass_down(target->port, request, delay);
        return request.set_address(address);
    }
    if (belongs_to_processors(function, address)) {
        processors_.transport(request, delay);
        if (request.get_response_status() != tlm::TLM_ADDRESS_ERROR_RESPONSE) return;
        return refuse(request, above, PCI_ERR_UNC_UNSUP);
    }
    if (function == nullptr) return refuse(request, above, PCI_ERR_UNC_UNSUP);
    function->memory().transport(request);
    const bool timed = request.is_read() && timing() == timing_mode::contended;
    if (timed && request.is_response_ok()) delay += cfg_.memory_latency;
}

/// Interrupts the host when the message arrives, `delay` later.
void root_complex::deliver(host_function& target, std::uint32_t vector, const sc_time& delay) {
    if (delay == sc_core::SC_ZERO_TIME && messages_.empty()) return target.message(vector);
    const sc_time now = sc_core::sc_time_stamp();
    messages_.emplace(now + delay, message{&target, vector, trace::current_operation()});
    message_due_.notify(messages_.begin()->first - now);
}

/// Those of one time in the order in which they were sent.
void root_complex::deliver_messages() {
    const sc_time now = sc_core::sc_time_stamp();
    while (!messages_.empty() && messages_.begin()->first <= now) {
        const message due = messages_.extract(messages_.begin()).mapped();
        const trace::on_behalf_of operation(due.operation);
        due.target->message(due.vector);
    }
    if (!messages_.empty()) message_due_.notify(messages_.begin()->first - now);
}

/// Forwards a completion that a switch has redirected, by its requester's id.
void root_complex::pass_completion(payload& completion, const tlp& header, sc_time& delay) {
    if (timing() == timing_mode::contended) delay += cfg_.peer_latency;
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->has_bus(pcie::bus_of(header.target))) return pass_down(i, completion, delay);
    pcie::refuse(completion);
}

void root_complex::refuse(payload& request, pcie::bridge& above, std::uint32_t error) {
    ++counters_.refused;
    above.log(error, &request);
    pcie::refuse(request);
}

unsigned root_complex::peeked(plug& local, payload& request) {
    const auto* header = request.get_extension<tlp>();
    host_function* function = header == nullptr ? nullptr : sender(*header);
    if (header == nullptr || is_unknown(function) || !ports_[local.index()]->reachable()) return 0;
    const std::uint64_t address = request.get_address();
    const auto target = peer_of(local.index(), function, address, request.get_data_length());
    if (!target)
        return belongs_to_processors(function, address) ? processors_.transport_dbg(request)
               : function != nullptr                    ? function->memory().transport_dbg(request)
                                                        : 0;
    if (!ports_[target->port]->reachable()) return 0;
    request.set_address(target->address);
    const unsigned done = port[target->port].peek(request);
    request.set_address(address);
    return done;
}

bool root_complex::asked_for_pointer(plug& local, payload& request, tlm::tlm_dmi& dmi) {
    const auto* header = request.get_extension<tlp>();
    host_function* function = header == nullptr ? nullptr : sender(*header);
    const bridge& above = *ports_[local.index()];
    if (header == nullptr || is_unknown(function) || lose_ > 0 || !above.reachable() ||
        !above.passes_up())
        return refuse_pointer(request, dmi);
    const auto target = peer_of(local.index(), function, request.get_address(), 1);
    if (!target && belongs_to_processors(function, request.get_address()))
        return processors_.get_direct_mem_ptr(request, dmi);
    if (!target && function == nullptr) return refuse_pointer(request, dmi);
    if (!target) {
        const bool granted = function->memory().get_direct_mem_ptr(request, dmi);
        dmi.set_read_latency(dmi.get_read_latency() + cfg_.memory_latency);
        return granted;
    }
    // Revocations use bus addresses, which differ here.
    if (target->translated) {
        if (memory_attribute::asked(request)) ask_for_attribute(target->address, request);
        return refuse_pointer(request, dmi);
    }
    const bool granted = direct_pointer(request, dmi);
    dmi.set_read_latency(dmi.get_read_latency() + cfg_.peer_latency * 2);
    dmi.set_write_latency(dmi.get_write_latency() + cfg_.peer_latency);
    return granted;
}

/// Whether memory is at the translated `address` of a peer.
void root_complex::ask_for_attribute(std::uint64_t address, payload& request) {
    const std::uint64_t untranslated = request.get_address();
    tlm::tlm_dmi unused;
    request.set_address(address);
    if (direct_pointer(request, unused)) memory_attribute::answer(request);
    request.set_address(untranslated);
}

/// Memory in a BAR below one port has moved. Revokes pointers of functions below other ports, and
/// below the same port if it leads to a switch.
void root_complex::pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) {
    if (!started_) return;
    const bool to_switch = !cfg_.boot_firmware || firmware_.leads_to_switch(local.index());
    for (auto& each : port)
        if (&each != &local || to_switch) each.revoke_pointers(first, last);
    processors_.revoke_pointers(first, last);
}

void root_complex::link_changed(plug& local) {
    ports_[local.index()]->link(pcie::answers(local));
}

// --- Faults

void root_complex::reset_below(unsigned index) {
    pcie::signal(port[index], tlp::space::hot_reset);
}

/// From the devices upwards, which then find ports that pass nothing. A port without its buses has
/// nothing below, so that requests on their way are refused.
void root_complex::reset_hierarchy() {
    for (unsigned i = 0; i < ports_.size(); ++i) {
        if (ports_[i]->reachable()) pcie::signal(port[i], tlp::space::hot_reset, 1);
        ports_[i]->restart();
    }
    forget_all_pointers();
}

std::vector<accepts_faults::fault> root_complex::faults() {
    auto all = pcie::bridge::faults(ports_.size(), [this](std::size_t index) {
        return std::pair<pcie::bridge&, plug&>(*ports_[index], port[index]);
    });
    all.push_back({"lost_completion",
                   "the next reads of host memory or peers get no completion",
                   {fault_argument::count()},
                   [this](const fault_values& given) {
                       lose_ += given.number("count");
                       forget_all_pointers();
                   }});
    return all;
}

void root_complex::publish(statistics& out) const {
    std::uint64_t ranges = 0, unmapped = 0, questions = 0;
    for (const auto& f : firmware_.functions()) {
        ranges += f->memory().ranges();
        unmapped += f->memory().unmapped_accesses();
        questions += f->memory().questions();
    }
    out.count("functions", firmware_.functions().size());
    out.count("host_ranges", ranges);
    out.count("unmapped_accesses", unmapped);
    out.count("questions", questions);
    out.count("peer_requests", counters_.peer_requests);
    out.count("refused_requests", counters_.refused);
    out.count("completion_timeouts", counters_.timeouts);
    out.count("hot_plug_events", counters_.hot_plug_events);
    out.count("error_messages", counters_.error_messages);
}

}  // namespace trn

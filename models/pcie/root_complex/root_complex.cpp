// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/root_complex.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "models/pcie/pcie/config_request.h"
#include "platform/framework/netlist/kinds/model_refusal.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

using pcie::bridge;
using pcie::function_id;
using pcie::host_function;
using pcie::tlp;
using sc_core::sc_time;

namespace {

constexpr std::uint64_t granule = 1 << 20;  // of a bridge's windows, bytes (7.5.1.3.8)
// 32-bit BARs begin above the memory of guests: that of QEMU's q35 ends at 0xb000'0000 or below.
// Otherwise a switch would route requests to guest memory as peer-to-peer requests.
constexpr std::uint64_t narrow_base = 0xc000'0000;
constexpr std::uint64_t narrow_end = 0xfec0'0000;  // as on a PC; interrupt controllers are above
// size of the host's address range that a chip can access
constexpr std::uint64_t host_window = std::uint64_t{1} << 46;

std::uint64_t up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

bridge::config port_config(const root_complex::config& cfg, unsigned index) {
    // Invented device ids: those of AWS's hosts are not published.
    const bool xeon = cfg.processor == host_processor::xeon;
    return {.as = bridge::role::root_port,
            .vendor_id = static_cast<std::uint16_t>(xeon ? 0x8086 : 0x1d0f),
            .device_id = static_cast<std::uint16_t>(xeon ? 0x352a : 0x0200),
            .generation = cfg.link_generation,
            .lanes = cfg.link_width,
            .slot = index + 1,
            .many_functions = false};
}

}  // namespace

root_complex::root_complex(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name), cfg_(cfg), memory_(cfg.memory) {
    port.init(cfg.ports, [this](const char* each, std::size_t i) {
        return new plug(each, *this, static_cast<unsigned>(i));
    });
    for (unsigned i = 0; i < cfg.ports; ++i) {
        bridge::hooks hooks;
        hooks.reset_below = [this, i] { reset_below(i); };
        hooks.message = [this](std::uint64_t, std::uint32_t number) { hot_plug(number); };
        hooks.changed = [this] { forget_all_pointers(); };
        hooks.received = [this](function_id source, pcie::error_class severity) {
            report(source, severity);
        };
        ports_.push_back(std::make_unique<bridge>(port_config(cfg, i), std::move(hooks)));
    }
}

root_complex::~root_complex() = default;

// --- Boot firmware

std::uint32_t root_complex::config_read(function_id id, std::uint32_t offset) {
    std::uint32_t value = 0;
    configure_word(tlm::TLM_READ_COMMAND, id, offset, value);
    return value;
}

void root_complex::config_write(function_id id, std::uint32_t offset, std::uint32_t value) {
    configure_word(tlm::TLM_WRITE_COMMAND, id, offset, value);
}

const sc_core::sc_object* root_complex::configure_word(tlm::tlm_command command, function_id id,
                                                       std::uint32_t offset, std::uint32_t& value) {
    pcie::config_request asked(command, offset, value, id);
    sc_time untimed;
    send(asked.payload, asked.header, untimed);
    return asked.header.completer;
}

void root_complex::enumerate() {
    for (unsigned i = 0; i < cfg_.ports; ++i) {
        if (!port[i].joined()) ports_[i]->leave_empty();
        auto root = std::make_unique<node>();
        root->id = static_cast<function_id>(i << 3);
        root->bridge = true;
        root->secondary = next_bus();
        root->subordinate = 0xff;
        find_capabilities(*root);
        bridges_.push_back(root.get());
        program_buses(*root);
        scan(*root, 1);
        root->subordinate = static_cast<std::uint8_t>(next_bus_ - 1);
        program_buses(*root);
        tree_.push_back(std::move(root));
    }
    std::uint64_t narrow = narrow_base, wide = cfg_.window_base;
    for (const auto& root : tree_) assign(*root, narrow, wide);
    if (narrow > narrow_end || wide > host_window)
        throw model_refusal(
            *this,
            fmt::format("the BARs of {} functions do not fit the server's bus, from {:#x} to "
                        "{:#x} (window_base, bar0_size, bar4_size)",
                        functions_.size(), cfg_.window_base, host_window));
    for (const auto& root : tree_) program(*root);
    started_ = true;
}

std::uint8_t root_complex::next_bus() {
    if (next_bus_ > 0xff) throw model_refusal(*this, "more than 255 buses");
    return static_cast<std::uint8_t>(next_bus_++);
}

/// Enumerates the functions on the bus below a bridge: one device on a link, several in a switch.
void root_complex::scan(node& above, unsigned devices) {
    for (unsigned device = 0; device < devices; ++device) {
        const auto id = static_cast<function_id>(above.secondary << 8 | device << 3);
        if ((config_read(id, PCI_VENDOR_ID) & 0xffff) == 0xffff) continue;
        find(above, id);
        const bool many = (config_read(id, PCI_CACHE_LINE_SIZE) >> 16 & 0x80) != 0;
        for (unsigned function = 1; many && function < 8; ++function) {
            const auto other = static_cast<function_id>(id | function);
            if ((config_read(other, PCI_VENDOR_ID) & 0xffff) != 0xffff) find(above, other);
        }
    }
}

void root_complex::find(node& above, function_id id) {
    std::uint32_t header = 0;
    const auto* device = configure_word(tlm::TLM_READ_COMMAND, id, PCI_CACHE_LINE_SIZE, header);
    above.below.push_back(std::make_unique<node>());
    node& found = *above.below.back();
    found.id = id;
    found.bridge = (header >> 16 & 0x7f) == PCI_HEADER_TYPE_BRIDGE;
    find_capabilities(found);
    if (!found.bridge) {
        pcie::host_bus& bus = *this;  // private base
        functions_.push_back(std::make_unique<host_function>(bus, id, *device));
        found.function = functions_.back().get();
        if ((id & 0xff) == 0) by_bus_[pcie::bus_of(id)] = found.function;
        return;
    }
    found.secondary = next_bus();
    found.subordinate = 0xff;
    bridges_.push_back(&found);
    program_buses(found);
    const unsigned type = config_read(id, found.pcie) >> 20 & 0xf;
    scan(found, type == PCI_EXP_TYPE_UPSTREAM ? 32 : 1);
    found.subordinate = static_cast<std::uint8_t>(next_bus_ - 1);
    program_buses(found);
}

void root_complex::find_capabilities(node& found) {
    std::uint32_t at = config_read(found.id, PCI_CAPABILITY_LIST) & 0xfc;
    // At most 48 capabilities fit into the space.
    for (unsigned seen = 0; at != 0 && seen < 48; ++seen) {
        const std::uint32_t header = config_read(found.id, at);
        if ((header & 0xff) == PCI_CAP_ID_EXP) found.pcie = static_cast<std::uint16_t>(at);
        if ((header & 0xff) == PCI_CAP_ID_MSI) found.msi = static_cast<std::uint16_t>(at);
        at = header >> 8 & 0xfc;
    }
}

/// Assigns addresses in the order of buses; within a function, larger BARs first. The whole path is
/// PCI Express, so any 64-bit BAR may be in a prefetchable window (7.5.1.2.1).
void root_complex::assign(node& at, std::uint64_t& narrow, std::uint64_t& wide) {
    if (at.function != nullptr) {
        std::vector<host_function::bar_window*> bars;
        for (auto& bar : at.function->bars())
            if (bar.size != 0) bars.push_back(&bar);
        std::ranges::stable_sort(bars, std::ranges::greater{}, &host_function::bar_window::size);
        for (auto* bar : bars) {
            std::uint64_t& next = bar->wide() ? wide : narrow;
            bar->base = up(next, bar->size);
            next = bar->base + bar->size;
        }
        return;
    }
    narrow = at.narrow.first = up(narrow, granule);
    wide = at.wide.first = up(wide, granule);
    for (const auto& below : at.below) assign(*below, narrow, wide);
    narrow = at.narrow.end = up(narrow, granule);
    wide = at.wide.end = up(wide, granule);
}

void root_complex::program_buses(const node& bridge) {
    config_write(bridge.id, PCI_PRIMARY_BUS,
                 static_cast<std::uint32_t>(pcie::bus_of(bridge.id) | bridge.secondary << 8 |
                                            bridge.subordinate << 16));
}

/// Writes the assigned buses and addresses of a function, or of a bridge and everything below it:
/// at the start, and when a card returns.
void root_complex::program(const node& at) {
    enable_error_messages(at);
    if (at.function != nullptr) return at.function->restore();
    program_buses(at);
    const auto window = [](const range& r) {
        const std::uint64_t last = r.end - 1;
        return static_cast<std::uint32_t>((r.first >> 16 & 0xfff0) | (last >> 16 & 0xfff0) << 16);
    };
    constexpr range closed{granule, 1};
    const range& narrow = at.narrow.first == at.narrow.end ? closed : at.narrow;
    const range& wide = at.wide.first == at.wide.end ? closed : at.wide;
    config_write(at.id, PCI_MEMORY_BASE, window(narrow));
    config_write(at.id, PCI_PREF_MEMORY_BASE, window(wide));
    config_write(at.id, PCI_PREF_BASE_UPPER32, static_cast<std::uint32_t>(wide.first >> 32));
    config_write(at.id, PCI_PREF_LIMIT_UPPER32, static_cast<std::uint32_t>((wide.end - 1) >> 32));
    // Forwards error messages from below.
    constexpr std::uint32_t forward_errors = PCI_BRIDGE_CTL_SERR << 16;
    config_write(at.id, PCI_INTERRUPT_LINE, forward_errors);
    config_write(at.id, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_SERR);
    const auto number = std::ranges::find(bridges_, &at) - bridges_.begin();
    program_slot(at, static_cast<std::uint32_t>(number));
    for (const auto& below : at.below) program(*below);
}

/// Enables error messages of a function or port: QEMU forwards errors to its guest only if they are
/// enabled at its start.
void root_complex::enable_error_messages(const node& at) {
    // The upper half is the status, whose bits are cleared by writing ones: write zeroes there.
    constexpr std::uint32_t report_errors =
        PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE;
    const std::uint32_t control = config_read(at.id, at.pcie + PCI_EXP_DEVCTL) & 0xffff;
    config_write(at.id, at.pcie + PCI_EXP_DEVCTL, control | report_errors);
}

/// Enables a slot's hot-plug message, with the bridge's number as data.
void root_complex::program_slot(const node& bridge, std::uint32_t number) {
    if ((config_read(bridge.id, bridge.pcie) >> 16 & PCI_EXP_FLAGS_SLOT) == 0) return;
    config_write(bridge.id, bridge.msi + PCI_MSI_ADDRESS_LO,
                 static_cast<std::uint32_t>(host_function::message_address));
    config_write(bridge.id, bridge.msi + PCI_MSI_ADDRESS_HI, host_function::message_address >> 32);
    config_write(bridge.id, bridge.msi + PCI_MSI_DATA_64, number);
    config_write(bridge.id, bridge.msi, PCI_MSI_FLAGS_ENABLE << 16);
    // The status in the upper half is cleared by writing ones.
    config_write(bridge.id, bridge.pcie + PCI_EXP_SLTCTL,
                 PCI_EXP_SLTCTL_PDCE | PCI_EXP_SLTCTL_HPIE | PCI_EXP_SLTCTL_DLLSCE |
                     (PCI_EXP_SLTSTA_PDC | PCI_EXP_SLTSTA_DLLSC) << 16);
}

/// Handles an interrupt of a port. After a hot-plug event: programs the devices below if the link
/// is up.
void root_complex::hot_plug(std::uint32_t number) {
    if (!started_ || number >= bridges_.size()) return;
    const node& at = *bridges_[number];
    const auto slot = config_read(at.id, at.pcie + PCI_EXP_SLTCTL) >> 16;
    if ((slot & (PCI_EXP_SLTSTA_PDC | PCI_EXP_SLTSTA_DLLSC)) == 0) return;
    ++counters_.hot_plug_events;
    program_slot(at, number);
    const auto link = config_read(at.id, at.pcie + PCI_EXP_LNKCTL) >> 16;
    const bool reachable = (link & PCI_EXP_LNKSTA_DLLLA) != 0;
    if (reachable)
        for (const auto& below : at.below) program(*below);
    if (events_.slot) events_.slot(at.id, reachable);
}

void root_complex::report(function_id source, pcie::error_class severity) {
    if (severity == pcie::error_class::correctable || !events_.uncorrectable) return;
    const std::uint32_t capability = error_capability(source);
    if (capability == 0) return;
    const std::uint32_t error = first_error(source, capability);
    // Errors of ports are handled here; those of a function are recorded until its driver clears
    // them.
    if (std::ranges::find(bridges_, source, &node::id) != bridges_.end())
        config_write(source, capability + PCI_ERR_UNCOR_STATUS, error);
    if (error != 0 && error != PCI_ERR_UNC_SURPDN) events_.uncorrectable(source, error);
}

/// Offset of the advanced error reporting of a function or port. 0: none, or it does not answer.
std::uint32_t root_complex::error_capability(function_id source) {
    constexpr std::uint32_t no_answer = ~std::uint32_t{0};
    std::uint32_t at = PCI_CFG_SPACE_SIZE;
    for (unsigned seen = 0; at >= PCI_CFG_SPACE_SIZE && seen < 48; ++seen) {
        const std::uint32_t header = config_read(source, at);
        if (header == no_answer) return 0;
        if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_ERR) return at;
        at = PCI_EXT_CAP_NEXT(header);
    }
    return 0;
}

/// 0: the source has recorded none that it does not mask.
std::uint32_t root_complex::first_error(function_id source, std::uint32_t capability) {
    const std::uint32_t errors = config_read(source, capability + PCI_ERR_UNCOR_STATUS) &
                                 ~config_read(source, capability + PCI_ERR_UNCOR_MASK);
    const auto first = 1u << PCI_ERR_CAP_FEP(config_read(source, capability + PCI_ERR_CAP));
    return (errors & first) != 0 ? first : errors & -errors;
}

std::vector<serves_functions::served> root_complex::functions() {
    std::vector<served> all;
    for (const auto& f : functions_) {
        auto& one = all.emplace_back(
            served{&f->device(), f.get(), f->class_code(), f->id(), {}, f->pci_id()});
        // bridges_ is in discovery order: from the root port down
        for (const node* bridge : bridges_)
            if (bridge->secondary <= pcie::bus_of(f->id()) &&
                pcie::bus_of(f->id()) <= bridge->subordinate)
                one.bridges.push_back(bridge->id);
    }
    return all;
}

// --- Requests of the host

void root_complex::send(payload& request, tlp& header, sc_time& delay) {
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (header.to == tlp::space::config)
        configure(request, header, delay);
    else if (const auto to = port_of(request.get_address(), request.get_data_length()))
        pass_down(*to, request, delay);
    if (header.lost) {
        ++counters_.timeouts;
        if (timing() == timing_mode::contended) delay += cfg_.completion_timeout;
        for (const auto& above : ports_)
            if (above->has_bus(pcie::bus_of(header.target))) above->log(PCI_ERR_UNC_COMP_TIME);
    }
    // Value of a CPU's read without a completion.
    if (request.is_read() && !request.is_response_ok())
        std::memset(request.get_data_ptr(), 0xff, request.get_data_length());
}

void root_complex::configure(payload& request, tlp& header, sc_time& delay) {
    const auto bus = pcie::bus_of(header.target);
    if (bus == 0) {
        const unsigned device = header.target >> 3;
        if (device < ports_.size() && (header.target & 7) == 0)
            ports_[device]->configure(request, header, *this);
        return;
    }
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->has_bus(bus)) return pass_down(i, request, delay);
}

std::optional<unsigned> root_complex::port_of(std::uint64_t address, std::uint64_t length) const {
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->claims(address, length)) return i;
    return std::nullopt;
}

void root_complex::pass_down(unsigned to, payload& request, sc_time& delay) {
    if (ports_[to]->reachable())
        port[to].send(request, delay);
    else  // 2.9.1: the port itself completes requests to a link that is down
        request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

bool root_complex::direct_pointer(payload& request, tlm::tlm_dmi& dmi) {
    const auto to = port_of(request.get_address(), 1);
    if (to && ports_[*to]->reachable()) return port[*to].ask_for_pointer(request, dmi);
    return refuse_pointer(request, dmi);
}

void root_complex::forget_pointers(function_id of, std::uint64_t first, std::uint64_t last) {
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->has_bus(pcie::bus_of(of))) port[i].revoke_pointers(first, last);
}

void root_complex::forget_all_pointers() {
    if (!started_) return;
    for (auto& each : port) each.revoke_pointers();
}

// --- Requests of functions

host_function* root_complex::sender(const tlp& header) {
    return (header.requester & 0xff) == 0 ? by_bus_[pcie::bus_of(header.requester)] : nullptr;
}

/// Whether a request from port `from` is peer-to-peer: returns the target port and address.
/// Nothing: the address belongs to host memory, mapped or not.
std::optional<root_complex::peer> root_complex::peer_of(unsigned from,
                                                        const host_function& function,
                                                        std::uint64_t address,
                                                        std::uint64_t length) const {
    if (!cfg_.peer_to_peer || function.memory().shares(address)) return std::nullopt;
    if (const auto placed = peer_of_host(from, function, address, length)) return placed;
    if (function.memory().has(address)) return std::nullopt;
    // ACS request redirect: only mapped addresses may pass
    if (ports_[from]->acs(PCI_ACS_RR)) return std::nullopt;
    const auto to = port_of(address, length);
    // A request back to its own port is only valid when a switch below has redirected it.
    if (!to || (to == from && !ports_[from]->acs(PCI_ACS_UF))) return std::nullopt;
    return peer{*to, address, false};
}

/// Translates like an IOMMU: the host that has both functions has placed the other's BAR at this
/// address. Such a request may return through the port at which it arrived.
std::optional<root_complex::peer> root_complex::peer_of_host(unsigned from,
                                                             const host_function& function,
                                                             std::uint64_t address,
                                                             std::uint64_t length) const {
    if (function.host() == 0) return std::nullopt;
    if (ports_[from]->acs(PCI_ACS_RR) && !function.memory().has(address)) return std::nullopt;
    for (const auto& other : functions_) {
        if (other.get() == &function || other->host() != function.host()) continue;
        const auto on_bus = other->on_bus(address, length);
        const auto to = on_bus ? port_of(*on_bus, length) : std::nullopt;
        if (to) return peer{*to, *on_bus, true};
    }
    return std::nullopt;
}

void root_complex::received(plug& at, payload& request, sc_time& delay) {
    auto* header = request.get_extension<tlp>();
    bridge& above = *ports_[at.index()];
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    // Only root complexes enumerate.
    if (!started_ && header != nullptr && header->to == tlp::space::config)
        throw model_refusal(
            *this, fmt::format("port[{}] is joined to another root port: a root port leads to a "
                               "chip, a card or a switch's 'up'",
                               at.index()));
    if (header == nullptr || !above.reachable()) return;
    if (header->to == tlp::space::error) {
        ++counters_.error_messages;
        const auto severity = static_cast<pcie::error_class>(request.get_address());
        if (above.forwards(severity)) above.receive_error(header->requester, severity);
        return;
    }
    if (header->to == tlp::space::completion) return pass_completion(request, *header, delay);
    if (!above.passes_up()) {
        ++counters_.refused;
        return above.log(PCI_ERR_UNC_UNSUP, &request);
    }
    if (above.acs(PCI_ACS_SV) && !above.has_bus(pcie::bus_of(header->requester))) {
        ++counters_.refused;
        return above.log(PCI_ERR_UNC_ACSV, &request);
    }
    host_function* function = sender(*header);
    if (request.get_address() == host_function::message_address && request.is_write()) {
        std::uint32_t value = 0;
        std::memcpy(&value, request.get_data_ptr(),
                    std::min<std::size_t>(sizeof value, request.get_data_length()));
        request.set_response_status(tlm::TLM_OK_RESPONSE);
        return function != nullptr ? function->message(value) : hot_plug(value);
    }
    if (function == nullptr) {
        ++counters_.refused;
        return;
    }
    if (lose_ > 0 && request.is_read()) {
        if (--lose_ == 0) forget_all_pointers();  // requests for pointers are no longer refused
        header->lost = true;
        return;
    }
    const std::uint64_t address = request.get_address();
    if (const auto to = peer_of(at.index(), *function, address, request.get_data_length())) {
        ++counters_.peer_requests;
        if (timing() == timing_mode::contended)
            delay += cfg_.peer_latency * (request.is_read() ? 2 : 1);
        request.set_address(to->address);
        pass_down(to->port, request, delay);
        return request.set_address(address);
    }
    function->memory().transport(request);
    const bool timed = request.is_read() && timing() == timing_mode::contended;
    if (timed && request.is_response_ok()) delay += cfg_.memory_latency;
}

/// Forwards a completion that a switch has redirected, by its requester's id.
void root_complex::pass_completion(payload& completion, const tlp& header, sc_time& delay) {
    if (timing() == timing_mode::contended) delay += cfg_.peer_latency;
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->has_bus(pcie::bus_of(header.target))) return pass_down(i, completion, delay);
}

unsigned root_complex::peeked(plug& at, payload& request) {
    const auto* header = request.get_extension<tlp>();
    host_function* function = header == nullptr ? nullptr : sender(*header);
    if (function == nullptr || !ports_[at.index()]->reachable()) return 0;
    const std::uint64_t address = request.get_address();
    const auto to = peer_of(at.index(), *function, address, request.get_data_length());
    if (!to) return function->memory().transport_dbg(request);
    if (!ports_[to->port]->reachable()) return 0;
    request.set_address(to->address);
    const unsigned done = port[to->port].peek(request);
    request.set_address(address);
    return done;
}

bool root_complex::asked_for_pointer(plug& at, payload& request, tlm::tlm_dmi& dmi) {
    const auto* header = request.get_extension<tlp>();
    host_function* function = header == nullptr ? nullptr : sender(*header);
    const bridge& above = *ports_[at.index()];
    if (function == nullptr || lose_ > 0 || !above.reachable() || !above.passes_up())
        return refuse_pointer(request, dmi);
    const auto to = peer_of(at.index(), *function, request.get_address(), 1);
    if (!to) {
        const bool granted = function->memory().get_direct_mem_ptr(request, dmi);
        dmi.set_read_latency(dmi.get_read_latency() + cfg_.memory_latency);
        return granted;
    }
    // Revocations use bus addresses, which differ here.
    if (to->translated) return refuse_pointer(request, dmi);
    const bool granted = direct_pointer(request, dmi);
    dmi.set_read_latency(dmi.get_read_latency() + cfg_.peer_latency * 2);
    dmi.set_write_latency(dmi.get_write_latency() + cfg_.peer_latency);
    return granted;
}

/// Memory in a BAR below one port has moved. Revokes pointers of functions below other ports, and
/// below the same port if it leads to a switch.
void root_complex::pointers_revoked(plug& at, std::uint64_t first, std::uint64_t last) {
    if (!started_) return;
    const bool to_switch = std::ranges::any_of(tree_[at.index()]->below, &node::bridge);
    for (auto& each : port)
        if (&each != &at || to_switch) each.revoke_pointers(first, last);
}

void root_complex::link_changed(plug& at) {
    ports_[at.index()]->link(pcie::answers(at));
}

// --- Faults

void root_complex::reset_below(unsigned index) {
    pcie::signal(port[index], tlp::space::hot_reset);
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
    for (const auto& f : functions_) {
        ranges += f->memory().ranges();
        unmapped += f->memory().unmapped_accesses();
        questions += f->memory().questions();
    }
    out.count("functions", functions_.size());
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

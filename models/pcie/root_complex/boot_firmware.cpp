// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/boot_firmware.h"

#include <fmt/format.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <functional>

#include "models/pcie/pcie/config_request.h"
#include "platform/framework/netlist/kinds/model_refusal.h"

namespace trn {

using pcie::function_id;
using pcie::host_function;

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

}  // namespace

// --- Configuration space

std::uint32_t boot_firmware::config_read(function_id id, std::uint32_t offset) {
    std::uint32_t value = 0;
    configure(tlm::TLM_READ_COMMAND, id, offset, value);
    return value;
}

void boot_firmware::config_write(function_id id, std::uint32_t offset, std::uint32_t value) {
    configure(tlm::TLM_WRITE_COMMAND, id, offset, value);
}

const sc_core::sc_object* boot_firmware::configure(tlm::tlm_command command, function_id id,
                                                   std::uint32_t offset, std::uint32_t& value) {
    pcie::config_request asked(command, offset, value, id);
    sc_core::sc_time untimed;
    bus_.send(asked.payload, asked.header, untimed);
    return asked.header.completer;
}

// --- Enumeration

void boot_firmware::enumerate() {
    for (unsigned i = 0; i < cfg_.ports; ++i) {
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
            server_,
            fmt::format("the BARs of {} functions do not fit the server's bus, from {:#x} to "
                        "{:#x} (window_base, bar0_size, bar4_size)",
                        functions_.size(), cfg_.window_base, host_window));
    for (const auto& root : tree_) program(*root);
}

std::uint8_t boot_firmware::next_bus() {
    if (next_bus_ > 0xff) throw model_refusal(server_, "more than 255 buses");
    return static_cast<std::uint8_t>(next_bus_++);
}

/// Enumerates the functions on the bus below a bridge: one device on a link, several in a switch.
void boot_firmware::scan(node& above, unsigned devices) {
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

void boot_firmware::find(node& above, function_id id) {
    std::uint32_t header = 0;
    const auto* device = configure(tlm::TLM_READ_COMMAND, id, PCI_CACHE_LINE_SIZE, header);
    above.below.push_back(std::make_unique<node>());
    node& found = *above.below.back();
    found.id = id;
    found.bridge = (header >> 16 & 0x7f) == PCI_HEADER_TYPE_BRIDGE;
    find_capabilities(found);
    if (!found.bridge) {
        functions_.push_back(std::make_unique<host_function>(bus_, id, *device));
        found.function = functions_.back().get();
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

void boot_firmware::find_capabilities(node& found) {
    std::uint32_t offset = config_read(found.id, PCI_CAPABILITY_LIST) & 0xfc;
    // At most 48 capabilities fit into the space.
    for (unsigned seen = 0; offset != 0 && seen < 48; ++seen) {
        const std::uint32_t header = config_read(found.id, offset);
        if ((header & 0xff) == PCI_CAP_ID_EXP) found.pcie = static_cast<std::uint16_t>(offset);
        if ((header & 0xff) == PCI_CAP_ID_MSI) found.msi = static_cast<std::uint16_t>(offset);
        offset = header >> 8 & 0xfc;
    }
}

/// Assigns addresses in the order of buses; within a function, larger BARs first. The whole path is
/// PCI Express, so any 64-bit BAR may be in a prefetchable window (7.5.1.2.1).
void boot_firmware::assign(node& assigned, std::uint64_t& narrow, std::uint64_t& wide) {
    if (assigned.function != nullptr) {
        std::vector<host_function::bar_window*> bars;
        for (auto& bar : assigned.function->bars())
            if (bar.size != 0) bars.push_back(&bar);
        std::ranges::stable_sort(bars, std::ranges::greater{}, &host_function::bar_window::size);
        for (auto* bar : bars) {
            std::uint64_t& next = bar->wide() ? wide : narrow;
            bar->base = up(next, bar->size);
            next = bar->base + bar->size;
        }
        return;
    }
    narrow = assigned.narrow.first = up(narrow, granule);
    wide = assigned.wide.first = up(wide, granule);
    for (const auto& below : assigned.below) assign(*below, narrow, wide);
    narrow = assigned.narrow.end = up(narrow, granule);
    wide = assigned.wide.end = up(wide, granule);
}

void boot_firmware::program_buses(const node& bridge) {
    config_write(bridge.id, PCI_PRIMARY_BUS,
                 static_cast<std::uint32_t>(pcie::bus_of(bridge.id) | bridge.secondary << 8 |
                                            bridge.subordinate << 16));
}

/// Writes the assigned buses and addresses of a function, or of a bridge and everything below it:
/// at the start, and when a card returns.
void boot_firmware::program(const node& programmed) {
    enable_error_messages(programmed);
    if (programmed.function != nullptr) return programmed.function->restore();
    program_buses(programmed);
    const auto window = [](const range& r) {
        const std::uint64_t last = r.end - 1;
        return static_cast<std::uint32_t>((r.first >> 16 & 0xfff0) | (last >> 16 & 0xfff0) << 16);
    };
    constexpr range closed{granule, 1};
    const range& narrow =
        programmed.narrow.first == programmed.narrow.end ? closed : programmed.narrow;
    const range& wide = programmed.wide.first == programmed.wide.end ? closed : programmed.wide;
    config_write(programmed.id, PCI_MEMORY_BASE, window(narrow));
    config_write(programmed.id, PCI_PREF_MEMORY_BASE, window(wide));
    config_write(programmed.id, PCI_PREF_BASE_UPPER32,
                 static_cast<std::uint32_t>(wide.first >> 32));
    config_write(programmed.id, PCI_PREF_LIMIT_UPPER32,
                 static_cast<std::uint32_t>((wide.end - 1) >> 32));
    // Forwards error messages from below.
    constexpr std::uint32_t forward_errors = PCI_BRIDGE_CTL_SERR << 16;
    config_write(programmed.id, PCI_INTERRUPT_LINE, forward_errors);
    config_write(programmed.id, PCI_COMMAND,
                 PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_SERR);
    const auto number = std::ranges::find(bridges_, &programmed) - bridges_.begin();
    program_slot(programmed, static_cast<std::uint32_t>(number));
    for (const auto& below : programmed.below) program(*below);
}

/// Enables error messages of a function or port: QEMU forwards errors to its guest only if they are
/// enabled at its start.
void boot_firmware::enable_error_messages(const node& source) {
    // The upper half is the status, whose bits are cleared by writing ones: write zeroes there.
    constexpr std::uint32_t report_errors =
        PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE;
    const std::uint32_t control = config_read(source.id, source.pcie + PCI_EXP_DEVCTL) & 0xffff;
    config_write(source.id, source.pcie + PCI_EXP_DEVCTL, control | report_errors);
}

/// Enables a slot's hot-plug message, with the bridge's number as data.
void boot_firmware::program_slot(const node& bridge, std::uint32_t number) {
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

// --- Events

std::optional<boot_firmware::slot_state> boot_firmware::hot_plug(std::uint32_t message) {
    if (message >= bridges_.size()) return std::nullopt;
    const node& bridge = *bridges_[message];
    const auto slot = config_read(bridge.id, bridge.pcie + PCI_EXP_SLTCTL) >> 16;
    if ((slot & (PCI_EXP_SLTSTA_PDC | PCI_EXP_SLTSTA_DLLSC)) == 0) return std::nullopt;
    program_slot(bridge, message);
    const auto link = config_read(bridge.id, bridge.pcie + PCI_EXP_LNKCTL) >> 16;
    const bool reachable = (link & PCI_EXP_LNKSTA_DLLLA) != 0;
    if (reachable)
        for (const auto& below : bridge.below) program(*below);
    return slot_state{bridge.id, reachable};
}

std::uint32_t boot_firmware::take_error(function_id source) {
    const std::uint32_t capability = error_capability(source);
    if (capability == 0) return 0;
    const std::uint32_t errors = config_read(source, capability + PCI_ERR_UNCOR_STATUS) &
                                 ~config_read(source, capability + PCI_ERR_UNCOR_MASK);
    const auto first = 1u << PCI_ERR_CAP_FEP(config_read(source, capability + PCI_ERR_CAP));
    const std::uint32_t error = (errors & first) != 0 ? first : errors & -errors;
    // Errors of ports are handled here; those of a function are recorded until its driver clears
    // them.
    if (std::ranges::find(bridges_, source, &node::id) != bridges_.end())
        config_write(source, capability + PCI_ERR_UNCOR_STATUS, error);
    return error;
}

/// Offset of the advanced error reporting of a function or port. 0: none, or it does not answer.
std::uint32_t boot_firmware::error_capability(function_id source) {
    constexpr std::uint32_t no_answer = ~std::uint32_t{0};
    std::uint32_t offset = PCI_CFG_SPACE_SIZE;
    for (unsigned seen = 0; offset >= PCI_CFG_SPACE_SIZE && seen < 48; ++seen) {
        const std::uint32_t header = config_read(source, offset);
        if (header == no_answer) return 0;
        if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_ERR) return offset;
        offset = PCI_EXT_CAP_NEXT(header);
    }
    return 0;
}

std::vector<function_id> boot_firmware::bridges_above(function_id function) const {
    std::vector<function_id> above;
    const auto bus = pcie::bus_of(function);
    for (const node* bridge : bridges_)
        if (bridge->secondary <= bus && bus <= bridge->subordinate) above.push_back(bridge->id);
    return above;
}

bool boot_firmware::leads_to_switch(unsigned port) const {
    return std::ranges::any_of(tree_[port]->below, &node::bridge);
}

}  // namespace trn

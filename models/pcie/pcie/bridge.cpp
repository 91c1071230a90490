// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/bridge.h"

#include <utility>

#include "models/pcie/pcie/capabilities.h"
#include "models/pcie/pcie/payload_form.h"

namespace trn::pcie {

namespace {

/// The bits of the root error command that enable an interrupt for what the status has recorded.
std::uint32_t reportable(std::uint32_t root_error_status) {
    std::uint32_t enables = 0;
    if ((root_error_status & PCI_ERR_ROOT_COR_RCV) != 0) enables |= PCI_ERR_ROOT_CMD_COR_EN;
    if ((root_error_status & PCI_ERR_ROOT_NONFATAL_RCV) != 0)
        enables |= PCI_ERR_ROOT_CMD_NONFATAL_EN;
    if ((root_error_status & PCI_ERR_ROOT_FATAL_RCV) != 0) enables |= PCI_ERR_ROOT_CMD_FATAL_EN;
    return enables;
}

}  // namespace

bridge::bridge(const config& cfg, hooks hooks) : role_(cfg.port_role), hooks_(std::move(hooks)) {
    build(cfg);
    decode();
}

void bridge::build(const config& cfg) {
    constexpr std::uint16_t errors_seen = PCI_STATUS_REC_MASTER_ABORT | PCI_STATUS_SIG_SYSTEM_ERROR;
    constexpr std::uint32_t pci_bridge = 0x06'0400;
    define_header(space_, cfg.vendor_id, cfg.device_id, pci_bridge << 8 | 1);
    space_.define<std::uint16_t>(PCI_STATUS, PCI_STATUS_CAP_LIST, 0, errors_seen);
    space_.define<std::uint8_t>(
        PCI_HEADER_TYPE,
        static_cast<std::uint8_t>(PCI_HEADER_TYPE_BRIDGE | (cfg.many_functions ? 0x80 : 0)));
    space_.define<std::uint32_t>(PCI_PRIMARY_BUS, 0, 0x00ff'ffff);
    space_.define<std::uint16_t>(PCI_SEC_STATUS, 0, 0, errors_seen);
    // Both windows are closed after a reset: the base, 1 MiB, is above the limit.
    space_.define<std::uint32_t>(PCI_MEMORY_BASE, 0x0000'0010, 0xfff0'fff0);
    space_.define<std::uint32_t>(PCI_PREF_MEMORY_BASE, 0x0001'0011, 0xfff0'fff0);
    space_.define<std::uint32_t>(PCI_PREF_BASE_UPPER32, 0, ~0u);
    space_.define<std::uint32_t>(PCI_PREF_LIMIT_UPPER32, 0, ~0u);
    space_.define<std::uint16_t>(
        PCI_BRIDGE_CONTROL, 0,
        PCI_BRIDGE_CTL_PARITY | PCI_BRIDGE_CTL_SERR | PCI_BRIDGE_CTL_BUS_RESET);
    build_link(cfg);
    power_ = add_power_management(space_);
    constexpr std::uint16_t msi_length = 14;
    msi_ = space_.add_capability(PCI_CAP_ID_MSI, msi_length);
    space_.define<std::uint16_t>(msi_ + PCI_MSI_FLAGS, PCI_MSI_FLAGS_64BIT, PCI_MSI_FLAGS_ENABLE);
    space_.define<std::uint32_t>(msi_ + PCI_MSI_ADDRESS_LO, 0, ~3u);
    space_.define<std::uint32_t>(msi_ + PCI_MSI_ADDRESS_HI, 0, ~0u);
    space_.define<std::uint16_t>(msi_ + PCI_MSI_DATA_64, 0, 0xffff);
    errors_.add_capability(pcie_, role_ == role::root_port);
    if (role_ != role::upstream) {
        // Translation blocking and direct translated P2P are not offered: there is no address
        // translation.
        constexpr std::uint16_t offered = PCI_ACS_SV | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF;
        acs_ = space_.add_extended_capability(PCI_EXT_CAP_ID_ACS, 1, 8);
        space_.define<std::uint16_t>(acs_ + PCI_ACS_CAP, offered);
        space_.define<std::uint16_t>(acs_ + PCI_ACS_CTRL, 0, offered);
    }
    space_.on_write(0, config_space::size, [this] { decode(); });
    space_.on_write(PCI_BRIDGE_CONTROL, 2, [this] {
        const auto control = space_.get<std::uint16_t>(PCI_BRIDGE_CONTROL);
        if ((control & PCI_BRIDGE_CTL_BUS_RESET) != 0 && hooks_.reset_below) hooks_.reset_below();
    });
}

void bridge::build_link(const config& cfg) {
    const bool slot = role_ != role::upstream;
    const unsigned type = static_cast<unsigned>(role_) << 4 | (slot ? PCI_EXP_FLAGS_SLOT : 0);
    pcie_ = add_pcie_capability(space_, type, false, cfg.generation, cfg.lanes);
    if (!slot) return;
    space_.define<std::uint32_t>(pcie_ + PCI_EXP_LNKCAP,
                                 space_.get<std::uint32_t>(pcie_ + PCI_EXP_LNKCAP) |
                                     PCI_EXP_LNKCAP_SDERC | PCI_EXP_LNKCAP_DLLLARC);
    space_.define<std::uint32_t>(pcie_ + PCI_EXP_SLTCAP,
                                 PCI_EXP_SLTCAP_HPS | PCI_EXP_SLTCAP_HPC | cfg.slot << 19);
    space_.define<std::uint16_t>(pcie_ + PCI_EXP_SLTCTL, 0,
                                 PCI_EXP_SLTCTL_PDCE | PCI_EXP_SLTCTL_HPIE | PCI_EXP_SLTCTL_DLLSCE);
    space_.define<std::uint16_t>(pcie_ + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS, 0,
                                 PCI_EXP_SLTSTA_PDC | PCI_EXP_SLTSTA_DLLSC);
    space_.raise<std::uint16_t>(pcie_ + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA);
    // Both show the state of the hardware.
    space_.keep_over_reset<std::uint16_t>(pcie_ + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS);
    space_.keep_over_reset<std::uint16_t>(pcie_ + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA);
}

void bridge::configure(tlm::tlm_generic_payload& request, tlp& header,
                       const sc_core::sc_object& owner) {
    header.completer = &owner;
    if (complete_by_form(request, tlp::space::config)) return;
    if (request.is_write()) id_ = header.target;
    if (answer(space_, request)) return request.set_response_status(tlm::TLM_OK_RESPONSE);
    log(PCI_ERR_UNC_UNSUP, &request);
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

void bridge::decode() {
    const auto command = space_.get<std::uint16_t>(PCI_COMMAND);
    const bool in_d0 =
        (space_.get<std::uint16_t>(power_ + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK) == 0;
    const auto part = [this](std::uint32_t offset) {
        return static_cast<std::uint64_t>(space_.get<std::uint16_t>(offset) & 0xfff0) << 16;
    };
    const auto upper = [this](std::uint32_t offset) {
        return static_cast<std::uint64_t>(space_.get<std::uint32_t>(offset)) << 32;
    };
    constexpr std::uint64_t granule = 0xf'ffff;  // 1 MiB - 1
    const decoded before = std::exchange(
        now_, {.secondary = space_.get<std::uint8_t>(PCI_SECONDARY_BUS),
               .subordinate = space_.get<std::uint8_t>(PCI_SUBORDINATE_BUS),
               .memory = in_d0 && (command & PCI_COMMAND_MEMORY) != 0,
               .master = in_d0 && (command & PCI_COMMAND_MASTER) != 0,
               .acs = acs_ == 0 ? std::uint16_t{0} : space_.get<std::uint16_t>(acs_ + PCI_ACS_CTRL),
               .narrow_first = part(PCI_MEMORY_BASE),
               .narrow_last = part(PCI_MEMORY_LIMIT) | granule,
               .wide_first = part(PCI_PREF_MEMORY_BASE) | upper(PCI_PREF_BASE_UPPER32),
               .wide_last = part(PCI_PREF_MEMORY_LIMIT) | upper(PCI_PREF_LIMIT_UPPER32) | granule});
    if (!(now_ == before) && hooks_.changed) hooks_.changed();
}

bool bridge::claims(std::uint64_t address, std::uint64_t length) const {
    if (!now_.memory) return false;
    const auto holds = [&](std::uint64_t first, std::uint64_t last) {
        return address >= first && address <= last && length <= last - address + 1;
    };
    return holds(now_.narrow_first, now_.narrow_last) || holds(now_.wide_first, now_.wide_last);
}

// --- Slot and link

void bridge::change(const slot_state& next) {
    const bool was_present = present(), was_reachable = reachable();
    slot_ = next;
    show_slot();
    std::uint16_t events = 0;
    if (present() != was_present) events |= PCI_EXP_SLTSTA_PDC;
    if (reachable() != was_reachable) events |= PCI_EXP_SLTSTA_DLLSC;
    if (was_reachable && !reachable()) log(PCI_ERR_UNC_SURPDN);
    if (events != 0) slot_event(events);
}

void bridge::show_slot() {
    const auto show = [this](std::uint32_t offset, std::uint16_t bit, bool on) {
        const auto status = space_.get<std::uint16_t>(offset);
        space_.set(offset, static_cast<std::uint16_t>(on ? status | bit : status & ~bit));
    };
    show(pcie_ + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS, present());
    show(pcie_ + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA, reachable());
}

void bridge::leave_empty() {
    slot_ = {.card = false, .link = false};
    show_slot();
}

void bridge::link(bool up) {
    slot_state next = slot_;
    next.link = up;
    change(next);
}

void bridge::card(bool present, bool link) {
    slot_state next = slot_;
    next.card = present;
    next.link = link;
    change(next);
}

void bridge::cut(bool down) {
    slot_state next = slot_;
    next.cut = down;
    change(next);
}

std::vector<accepts_faults::fault> bridge::faults(std::size_t ports, const port_lookup& lookup) {
    const auto argument =
        fault_argument::number("port", 0, static_cast<std::int64_t>(ports) - 1, "of the module")
            .by_default(0);
    const auto on_port = [=](auto action) {
        return [=](const fault_values& given) {
            const auto [port, below] = lookup(given.number<std::size_t>("port"));
            action(port, below);
        };
    };
    return {{"surprise_down",
             "the link of the port goes down without warning",
             {argument},
             on_port([](bridge& port, plug& below) {
                 // 2.9.1: devices on a link that goes down are reset
                 signal(below, tlp::space::hot_reset, 1);
                 port.cut(true);
             })},
            {"link_up",
             "ends surprise_down: the devices have been reset",
             {argument},
             on_port([](bridge& port, plug&) { port.cut(false); })},
            {"card_removed",
             "the card of the port is pulled",
             {argument},
             on_port([](bridge& port, plug& below) {
                 port.card(false, false);
                 signal(below, tlp::space::slot_power, 0);
             })},
            {"card_inserted",
             "a card is back in the port, just powered on",
             {argument},
             on_port([](bridge& port, plug& below) {
                 if (port.powered()) signal(below, tlp::space::slot_power, 1);
                 port.card(true, answers(below));
             })}};
}

void bridge::slot_event(std::uint16_t events) {
    space_.raise<std::uint16_t>(pcie_ + PCI_EXP_SLTSTA, events);
    if (hooks_.changed) hooks_.changed();
    const auto control = space_.get<std::uint16_t>(pcie_ + PCI_EXP_SLTCTL);
    const bool asked = ((control & PCI_EXP_SLTCTL_PDCE) != 0 && (events & PCI_EXP_SLTSTA_PDC)) ||
                       ((control & PCI_EXP_SLTCTL_DLLSCE) != 0 && (events & PCI_EXP_SLTSTA_DLLSC));
    if (asked && (control & PCI_EXP_SLTCTL_HPIE) != 0) interrupt();
}

/// Sends the port's only MSI, whose message numbers for hot plug and errors are both 0.
void bridge::interrupt() {
    const auto flags = space_.get<std::uint16_t>(msi_ + PCI_MSI_FLAGS);
    if ((flags & PCI_MSI_FLAGS_ENABLE) == 0 || !now_.master || !hooks_.message) return;
    hooks_.message(space_.get<std::uint64_t>(msi_ + PCI_MSI_ADDRESS_LO),
                   space_.get<std::uint16_t>(msi_ + PCI_MSI_DATA_64));
}

void bridge::log(std::uint32_t error, const tlm::tlm_generic_payload* request) {
    if (const auto message = errors_.uncorrectable(error, request)) report(*message);
}

void bridge::log(link_error error) {
    if (const auto message = errors_.correctable(error)) report(*message);
}

void bridge::report(error_class severity) {
    if (role_ == role::root_port)
        receive_error(id_, severity);
    else if (hooks_.report)
        hooks_.report(severity);
}

bool bridge::forwards(error_class severity) {
    const bool wanted = (space_.get<std::uint16_t>(PCI_BRIDGE_CONTROL) & PCI_BRIDGE_CTL_SERR) != 0;
    if (severity == error_class::correctable) return wanted;
    // In the secondary status, this bit means that an error message was received (7.5.1.3.7).
    space_.raise<std::uint16_t>(PCI_SEC_STATUS, PCI_STATUS_SIG_SYSTEM_ERROR);
    if (!wanted || (space_.get<std::uint16_t>(PCI_COMMAND) & PCI_COMMAND_SERR) == 0) return false;
    space_.raise<std::uint16_t>(PCI_STATUS, PCI_STATUS_SIG_SYSTEM_ERROR);
    return true;
}

void bridge::receive_error(function_id source, error_class severity) {
    const bool correctable = severity == error_class::correctable;
    const std::uint32_t received = correctable ? PCI_ERR_ROOT_COR_RCV : PCI_ERR_ROOT_UNCOR_RCV;
    std::uint32_t bits = received;
    if (severity == error_class::fatal) bits |= PCI_ERR_ROOT_FATAL_RCV;
    if (severity == error_class::nonfatal) bits |= PCI_ERR_ROOT_NONFATAL_RCV;
    const std::uint32_t status_offset = errors_.offset() + PCI_ERR_ROOT_STATUS;
    const auto status = space_.get<std::uint32_t>(status_offset);
    if ((status & received) != 0) {
        bits |= correctable ? PCI_ERR_ROOT_MULTI_COR_RCV : PCI_ERR_ROOT_MULTI_UNCOR_RCV;
    } else {  // the registers keep the first source of each kind, and whether it was fatal
        const std::uint32_t source_offset = errors_.offset() + PCI_ERR_ROOT_ERR_SRC;
        space_.set(correctable ? source_offset : source_offset + 2, source);
        if (severity == error_class::fatal) bits |= PCI_ERR_ROOT_FIRST_FATAL;
    }
    space_.set(status_offset, status | bits);
    // 6.2.4.1.2: an interrupt for each change from "nothing enabled is recorded".
    const auto enabled = space_.get<std::uint32_t>(errors_.offset() + PCI_ERR_ROOT_COMMAND);
    if ((reportable(status) & enabled) == 0 && (reportable(status | bits) & enabled) != 0)
        interrupt();
    if (hooks_.received) hooks_.received(source, severity);
}

void bridge::reset() {
    space_.reset(config_space::reset_kind::conventional);
    decode();
}

void bridge::power(bool on) {
    slot_.power = on;
    if (!on) restart();
}

void bridge::restart() {
    space_.forget();
    if (role_ != role::upstream) show_slot();
    decode();
}

}  // namespace trn::pcie

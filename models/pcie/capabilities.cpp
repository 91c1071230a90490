// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/capabilities.h"

#include <linux/pci_regs.h>

#include <span>

namespace trn::pcie {

void define_link(config_space& space, std::uint16_t pcie, unsigned generation, unsigned lanes) {
    const std::uint32_t width = lanes << 4;
    constexpr std::uint32_t optionality_compliant = 1u << 22;
    space.define<std::uint32_t>(pcie + PCI_EXP_LNKCAP, generation | width | optionality_compliant);
    space.define<std::uint16_t>(pcie + PCI_EXP_LNKCTL, 0, PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
    space.define<std::uint16_t>(
        pcie + PCI_EXP_LNKSTA, static_cast<std::uint16_t>(generation | width | PCI_EXP_LNKSTA_SLC));
    space.define<std::uint32_t>(pcie + PCI_EXP_LNKCAP2, ((1u << generation) - 1) << 1);
    space.define<std::uint16_t>(pcie + PCI_EXP_LNKCTL2, static_cast<std::uint16_t>(generation),
                                0xf);
    space.keep_over_reset(pcie + PCI_EXP_LNKCTL, 2);  // 6.6.2: FLR does not affect the link
    space.keep_over_reset(pcie + PCI_EXP_LNKCTL2, 2);
}

std::uint16_t add_error_reporting(config_space& space, bool root) {
    constexpr std::uint32_t uncorrectable =
        PCI_ERR_UNC_DLP | PCI_ERR_UNC_SURPDN | PCI_ERR_UNC_POISON_TLP | PCI_ERR_UNC_FCP |
        PCI_ERR_UNC_COMP_TIME | PCI_ERR_UNC_COMP_ABORT | PCI_ERR_UNC_UNX_COMP |
        PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_UNSUP | PCI_ERR_UNC_ACSV |
        PCI_ERR_UNC_INTN;
    constexpr std::uint32_t correctable = PCI_ERR_COR_RCVR | PCI_ERR_COR_BAD_TLP |
                                          PCI_ERR_COR_BAD_DLLP | PCI_ERR_COR_REP_ROLL |
                                          PCI_ERR_COR_REP_TIMER | PCI_ERR_COR_ADV_NFAT;
    constexpr std::uint32_t fatal = PCI_ERR_UNC_DLP | PCI_ERR_UNC_SURPDN | PCI_ERR_UNC_FCP |
                                    PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_INTN;
    const std::uint16_t at = space.add_extended_capability(PCI_EXT_CAP_ID_ERR, 2, 0x48);
    space.define<std::uint32_t>(at + PCI_ERR_UNCOR_STATUS, 0, 0, uncorrectable);
    space.define<std::uint32_t>(at + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_INTN, uncorrectable);
    space.define<std::uint32_t>(at + PCI_ERR_UNCOR_SEVER, fatal, uncorrectable);
    space.define<std::uint32_t>(at + PCI_ERR_COR_STATUS, 0, 0, correctable);
    space.define<std::uint32_t>(at + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT, correctable);
    if (root) {
        space.define<std::uint32_t>(at + PCI_ERR_ROOT_COMMAND, 0, 0x7);
        space.define<std::uint32_t>(at + PCI_ERR_ROOT_STATUS, 0, 0, 0x7f);
        // Source of the first correctable error.
        space.define<std::uint16_t>(at + PCI_ERR_ROOT_ERR_SRC, 0);
        // Source of the first uncorrectable error.
        space.define<std::uint16_t>(at + PCI_ERR_ROOT_ERR_SRC + 2, 0);
    }
    space.keep_over_reset(at + PCI_ERR_UNCOR_STATUS, 0x44);  // all of AER is sticky (7.8.4)
    return at;
}

std::uint16_t add_power_management(config_space& space) {
    const std::uint16_t at = space.add_capability(PCI_CAP_ID_PM, PCI_PM_SIZEOF);
    space.define<std::uint16_t>(at + PCI_PM_PMC, 3);  // version 3: D0 and D3 only, no PME
    space.define<std::uint16_t>(at + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET,
                                PCI_PM_CTRL_STATE_MASK);
    return at;
}

void log_uncorrectable(config_space& space, std::uint16_t aer, std::uint16_t pcie,
                       std::uint32_t error) {
    const bool fatal = (space.get<std::uint32_t>(aer + PCI_ERR_UNCOR_SEVER) & error) != 0;
    const std::uint32_t status = pcie + PCI_EXP_DEVSTA;
    space.raise<std::uint16_t>(status, fatal ? PCI_EXP_DEVSTA_FED : PCI_EXP_DEVSTA_NFED);
    if (error == PCI_ERR_UNC_UNSUP) space.raise<std::uint16_t>(status, PCI_EXP_DEVSTA_URD);
    space.raise<std::uint32_t>(aer + PCI_ERR_UNCOR_STATUS, error);
}

std::optional<error_class> wanted_message(config_space& space, std::uint16_t aer,
                                          std::uint16_t pcie, std::uint32_t error, bool advisory) {
    const auto control = space.get<std::uint16_t>(pcie + PCI_EXP_DEVCTL);
    const bool fatal = (space.get<std::uint32_t>(aer + PCI_ERR_UNCOR_SEVER) & error) != 0;
    advisory = advisory && !fatal;
    if (advisory) {
        space.raise<std::uint32_t>(aer + PCI_ERR_COR_STATUS, PCI_ERR_COR_ADV_NFAT);
        if ((space.get<std::uint32_t>(aer + PCI_ERR_COR_MASK) & PCI_ERR_COR_ADV_NFAT) != 0)
            return std::nullopt;
    }
    if ((space.get<std::uint32_t>(aer + PCI_ERR_UNCOR_MASK) & error) != 0) return std::nullopt;
    if (error == PCI_ERR_UNC_UNSUP && (control & PCI_EXP_DEVCTL_URRE) == 0) return std::nullopt;
    if (advisory) {
        if ((control & PCI_EXP_DEVCTL_CERE) == 0) return std::nullopt;
        return error_class::correctable;
    }
    const bool system_error = (space.get<std::uint16_t>(PCI_COMMAND) & PCI_COMMAND_SERR) != 0;
    if (!system_error && (control & (fatal ? PCI_EXP_DEVCTL_FERE : PCI_EXP_DEVCTL_NFERE)) == 0)
        return std::nullopt;
    if (system_error) space.raise<std::uint16_t>(PCI_STATUS, PCI_STATUS_SIG_SYSTEM_ERROR);
    return fatal ? error_class::fatal : error_class::nonfatal;
}

bool log_correctable(config_space& space, std::uint16_t aer, std::uint16_t pcie, link_error error) {
    const std::uint32_t bit =
        error == link_error::bad_packet ? PCI_ERR_COR_BAD_TLP : PCI_ERR_COR_REP_ROLL;
    space.raise<std::uint32_t>(aer + PCI_ERR_COR_STATUS, bit);
    if ((space.get<std::uint32_t>(aer + PCI_ERR_COR_MASK) & bit) != 0) return false;
    space.raise<std::uint16_t>(pcie + PCI_EXP_DEVSTA, PCI_EXP_DEVSTA_CED);
    return (space.get<std::uint16_t>(pcie + PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_CERE) != 0;
}

bool answer(config_space& space, tlm::tlm_generic_payload& request) {
    const std::uint64_t offset = request.get_address();
    const unsigned length = request.get_data_length();
    if (offset >= config_space::size || length > config_space::size - offset) return false;
    const std::span<std::uint8_t> bytes(request.get_data_ptr(), length);
    if (request.is_write())
        space.write(static_cast<std::uint32_t>(offset), bytes);
    else
        space.read(static_cast<std::uint32_t>(offset), bytes);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

}  // namespace trn::pcie

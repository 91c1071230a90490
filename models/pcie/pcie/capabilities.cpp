// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/capabilities.h"

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
    constexpr std::uint16_t all = 0xffff;
    space.keep_over_function_level_reset(pcie + PCI_EXP_LNKCTL, all);
    space.keep_over_reset(pcie + PCI_EXP_LNKCTL2, all);
}

std::uint16_t add_power_management(config_space& space) {
    const std::uint16_t offset = space.add_capability(PCI_CAP_ID_PM, PCI_PM_SIZEOF);
    space.define<std::uint16_t>(offset + PCI_PM_PMC, 3);  // version 3: D0 and D3 only, no PME
    space.define<std::uint16_t>(offset + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET,
                                PCI_PM_CTRL_STATE_MASK);
    return offset;
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

// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/capabilities.h"

#include <linux/pci_regs.h>

#include <span>

#include "models/pcie/pcie/payload_form.h"

namespace trn::pcie {

void define_header(config_space& space, std::uint16_t vendor_id, std::uint16_t device_id,
                   std::uint32_t class_and_revision) {
    constexpr std::uint16_t command_bits = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
                                           PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
                                           PCI_COMMAND_INTX_DISABLE;
    space.define<std::uint16_t>(PCI_VENDOR_ID, vendor_id);
    space.define<std::uint16_t>(PCI_DEVICE_ID, device_id);
    space.define<std::uint16_t>(PCI_COMMAND, 0, command_bits);
    space.define<std::uint32_t>(PCI_CLASS_REVISION, class_and_revision);
    space.define<std::uint8_t>(PCI_CACHE_LINE_SIZE, 0, 0xff);  // 7.5.1.1.7: writable, no effect
    space.define<std::uint8_t>(PCI_INTERRUPT_LINE, 0, 0xff);
}

std::uint16_t add_pcie_capability(config_space& space, unsigned type, bool resets,
                                  unsigned generation, unsigned lanes) {
    constexpr std::uint16_t length = 0x3c;  // version 2 with slot registers (7.5.3)
    constexpr std::uint32_t payload_512 = 2;
    const std::uint16_t pcie = space.add_capability(PCI_CAP_ID_EXP, length);
    space.define<std::uint16_t>(pcie + PCI_EXP_FLAGS, static_cast<std::uint16_t>(2 | type));
    space.define<std::uint32_t>(pcie + PCI_EXP_DEVCAP, payload_512 | PCI_EXP_DEVCAP_EXT_TAG |
                                                           PCI_EXP_DEVCAP_RBER |
                                                           (resets ? PCI_EXP_DEVCAP_FLR : 0));
    constexpr std::uint16_t all = 0xffff, all_but_reset = 0x7fff;
    space.define<std::uint16_t>(pcie + PCI_EXP_DEVCTL, 0x2810, resets ? all : all_but_reset);
    space.define<std::uint16_t>(pcie + PCI_EXP_DEVSTA, 0, 0, 0xf);
    space.define<std::uint32_t>(pcie + PCI_EXP_DEVCAP2, 0x1f);  // completion timeouts A to D
    space.define<std::uint16_t>(pcie + PCI_EXP_DEVCTL2, 0, 0x1f);
    const std::uint32_t width = lanes << 4;
    constexpr std::uint32_t optionality_compliant = 1u << 22;
    space.define<std::uint32_t>(pcie + PCI_EXP_LNKCAP, generation | width | optionality_compliant);
    space.define<std::uint16_t>(pcie + PCI_EXP_LNKCTL, 0, PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
    space.define<std::uint16_t>(
        pcie + PCI_EXP_LNKSTA, static_cast<std::uint16_t>(generation | width | PCI_EXP_LNKSTA_SLC));
    space.define<std::uint32_t>(pcie + PCI_EXP_LNKCAP2, ((1u << generation) - 1) << 1);
    space.define<std::uint16_t>(pcie + PCI_EXP_LNKCTL2, static_cast<std::uint16_t>(generation),
                                0xf);
    space.keep_over_function_level_reset(pcie + PCI_EXP_LNKCTL, all);
    space.keep_over_reset(pcie + PCI_EXP_LNKCTL2, all);
    return pcie;
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
    for_enabled_bytes(request, offset, [&](std::uint64_t first, std::span<std::uint8_t> bytes) {
        if (request.is_write())
            space.write(static_cast<std::uint32_t>(first), bytes);
        else
            space.read(static_cast<std::uint32_t>(first), bytes);
    });
    return true;
}

}  // namespace trn::pcie

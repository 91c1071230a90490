// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

#include "models/pcie/pcie/config_space.h"

/// Parts of the configuration space that endpoints and bridges share.
namespace trn::pcie {

/// Defines the registers that all headers share: ids, class, command, and those without effect.
void define_header(config_space& space, std::uint16_t vendor_id, std::uint16_t device_id,
                   std::uint32_t class_and_revision);
/// Adds the PCI Express capability with registers of device and link; returns its offset. `type`:
/// type and slot in PCI_EXP_FLAGS. `resets`: the function supports function-level resets.
std::uint16_t add_pcie_capability(config_space& space, unsigned type, bool resets,
                                  unsigned generation, unsigned lanes);
/// Adds power management with D0 and D3hot; returns its offset. Callers install the write hooks.
std::uint16_t add_power_management(config_space& space);
/// Executes a read or write of configuration space, or a debug access; the payload's address is the
/// offset. Returns false, without effect, when the request exceeds the space. The caller sets the
/// response.
bool answer(config_space& space, tlm::tlm_generic_payload& request);

}  // namespace trn::pcie

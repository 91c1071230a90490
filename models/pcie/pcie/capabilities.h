// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

#include "models/pcie/pcie/config_space.h"

/// Parts of the configuration space that endpoints and bridges share.
namespace trn::pcie {

/// Defines link capabilities, control and status of the PCI Express capability at `pcie`.
void define_link(config_space& space, std::uint16_t pcie, unsigned generation, unsigned lanes);
/// Adds power management with D0 and D3hot; returns its offset. Callers install the write hooks.
std::uint16_t add_power_management(config_space& space);
/// Executes a configuration request; the payload's address is the offset. Returns false, without
/// effect, when the request exceeds the space.
bool answer(config_space& space, tlm::tlm_generic_payload& request);

}  // namespace trn::pcie

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <tlm>

#include "models/pcie/config_space.h"
#include "models/pcie/tlp.h"
#include "platform/framework/tlm/link_end.h"

/// Parts of the configuration space that endpoints and bridges share.
namespace trn::pcie {

/// Defines link capabilities, control and status of the PCI Express capability at `pcie`.
void define_link(config_space& space, std::uint16_t pcie, unsigned generation, unsigned lanes);
/// Adds advanced error reporting (7.8.4), all of it sticky; returns its offset. `root`: includes
/// the registers of root ports.
std::uint16_t add_error_reporting(config_space& space, bool root = false);
/// Adds power management with D0 and D3hot; returns its offset. Callers install the write hooks.
std::uint16_t add_power_management(config_space& space);
/// Sets a bit of the uncorrectable error status, and the corresponding bits of the device status.
void log_uncorrectable(config_space& space, std::uint16_t aer, std::uint16_t pcie,
                       std::uint32_t error);
/// The error message that software has enabled for an uncorrectable error (6.2.3.2.4, 6.2.6), from
/// its mask and severity, and the enable bits of command and device control. `advisory`: an
/// unsupported non-posted request. Its requester learns of it from the completion, so it is
/// reported as correctable unless it is fatal (6.2.3.2.4.1).
std::optional<error_class> wanted_message(config_space& space, std::uint16_t aer,
                                          std::uint16_t pcie, std::uint32_t error,
                                          bool advisory = false);
/// Logs a corrected link error. Returns true when software has enabled a message for it.
bool log_correctable(config_space& space, std::uint16_t aer, std::uint16_t pcie, link_error error);

/// Executes a configuration request; the payload's address is the offset. Returns false, without
/// effect, when the request exceeds the space.
bool answer(config_space& space, tlm::tlm_generic_payload& request);

}  // namespace trn::pcie

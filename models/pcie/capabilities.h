// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <tlm>

#include "models/pcie/config_space.h"
#include "models/pcie/tlp.h"
#include "platform/framework/tlm/link_end.h"

/// Parts of a configuration space that endpoints and bridges have in common.
namespace trn::pcie {

/// Link capabilities, control and status of the PCI Express capability at `pcie`.
void define_link(config_space& space, std::uint16_t pcie, unsigned generation, unsigned lanes);
/// Advanced error reporting (7.8.4), all of it sticky; returns its offset. `root`: with the
/// registers that only a root port has.
std::uint16_t add_error_reporting(config_space& space, bool root = false);
/// D0 and D3hot; returns the offset. Hooks are the caller's.
std::uint16_t add_power_management(config_space& space);
/// Sets a bit of the uncorrectable error status, and the related bits of the device status.
void log_uncorrectable(config_space& space, std::uint16_t aer, std::uint16_t pcie,
                       std::uint32_t error);
/// The message that software has enabled for such an error (6.2.3.2.4, 6.2.6), by its
/// mask and severity and the enable bits of command and device control. `advisory`: a request that
/// was not posted and is not supported; the completion reports it to its requester, so unless it
/// is fatal it is reported as a correctable one (6.2.3.2.4.1).
std::optional<error_class> wanted_message(config_space& space, std::uint16_t aer,
                                          std::uint16_t pcie, std::uint32_t error,
                                          bool advisory = false);
/// The same for a corrected link error; true when software has enabled a message for it.
bool log_correctable(config_space& space, std::uint16_t aer, std::uint16_t pcie, link_error error);

/// A configuration request: the payload's address is the offset. False, and nothing happens: not
/// within the space.
bool answer(config_space& space, tlm::tlm_generic_payload& request);

}  // namespace trn::pcie

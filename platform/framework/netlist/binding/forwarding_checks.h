// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/netlist/document/planning.h"

namespace trn {

/// Checks that no access can return to a router or window that has forwarded it, that an access
/// passes few of them, and that few paths lead through them; else an access would end the program,
/// and an address map would never be written out. Precondition: no errors so far.
void check_forwarding(planning& all);

/// Checks that switches and cables, which pass on what arrives, form no ring.
void check_plugs(planning& all);

/// Checks that each link, cables included, leads from a downstream port to an upstream port.
void check_sides(planning& all);

/// Checks that an initiator with limited reach, a BAR, reaches all that is bound to it alone.
void check_reach(planning& all);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/netlist/plan.h"

namespace trn {

/// One row of a router's map: what an initiator finds at [base, base + size).
struct map_row {
    plan::range window;                 ///< target_base is the address at `target`
    plan::endpoint target;              ///< where the access ends
    std::vector<config::node> through;  ///< the bind line of each hop, outermost first
};

/// The ranges a router itself decodes, ascending.
std::vector<map_row> address_map(const plan& board, std::uint32_t router);

/// The same with every router behind it written out, through links that pass addresses unchanged,
/// so that each row ends at a block. A window onto a router that is already being written out (a
/// loop of routers) is left out: what is there is in the map already, or nowhere.
std::vector<map_row> flattened_map(const plan& board, std::uint32_t router);

/// Indices of the modules that decode addresses.
std::vector<std::uint32_t> routers(const plan& board);

}  // namespace trn

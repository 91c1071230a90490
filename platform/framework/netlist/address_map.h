// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "platform/framework/netlist/plan.h"

namespace trn {

/// One row of a router's map: what an initiator finds at [base, base + size).
struct map_row {
    plan::range window;                 ///< target_base is the address at `target`
    plan::endpoint target;              ///< where the access ends
    std::vector<config::node> through;  ///< the bind line of each hop, outermost first
};

/// The maps of a plan's routers. The plan must outlive it.
class address_maps {
public:
    explicit address_maps(const plan& board);

    /// Indices of the modules that decode addresses.
    std::vector<std::uint32_t> routers() const;
    /// The ranges a router itself decodes, ascending.
    std::vector<map_row> own(std::uint32_t router) const;
    /// The same with every router behind it written out, through links that pass addresses
    /// unchanged, so that each row ends at a block. A window onto a router that is already being
    /// written out (a loop of routers) is left out: what is there is in the map already, or
    /// nowhere.
    std::vector<map_row> flattened(std::uint32_t router) const;

private:
    friend class flattener;
    using port_of = std::pair<std::uint32_t, std::size_t>;  // module, port

    const plan& board_;
    std::map<std::uint32_t, std::vector<const plan::binding*>> windows_;  // by router
    std::map<port_of, plan::endpoint> behind_;  // what an initiator without ranges leads to
};

}  // namespace trn

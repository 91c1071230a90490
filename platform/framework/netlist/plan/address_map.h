// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// One row of a router's map: the target of accesses to [base, base + size).
struct map_row {
    plan::range window;                 ///< target_base is the address at `target`
    plan::endpoint target;              ///< endpoint of the access
    std::vector<config::node> through;  ///< the bind line of each hop, outermost first
};

/// The address maps of a plan's routers. The plan must outlive this object.
class address_maps {
public:
    static constexpr std::size_t max_rows = 100'000;  ///< of a flattened map; others are left out

    explicit address_maps(const plan& board);

    /// Indices of the modules that decode addresses.
    std::vector<std::uint32_t> routers() const;
    /// The ranges a router itself decodes, ascending.
    std::vector<map_row> own(std::uint32_t router) const;
    /// Like own(), but with nested routers written out, through links that forward addresses
    /// unchanged, so that each row ends at a block. A window to a router that is already being
    /// written out (a loop of routers) is left out: its targets are already in the map, or
    /// unreachable.
    std::vector<map_row> flattened(std::uint32_t router) const;

private:
    friend class flattener;
    using port_of = std::pair<std::uint32_t, std::size_t>;  // module, port

    const plan& board_;
    std::map<std::uint32_t, std::vector<const plan::binding*>> windows_;  // by router
    std::map<port_of, plan::endpoint> leads_to_;  // targets of initiators without ranges
};

}  // namespace trn

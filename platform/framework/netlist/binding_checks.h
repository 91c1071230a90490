// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "platform/framework/netlist/planning.h"

/// What may be bound to what. Mistakes are reported to the planning.
namespace trn {

/// '<->' joins two plugs, everything else has a direction. No `to`: nothing is bound.
bool arrow_fits(planning& all, const plan::endpoint& from, const std::optional<plan::endpoint>& to,
                bool both_ways, const config::node& where);
bool directions_fit(planning& all, const plan::endpoint& from, const plan::endpoint& to,
                    const config::node& where);
bool window_fits(planning& all, const plan::endpoint& from, const plan::endpoint& to,
                 const std::optional<plan::range>& window, const config::node& where);

// Of all bindings together.
void check_overlaps(planning& all);
/// Both ends of a wire have as many lanes, and a device has lanes for all of its links.
void check_lanes(planning& all);

}  // namespace trn

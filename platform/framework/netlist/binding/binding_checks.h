// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "platform/framework/netlist/document/planning.h"

/// Checks of bindings. Errors are reported to the planning object.
namespace trn {

/// Checks that '<->' joins two plugs and other arrows have a valid direction. No `target`: unbound.
bool arrow_fits(planning& all, const plan::endpoint& source,
                const std::optional<plan::endpoint>& target, bool both_ways,
                const config::node& node);
bool directions_fit(planning& all, const plan::endpoint& source, const plan::endpoint& target,
                    const config::node& node);
bool window_fits(planning& all, const plan::endpoint& source, const plan::endpoint& target,
                 const std::optional<plan::range>& window, const config::node& node);

// Checks over all bindings.
void check_overlaps(planning& all);
/// Checks that both ends of a wire have the same lanes, and that devices have lanes for all links.
void check_lanes(planning& all);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

namespace trn {

/// Binds an initiator socket to a target socket, an interrupt output to input line `line`, or joins
/// two plugs. False: these are not two such ends.
bool join_ends(sc_core::sc_object& source, sc_core::sc_object& target, unsigned line = 0);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/trnvp_guest/options.h"

namespace trn {

/// Builds the board and runs its guests until they end. Returns the exit status: that of the first
/// guest with a status other than 0, 128 + the number of a signal, else 1 for violations of rules
/// and lost records. \throws user_error, tools_missing
int run_guests(const guest_options& chosen);

}  // namespace trn

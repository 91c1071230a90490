// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/wave_options.h"
#include "platform/framework/command_line/options.h"

namespace trn {

/// Adds --vcd and the options that begin with it.
void add_wave_options(cli::command& command, wave_options& waves);
/// Checks them as far as this is possible without a board. \throws user_error
void check_waves(const wave_options& waves);

}  // namespace trn

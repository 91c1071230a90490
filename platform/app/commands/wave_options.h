// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "platform/app/moment.h"
#include "platform/app/wave_options.h"
#include "platform/framework/command_line/options.h"

namespace trn {

/// Adds --vcd and the options that begin with it.
void add_wave_options(cli::command& command, wave_options& waves);
/// The moment that an option names. \throws user_error
moment moment_option(std::string_view option, const std::string& text,
                     std::string_view others = {});
/// Checks them as far as this is possible without a board. \throws user_error
void check_waves(const wave_options& waves);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp guest`: runs a Linux guest in QEMU with a board's functions until the guest ends. Exit
/// status: that of the guest, 2 for an error on the command line, 77 when this machine has no
/// suitable QEMU.
void add_guest(cli::command* c, int& status);

}  // namespace trn

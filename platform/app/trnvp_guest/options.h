// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/commands/board_options.h"
#include "platform/app/guest/machine.h"
#include "platform/app/hart_option.h"
#include "platform/app/trnvp_guest/choice.h"

namespace trn {

/// Options of `trnvp guest`.
struct guest_options {
    board_options board;
    guest_choice choice;
    const guest_architecture* architecture = &guest_architectures().front();
    bool flat = false;  ///< functions are on the root bus, without bridges
    std::filesystem::path listen;
    std::filesystem::path qemu, kernel, initrd;
    std::string gdb, product, append, uart;
    hart_choice hart;
    std::vector<std::string> modules;
    std::vector<std::string> programs;
    std::uint64_t memory_mib = 0;
    /// 0: two for a single guest, so that a driver may spin; one for each of several
    unsigned cpus = 0;
    unsigned nodes = 1;
    guest_machine::clock clock = guest_machine::clock::host;
    std::vector<std::string> extra;
};

}  // namespace trn

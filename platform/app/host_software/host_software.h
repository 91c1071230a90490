// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace trn {

/// The software of a host inside the simulation (doc/host-inside.md): Linux of Debian for riscv64,
/// which platform/app/guest/get_riscv64.sh fetches.
struct host_software {
    /// Folder with the kernel, modules and programs: riscv64 in that of guest_tools.
    static std::filesystem::path folder();
    /// Makes the initramfs, in the user's cache: busybox, the kernel's modules, and the agent that
    /// serves steps of scenarios. \throws tools_missing, file_error
    static std::filesystem::path make_initramfs();
};

/// The parameters of a board name software that a host inside cannot run.
struct unfit_software : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// For a board with `host=linux`: adds OpenSBI, the kernel and the initramfs to the parameters,
/// unless they name software. \throws tools_missing, file_error, unfit_software
void add_host_software(std::vector<std::string>& set);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/app/guest/pci_tree.h"

namespace trn {

/// A tool or file that guests need is missing on this machine.
struct tools_missing : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The folder that platform/app/guest/get_tools.sh fills.
struct guest_tools {
    /// $TRNVP_GUEST_TOOLS, else trnvp/guest in the user's cache.
    static std::filesystem::path folder();
    /// "qemu-system-x86_64", "vmlinuz", "busybox". \throws tools_missing, with the reason
    static std::filesystem::path find(const std::string& name);
};

/// A QEMU with vfio-user devices, as a command line. doc/attach.md explains the options.
struct guest_machine {
    std::filesystem::path qemu, kernel, initrd;
    std::string append;  ///< kernel command line
    std::uint64_t memory_mib = 0;
    unsigned cpus = 1;
    /// NUMA nodes, at most max_nodes, with equal parts of the processors and the root ports; all
    /// memory is on the first.
    unsigned nodes = 1;
    std::string product = {};      ///< SMBIOS type 1, as on an instance of that type; "" = QEMU's
    std::string instance_id = {};  ///< SMBIOS board asset tag, beside a product; "" = none
    bool interactive = false;      ///< the console is a terminal
    std::vector<guest_function> functions;  ///< in bus order
    std::filesystem::path monitor = {};     ///< QMP socket that QEMU opens; empty: none
    std::vector<std::string> extra;         ///< more arguments of QEMU's
    /// Source of the guest's clocks: the host's time, or the guest's instructions, which stop while
    /// an access waits. A sleeping guest follows the host's time in both cases.
    enum class clock { host, instructions };
    clock runs_by = clock::host;

    std::vector<std::string> command() const;
    /// Kernel parameters of the clocks, which it cannot measure on a busy machine.
    std::string clock_arguments() const;

    /// The status that a guest ended QEMU with, through the debug exit device; nothing when it was
    /// powered off or QEMU itself failed.
    static std::optional<int> guest_status(int qemu_status);
    /// Where an initramfs writes its status plus one to the device, as a byte; at most 126.
    static constexpr unsigned exit_port = 0xf4;
};

/// For a shell: quoted where needed.
std::string shell_text(const std::vector<std::string>& command);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/app/guest/architecture.h"
#include "platform/app/guest/pci_tree.h"

namespace trn {

/// A tool or file that guests need is missing on this machine.
struct tools_missing : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The folder with the files that platform/app/guest/get_tools.sh and get_aarch64.sh fetch.
struct guest_tools {
    /// $TRNVP_GUEST_TOOLS, else trnvp/guest in the user's cache folder.
    static std::filesystem::path folder();
    /// `name`: "vmlinuz", "busybox" or another file of the architecture's folder. \throws
    /// tools_missing, with the reason
    static std::filesystem::path find(
        const std::string& name,
        const guest_architecture& architecture = guest_architectures().front());
};

/// Makes the command line of a QEMU with vfio-user devices. doc/attach.md explains the options.
struct guest_machine {
    const guest_architecture* architecture = &guest_architectures().front();
    std::filesystem::path qemu, kernel, initrd;
    std::filesystem::path firmware = {};  ///< empty: QEMU's own
    std::string append;                   ///< kernel command line
    std::uint64_t memory_mib = 0;
    unsigned cpus = 1;
    /// Number of NUMA nodes, at most max_nodes. Processors and root ports are divided equally; all
    /// memory is on the first node.
    unsigned nodes = 1;
    /// qboot instead of SeaBIOS, for one node: leaves BARs and SERR# Enable to the guest
    /// (doc/decisions/0030-the-kernel-of-a-guest-places-bars.md).
    bool minimal_firmware = false;
    std::string product = {};      ///< SMBIOS product name, as on an EC2 instance type; "": QEMU's
    std::string instance_id = {};  ///< SMBIOS board asset tag, used with a product; "": none
    bool interactive = false;      ///< the console is a terminal
    std::vector<guest_function> functions;  ///< in bus order
    std::filesystem::path monitor = {};     ///< QMP socket that QEMU opens; empty: none
    /// Output of the console with the status, where the architecture has one.
    std::filesystem::path status_file = {};
    std::vector<std::string> extra;  ///< more arguments for QEMU
    /// Source of the guest's clocks: the host's time, or the guest's instruction count, which stops
    /// while an access waits. In a sleeping guest, both follow the host's time.
    enum class clock { host, instructions };
    clock runs_by = clock::host;

    std::vector<std::string> command() const;
    /// Kernel parameters, each after a space, with the clock frequencies, which a kernel cannot
    /// measure on a busy machine.
    std::string clock_arguments() const;

    /// The guest's status, from QEMU's exit status with the debug exit device or from the file;
    /// nothing when the guest was powered off without one, or QEMU failed.
    std::optional<int> guest_status(int qemu_status) const;
};

/// A command line for a shell, quoted where needed.
std::string shell_text(const std::vector<std::string>& command);

}  // namespace trn

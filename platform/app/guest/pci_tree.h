// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trn {

/// A PCIe function of a guest: its socket, and its position on the board's buses.
struct guest_function {
    std::string name;  ///< name of the chip or card; QEMU's id of the device
    std::filesystem::path socket;
    std::uint16_t id = 0;  ///< bus << 8 | device << 3 | function
    /// Ids of the ports from the root port to the function: the root port, then an upstream and a
    /// downstream port per switch. Empty: the function is on the root bus.
    std::vector<std::uint16_t> bridges = {};
};

/// QEMU arguments for root ports, switches and functions. Ports precede the functions below them;
/// functions keep their order. With several NUMA nodes (at most max_nodes), each node has a root
/// bus with an equal share of the root ports, in order. \throws std::invalid_argument for more
/// functions or root ports than fit on a root bus
std::vector<std::string> pci_tree_arguments(const std::vector<guest_function>& functions,
                                            unsigned nodes = 1);

constexpr unsigned max_nodes = 4;

/// QEMU's id of a port of the board.
std::string port_name(std::uint16_t id);

}  // namespace trn

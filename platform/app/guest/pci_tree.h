// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trn {

/// A function of the board in a guest: its socket, and its place on the board's buses.
struct guest_function {
    std::string name;  ///< of the chip or card; QEMU's id for it
    std::filesystem::path socket;
    std::uint16_t id = 0;  ///< bus << 8 | device << 3 | function
    /// Ids of the ports above: root port, then an upstream and a downstream port for each switch.
    /// Empty: the function is on the root bus.
    std::vector<std::uint16_t> bridges = {};
};

/// Arguments of QEMU that build root ports, switches and functions. Ports come before the
/// functions below them; functions are in the order given. With several NUMA nodes, at most
/// max_nodes, each has a root bus of its own, and equal parts of the root ports in their order.
/// \throws std::invalid_argument for more functions or root ports than a root bus has places
std::vector<std::string> pci_tree_arguments(const std::vector<guest_function>& functions,
                                            unsigned nodes = 1);

constexpr unsigned max_nodes = 4;

/// QEMU's id of a port of the board.
std::string port_name(std::uint16_t id);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/pci_tree.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace trn {

namespace {

/// Long, since a debugger may stop the platform while the guest waits for a register.
constexpr unsigned message_timeout_ms = 600'000;

/// Devices 1 to 30 of the root bus are free: q35 has its memory controller at 0 and its south
/// bridge at 31.
constexpr unsigned root_devices = 30;

/// Escapes a string for QEMU's JSON.
std::string json_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

/// Without a power controller a guest cannot switch a slot off: QEMU would remove the function, and
/// abort (doc/guide-instance.md).
constexpr std::string_view no_power = ",power_controller_present=off";

/// Writes each port once, and remembers the id of the bus below it.
class tree_writer {
public:
    tree_writer(unsigned nodes, std::size_t root_ports) : nodes_(nodes), root_ports_(root_ports) {
        constexpr unsigned buses = 256;  // bus numbers, shared by the root buses of all nodes
        for (unsigned n = 0; nodes > 1 && n < nodes; ++n) {
            device(fmt::format("pxb-pcie,id=node{},bus=pcie.0,bus_nr={},numa_node={}", n,
                               buses / (nodes + 1) * (n + 1), n));
            ++on_root_;
        }
    }
    void add(const guest_function& function) {
        std::string bus;
        for (std::size_t level = 0; level < function.bridges.size(); ++level)
            bus = port(function.bridges, level, bus);
        std::string place;
        if (!bus.empty()) place = fmt::format(R"("bus":"{}",)", bus);
        device(fmt::format(R"({{"driver":"vfio-user-pci","id":"{}",{}"x-msg-timeout":{},)"
                           R"("socket":{{"path":"{}","type":"unix"}}}})",
                           json_text(function.name), place, message_timeout_ms,
                           json_text(function.socket.string())));
        if (bus.empty()) ++on_root_;
        if (on_root_ + roots_ > root_devices)
            throw std::invalid_argument(fmt::format(
                "a guest's root bus has room for {} functions and root ports", root_devices));
    }
    std::vector<std::string> arguments() { return std::move(arguments_); }

private:
    void device(std::string description) {
        arguments_.emplace_back("-device");
        arguments_.push_back(std::move(description));
    }
    /// Returns the id of the bus below a port. `above`: the bus of the port itself.
    std::string port(const std::vector<std::uint16_t>& bridges, std::size_t level,
                     const std::string& above) {
        const unsigned id = bridges[level];
        const auto name = port_name(bridges[level]);
        if (!known_.emplace(id, name).second) return name;
        const unsigned slot = static_cast<unsigned>(known_.size());
        if (level == 0) {
            const auto node =
                nodes_ == 1 ? "" : fmt::format(",bus=node{}", roots_ * nodes_ / root_ports_);
            device(fmt::format("pcie-root-port,id={},chassis=0,slot={}{}{}", name, slot, no_power,
                               node));
            ++roots_;
        } else if (level % 2 == 1) {
            device(fmt::format("x3130-upstream,id={},bus={}", name, above));
        } else {
            device(fmt::format(
                "xio3130-downstream,id={},bus={},addr={:#x}.{},chassis=0,slot={}{}{}", name, above,
                id >> 3 & 0x1f, id & 7, slot, no_power, (id & 7) != 0 ? ",multifunction=on" : ""));
        }
        return name;
    }

    const unsigned nodes_;
    const std::size_t root_ports_;  // number of root ports of all functions
    std::vector<std::string> arguments_;
    // QEMU ids of ports, by their bus, device and function on the board
    std::map<unsigned, std::string> known_;
    unsigned on_root_ = 0, roots_ = 0;
};

}  // namespace

std::string port_name(std::uint16_t id) {
    return fmt::format("port{:02x}.{:02x}.{}", id >> 8, id >> 3 & 0x1f, id & 7);
}

std::vector<std::string> pci_tree_arguments(const std::vector<guest_function>& functions,
                                            unsigned nodes) {
    std::set<std::uint16_t> root_ports;
    for (const auto& function : functions)
        if (!function.bridges.empty()) root_ports.insert(function.bridges.front());
    tree_writer tree(nodes, root_ports.size());
    for (const auto& function : functions) tree.add(function);
    return tree.arguments();
}

}  // namespace trn

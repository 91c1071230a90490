// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

/// What differs between the architectures of guests. architecture.cpp has a row of each.
struct guest_architecture {
    std::string_view name;        ///< as `uname -m` prints it
    std::string_view tools;       ///< folder in guest_tools::folder(); "": that folder
    std::string_view program;     ///< trn-guest of this architecture
    std::uint16_t elf_machine;    ///< EM_... of programs and kernel modules
    std::size_t kernel_magic_at;  ///< in a kernel image
    std::string_view kernel_magic;
    std::string_view machine, cpu;      ///< of QEMU; "": no guest of it
    std::string_view firmware;          ///< file of the tools; "": QEMU's own
    std::string_view minimal_firmware;  ///< see guest_machine::minimal_firmware; "": none
    std::string_view kernel_parameters;
    /// Where trn-guest leaves the status: I/O port of QEMU's debug exit device, or a console, whose
    /// output becomes guest_machine::status_file.
    std::string_view status_place;
    bool nodes_have_buses;  ///< each NUMA node has a root bus; else all functions are on one
    bool measures_clock;    ///< the kernel measures the rate of its clock, unless it is told
    std::vector<std::string_view> arguments;  ///< more of QEMU

    bool has_status_file() const { return status_place.starts_with('/'); }
    std::string qemu() const { return "qemu-system-" + std::string(name); }
};

/// All; the first is the default.
const std::vector<guest_architecture>& guest_architectures();

/// The architecture of that name. \throws std::invalid_argument
const guest_architecture& architecture(std::string_view name);

/// Describes why a kernel image, a program or a module cannot be of `wanted`; "": it can. Only
/// files of another architecture are recognized. `machine`: the noun for what it is for.
std::string other_architecture(const std::filesystem::path& file, const guest_architecture& wanted,
                               std::string_view machine = "guest");

}  // namespace trn

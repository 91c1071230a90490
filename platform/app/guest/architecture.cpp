// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/architecture.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace trn {

const std::vector<guest_architecture>& guest_architectures() {
    // 46 address bits hold sixteen BAR4 of 256 GiB. The root ports' own hot plug instead of ACPI's:
    // only then their links count as active, and a guest can recover from fatal errors.
    static const std::vector<guest_architecture> all{
        {.name = "x86_64",
         .tools = "",
         .program = "trn-guest",
         .elf_machine = EM_X86_64,
         .kernel_magic_at = 0x202,  // Documentation/arch/x86/boot.rst
         .kernel_magic = "HdrS",
         .machine = "q35,accel=tcg",
         .cpu = "max,phys-bits=46",
         .firmware = "",
         .minimal_firmware = "qboot.rom",
         .kernel_parameters = "console=ttyS0",
         .status_place = "0xf4",
         .nodes_have_buses = true,
         .measures_clock = true,
         .arguments = {"-device", "isa-debug-exit,iobase=0xf4,iosize=0x1", "-global",
                       "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"}},
        // The core of Graviton2: newer ones take twice the time under TCG. EDK2 provides SMBIOS and
        // ACPI; it writes to the first console, and clears it like a terminal. Memory for coherent
        // DMA does not fit the kernel's reserve of 64 MiB, which it would search in vain and say
        // so.
        {.name = "aarch64",
         .tools = "aarch64",
         .program = "trn-guest-aarch64",
         .elf_machine = EM_AARCH64,
         .kernel_magic_at = 0x38,  // Documentation/arch/arm64/booting.rst
         .kernel_magic = "ARM\x64",
         .machine = "virt,gic-version=3,its=on,highmem-mmio-size=32T,accel=tcg",
         .cpu = "neoverse-n1",
         .firmware = "QEMU_EFI.fd",
         .minimal_firmware = "",
         .kernel_parameters = "console=ttyAMA1 cma=0",
         .status_place = "/dev/ttyAMA0",
         .nodes_have_buses = false,  // the kernel has no room in the windows that EDK2 leaves them
         .measures_clock = false,
         .arguments = {}},
        // The harts of a host inside the simulation.
        {.name = "riscv64",
         .tools = "riscv64",
         .program = "trn-guest-riscv64",
         .elf_machine = EM_RISCV,
         .kernel_magic_at = 0x38,  // Documentation/arch/riscv/boot-image-header.rst
         .kernel_magic = "RSC\x05",
         .machine = "",
         .cpu = "",
         .firmware = "fw_dynamic.bin",
         .minimal_firmware = "",
         .kernel_parameters = "",
         .status_place = "/dev/console",
         .nodes_have_buses = false,
         .measures_clock = false,
         .arguments = {}},
    };
    return all;
}

const guest_architecture& architecture(std::string_view name) {
    const auto& all = guest_architectures();
    const auto found = std::ranges::find(all, name, &guest_architecture::name);
    if (found == all.end()) throw std::invalid_argument(fmt::format("no architecture '{}'", name));
    return *found;
}

std::string other_architecture(const std::filesystem::path& file, const guest_architecture& wanted,
                               std::string_view machine) {
    std::array<char, 0x206> begin{};
    std::ifstream(file, std::ios::binary).read(begin.data(), begin.size());
    const std::string_view bytes(begin.data(), begin.size());
    const auto text = [&](std::string_view found) {
        return fmt::format("{} is for {}, and the {} is {}", file.string(), found, machine,
                           wanted.name);
    };
    Elf64_Ehdr head;
    std::memcpy(&head, bytes.data(), sizeof head);
    const bool is_elf = bytes.starts_with(ELFMAG);
    if (is_elf && head.e_machine == wanted.elf_machine) return {};
    for (const auto& each : guest_architectures())
        if (each.name != wanted.name &&
            (is_elf ? head.e_machine == each.elf_machine
                    : bytes.substr(each.kernel_magic_at).starts_with(each.kernel_magic)))
            return text(each.name);
    return is_elf ? text(fmt::format("another machine (ELF machine {})", head.e_machine)) : "";
}

}  // namespace trn

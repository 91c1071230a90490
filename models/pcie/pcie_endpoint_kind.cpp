// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/pcie/pcie_endpoint.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind pcie_endpoint_kind() {
    using c = pcie_endpoint::config;
    return kind_of<pcie_endpoint>(
        "pcie_endpoint", "The PCI Express function of a chip.",
        {{"vendor_id", &c::vendor_id, unit::address, "configuration space"},
         {"device_id", &c::device_id, unit::address, "configuration space"},
         {"revision", &c::revision, "255 simulator, 240 emulator, else silicon"},
         {"class_code", &c::class_code, unit::address, "configuration space"},
         {"subsystem_vendor_id", &c::subsystem_vendor_id, unit::address, "configuration space"},
         {"subsystem_id", &c::subsystem_id, unit::address, "configuration space"},
         {"bar0_size", &c::bar0_size, unit::bytes, "of the register BAR; a power of two"},
         {"register_bar", &c::register_bar, "0, or 2 and then the MSI-X table is in BAR0"},
         {"bar4_size", &c::bar4_size, unit::bytes, "a power of two, or 0: none"},
         {"memory_bar", &c::memory_bar,
          "of the memory at port bar4: 4, or 2 and then MSI-X is in 4"},
         {"link_generation", &c::link_generation, "1 to 6: 2.5 to 64 GT/s"},
         {"link_width", &c::link_width, "lanes"},
         {"msix_vectors", &c::msix_vectors, "interrupt messages"},
         {"serial_number", &c::serial_number, unit::address, "device serial number capability"},
         {"boot_words", &c::boot_words, unit::address,
          "BAR0 offset of the 4 KiB that a host may read while firmware boots"},
         {"request_latency", &c::request_latency, "of each host request"},
         {"completion_timeout", &c::completion_timeout, "of a read without completion"}},
        {port::plug("link", "TLPs to and from the host").with_lanes(&c::link_width),
         port::target("dma", "the chip's accesses to host memory, by host address"),
         port::initiator("bar0", "offsets in the register BAR"),
         port::initiator("bar4", "offsets in BAR4").optional(),

         port::irq_in("msix", "a rising line raises the vector of the same number")
             .of_lines(&c::msix_vectors),
         port::irq_in("booting", "high until the chip's firmware is ready"),
         port::irq_in("power_lost", "high: the chip has no power"),
         port::irq_out("function_reset", "pulses when the host resets the function").optional(),
         port::irq_out("no_power", "high while the function has no power").optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.register_bar != 0 && cfg.register_bar != 2)
                return "the registers are in BAR0 or in BAR2";
            if (cfg.memory_bar != 4 && (cfg.memory_bar != 2 || cfg.register_bar == 2))
                return "the memory is in BAR4, or in BAR2 if the registers are in BAR0";
            if (std::has_single_bit(cfg.bar0_size) &&
                (cfg.bar4_size == 0 || std::has_single_bit(cfg.bar4_size)) &&
                cfg.msix_vectors <= 256)
                return std::nullopt;
            return "BAR sizes are powers of two, and there are at most 256 MSI-X vectors";
        });
}

}  // namespace trn::kind_tables

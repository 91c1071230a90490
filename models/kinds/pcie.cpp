// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "models/kinds/tables.h"
#include "models/pcie/pcie_endpoint.h"
#include "models/pcie/pcie_root_port.h"
#include "platform/netlist/kind_table.h"

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
         {"bar4_size", &c::bar4_size, unit::bytes, "a power of two"},
         {"link_generation", &c::link_generation, "1 to 6: 2.5 to 64 GT/s"},
         {"link_width", &c::link_width, "lanes"},
         {"msix_vectors", &c::msix_vectors, "interrupt messages"},
         {"serial_number", &c::serial_number, unit::address, "device serial number capability"},
         {"boot_words", &c::boot_words, unit::address,
          "BAR0 offset of the 4 KiB that a host may read while firmware boots"},
         {"request_latency", &c::request_latency, "of each host request"}},
        {port::target("up", "TLPs from the link"),
         port::target("dma", "the chip's accesses to host memory, by host address"),
         port::initiator("bar0", "offsets in the register BAR"),
         port::initiator("bar4", "offsets in BAR4"), port::initiator("up_dma", "TLPs to the link"),
         port::irq_in("msix", "a rising line raises the vector of the same number")
             .of_lines(&c::msix_vectors),
         port::irq_in("booting", "high until the chip's firmware is ready"),
         port::irq_out("function_reset", "pulses when the host resets the function").optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.register_bar != 0 && cfg.register_bar != 2)
                return "the registers are in BAR0 or in BAR2";
            if (std::has_single_bit(cfg.bar0_size) && std::has_single_bit(cfg.bar4_size) &&
                cfg.msix_vectors <= 256)
                return std::nullopt;
            return "BAR sizes are powers of two, and there are at most 256 MSI-X vectors";
        });
}

kind pcie_root_port_kind() {
    using c = pcie_root_port::config;
    return kind_of<pcie_root_port>(
        "pcie_root_port",
        "The host's side of one function: enumerates it, carries accesses and DMA.",
        {{"window_base", &c::window_base, unit::address, "bus address of the first BAR"},
         {"requester", &c::requester, unit::address, "requester id of the host"},
         {"function", &c::function, unit::address, "the function's bus, device and function"},
         {"memory_latency", &c::memory_latency, "of a read of host memory"}},
        {port::initiator("down", "TLPs to the function"),
         port::target("dma", "TLPs from the function")});
}

}  // namespace trn::kind_tables

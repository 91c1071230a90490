// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/pcie/pcie/pcie_endpoint.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

namespace {

/// Up to half of the bus: a function's BARs have addresses from window_base of the host on.
constexpr auto bar_size = within(4 * KiB, 32 * TiB).powers_of_two();

}  // namespace

kind pcie_endpoint_kind() {
    using c = pcie_endpoint::config;
    auto made = kind_of<pcie_endpoint>(
        "pcie_endpoint", "The PCI Express function of a chip.",
        {{"vendor_id", &c::vendor_id, unit::address, bits(16), "configuration space"},
         {"device_id", &c::device_id, unit::address, bits(16), "configuration space"},
         {"revision", &c::revision, within(0, 255), "255 simulator, 240 emulator, else silicon"},
         {"class_code", &c::class_code, unit::address, bits(24), "configuration space"},
         {"subsystem_vendor_id", &c::subsystem_vendor_id, unit::address, bits(16),
          "configuration space"},
         {"subsystem_id", &c::subsystem_id, unit::address, bits(16), "configuration space"},
         {"bar0_size", &c::bar0_size, unit::bytes, bar_size, "of the register BAR"},
         {"bar0_prefetchable", &c::bar0_prefetchable,
          "has the bit; behind bridges, Linux finds room above 4 GiB only then"},
         {"register_bar", &c::register_bar, one_of(0, 2),
          "0, or 2 and then the MSI-X table is in BAR0"},
         {"bar4_size", &c::bar4_size, unit::bytes, bar_size.or_zero(),
          "of the memory BAR; 0: none"},
         {"memory_bar", &c::memory_bar, one_of(2, 4),
          "of the memory at port bar4: 4, or 2 and then MSI-X is in 4"},
         {"link_generation", &c::link_generation, within(1, 6), "2.5 to 64 GT/s"},
         {"link_width", &c::link_width, within(1, 16).powers_of_two(), "lanes"},
         {"msix_vectors", &c::msix_vectors, within(1, 256), "interrupt messages"},
         {"serial_number", &c::serial_number, unit::address, any_number,
          "device serial number capability"},
         {"boot_words", &c::boot_words, unit::address, within(0, PiB).multiples_of(4 * KiB),
          "BAR0 offset of the 4 KiB that a host may read while firmware boots"},
         {"request_latency", &c::request_latency, any_time, "of each host request"},
         {"completion_timeout", &c::completion_timeout, any_time, "of a read without completion"}},
        {port::plug("link", "TLPs to and from the host")
             .with_lanes(&c::link_width)
             .facing(port_side::upstream),
         port::target("dma", "the chip's accesses to host memory, by host address"),
         port::initiator("bar0", "offsets in the register BAR").reaching(&c::bar0_size),
         port::initiator("bar4", "offsets in BAR4").reaching(&c::bar4_size).optional(),

         port::irq_in("msix", "a rising line raises the vector of the same number")
             .of_lines(&c::msix_vectors),
         port::irq_in("booting", "high until the chip's firmware is ready"),
         port::irq_in("power_lost", "high: the chip has no power"),
         port::irq_out("function_reset", "pulses when the host resets the function").optional(),
         port::irq_out("no_power", "high while the function has no power").optional(),
         port::irq_out("no_slot_power", "high while the slot has no power, or no card").optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.memory_bar != cfg.register_bar) return std::nullopt;
            return "registers (register_bar) and memory (memory_bar) have BARs of their own";
        });
    made.statistics = {{"host_requests", "", "memory requests from the host"},
                       {"unsupported_requests", "", "outside of all BARs"},
                       {"failed_reads", "", "refused by the chip, answered with 0"},
                       {"dropped_writes", "", "refused by the chip"},
                       {"refused_dma", "", "accesses of the chip while it was no bus master"},
                       {"interrupts", "", "MSI-X messages"},
                       {"lost_interrupts", "", "dropped by a fault"},
                       {"completion_timeouts", "", "reads of the chip without an answer"},
                       {"error_messages", "", "sent to the root port"},
                       {"dma_bytes_read", "bytes", "of host memory"},
                       {"dma_bytes_written", "bytes", "to host memory"}};
    made.events = {{"read", "bytes", "bytes of an operation, while they occupy it"},
                   {"write", "bytes", "likewise"},
                   {"interrupt", "data", "an MSI-X message"}};
    return made;
}

}  // namespace trn::kind_tables

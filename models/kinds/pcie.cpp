// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <string>

#include "models/kinds/tables.h"
#include "models/pcie/pcie_endpoint.h"
#include "models/pcie_switch/pcie_switch.h"
#include "models/root_complex/root_complex.h"
#include "platform/netlist/kind_table.h"

template <>
struct trn::config::choices<trn::host_processor> {
    static constexpr std::array list{
        trn::config::choice<trn::host_processor>{"graviton", trn::host_processor::graviton},
        trn::config::choice<trn::host_processor>{"xeon", trn::host_processor::xeon}};
};

template <>
struct trn::config::choices<trn::pcie_switch_size> {
    static constexpr std::array list{
        trn::config::choice<trn::pcie_switch_size>{"lanes160", trn::pcie_switch_size::lanes160},
        trn::config::choice<trn::pcie_switch_size>{"lanes320", trn::pcie_switch_size::lanes320}};
};

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
         {"link_generation", &c::link_generation, "1 to 6: 2.5 to 64 GT/s"},
         {"link_width", &c::link_width, "lanes"},
         {"msix_vectors", &c::msix_vectors, "interrupt messages"},
         {"serial_number", &c::serial_number, unit::address, "device serial number capability"},
         {"boot_words", &c::boot_words, unit::address,
          "BAR0 offset of the 4 KiB that a host may read while firmware boots"},
         {"request_latency", &c::request_latency, "of each host request"},
         {"completion_timeout", &c::completion_timeout, "of a read that nobody answers"}},
        {port::plug("link", "TLPs to and from the host").with_lanes(&c::link_width),
         port::target("dma", "the chip's accesses to host memory, by host address"),
         port::initiator("bar0", "offsets in the register BAR"),
         port::initiator("bar4", "offsets in BAR4").optional(),

         port::irq_in("msix", "a rising line raises the vector of the same number")
             .of_lines(&c::msix_vectors),
         port::irq_in("booting", "high until the chip's firmware is ready"),
         port::irq_in("power_lost", "high: the chip has no power"),
         port::irq_out("function_reset", "pulses when the host resets the function").optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.register_bar != 0 && cfg.register_bar != 2)
                return "the registers are in BAR0 or in BAR2";
            if (std::has_single_bit(cfg.bar0_size) &&
                (cfg.bar4_size == 0 || std::has_single_bit(cfg.bar4_size)) &&
                cfg.msix_vectors <= 256)
                return std::nullopt;
            return "BAR sizes are powers of two, and there are at most 256 MSI-X vectors";
        });
}

kind root_complex_kind() {
    using c = root_complex::config;
    return kind_of<root_complex>(
        "root_complex",
        "The host of one server: its memory, its root ports, and what finds the functions.",
        {{"processor", &c::processor, "graviton or xeon"},
         {"cores", &c::cores, "of the processor: what a guest of the server can have"},
         {"memory", &c::memory, unit::bytes, "of the server; costs host memory when touched"},
         {"ports", &c::ports, "root ports: links to chips, cards and switches"},
         {"link_generation", &c::link_generation, "of each link, 1 to 6: 2.5 to 64 GT/s"},
         {"link_width", &c::link_width, "lanes of each link"},
         {"window_base", &c::window_base, unit::address, "bus address of the first BAR"},
         {"peer_to_peer", &c::peer_to_peer, "requests from one function to another pass"},
         {"memory_latency", &c::memory_latency, "of a read of host memory"},
         {"peer_latency", &c::peer_latency, "of a request from one port to another"},
         {"completion_timeout", &c::completion_timeout, "of a request that nobody answers"}},
        {port::plug("port", "a link to a chip, a card or a switch")
             .times(&c::ports)
             .with_lanes(&c::link_width)
             .optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.ports == 0 || cfg.ports > root_complex::most_ports)
                return "a root complex has 1 to 32 ports";
            if (cfg.link_generation < 1 || cfg.link_generation > 6) return "generations are 1 to 6";
            if (cfg.memory == 0) return "a server has memory";
            return std::nullopt;
        });
}

kind pcie_switch_kind() {
    using c = pcie_switch::config;
    return kind_of<pcie_switch>(
        "pcie_switch", "A PCI Express switch: one port up, the others down.",
        {{"size", &c::size, "lanes160: 20 ports of 8 lanes; lanes320: 40"},
         {"generation", &c::generation, "of every port, 1 to 6: 2.5 to 64 GT/s"},
         {"up_lanes", &c::up_lanes, "of the upstream port, a multiple of 8"},
         {"ports", &c::ports, "downstream ports in use, others are strapped off; 0: all"},
         {"latency", &c::latency, "once through"}},
        {port::plug("up", "toward the root complex").with_lanes(&c::up_lanes),
         port::plug("down", "toward chips, cards and switches")
             .times([](const c& cfg) -> std::uint64_t { return cfg.down_ports(); })
             .with_lanes(c::lanes_per_port)
             .optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.generation < 1 || cfg.generation > 6) return "generations are 1 to 6";
            if (cfg.up_lanes % 8 != 0 || cfg.up_lanes < 8 || cfg.up_lanes > 64)
                return "the upstream port has 8 to 64 lanes, a multiple of 8";
            if (cfg.ports > cfg.most_down_ports())
                return "the upstream port leaves " + std::to_string(cfg.most_down_ports()) +
                       " ports";
            return std::nullopt;
        });
}

}  // namespace trn::kind_tables

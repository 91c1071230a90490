// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trn {

/// A machine whose harts are equal, as its device tree describes it. Sizes in bytes.
struct machine_description {
    struct region {
        std::uint64_t base, size;
    };
    /// A device without a stock driver.
    struct device {
        std::string kind;  ///< node name; compatible is "trnvp," and this
        region window;
        std::vector<std::uint32_t> interrupts = {};  ///< sources at the PLIC
    };
    /// A root complex whose buses software enumerates; sizes 0: none. Windows of BARs have the
    /// addresses of the bus.
    struct root {
        region configuration;  ///< ECAM of 256 buses
        region narrow, wide;   ///< windows below and above 4 GiB
    };
    /// An ns16550a.
    struct serial {
        region window;
        std::uint32_t clock_hz = 0;        ///< input clock, before the divisor
        std::uint32_t baud = 0;            ///< at divisor 1
        std::uint32_t interrupt = 0;       ///< source
        std::uint32_t register_shift = 0;  ///< registers are 1 << shift bytes apart
    };
    /// IMSICs and the APLIC before them (AIA 1.0), in place of the PLIC: a page for each hart in
    /// `machine_files` and `supervisor_files`. Size 0: none.
    struct messages {
        region machine_files, supervisor_files;
        region machine_domain, supervisor_domain;  ///< of the APLIC
        std::uint32_t identities = 0;              ///< of a file
        std::uint32_t sources = 0;                 ///< of the APLIC
    };
    std::string model;
    region ram, aclint, plic, finisher;
    std::vector<serial> uarts = {};  ///< the first is the console
    std::vector<device> others = {};
    unsigned harts = 1;             ///< their ids are 0 to harts - 1
    std::string isa;                ///< "rv64imac_zicsr"
    std::uint32_t timebase_hz = 0;  ///< frequency of mtime
    std::uint32_t plic_sources = 0;
    bool has_sv48 = false;
    bool has_cache_blocks = false;  ///< Zicbom or Zicboz
    std::string bootargs = {};
    /// `rng-seed`, for the kernel's random numbers; empty: none.
    std::vector<std::uint32_t> random_seed = {};
    bool has_boot_tables = false;  ///< firmware/host writes EFI tables, and names them in the tree
    region exchange = {};  ///< memory beside the RAM, as the kernel's /dev/pmem0; size 0: none
    region initrd = {};    ///< size 0: none
    root pcie = {};
    messages msi = {};
};

/// Makes a flattened device tree (Devicetree Specification 0.4, version 17) of the machine. Nodes
/// and bindings are those of QEMU's machine "virt".
std::vector<std::uint8_t> make_device_tree(const machine_description& machine);

}  // namespace trn

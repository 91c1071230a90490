// SPDX-License-Identifier: Apache-2.0
#include "platform/app/device_tree/device_tree.h"

#include <fmt/format.h>
#include <libfdt.h>

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <tuple>
#include <utility>

namespace trn {

namespace {

enum handle : std::uint32_t {
    first_hart_handle = 1,
    plic_handle,
    finisher_handle,
    first_message_handle = 0x1000,  // behind those of harts
    machine_files_handle = first_message_handle,
    supervisor_files_handle,
    machine_domain_handle,
    supervisor_domain_handle,
};
// Interrupts of a hart, as riscv,cpu-intc numbers them: the bits of mip.
enum : std::uint32_t { msip = 3, mtip = 7, seip = 9, meip = 11 };
constexpr std::uint32_t cache_block = 64;  // bytes
// Values to write to SiFive's test finisher.
enum : std::uint32_t { finish_pass = 0x5555, finish_reset = 0x7777 };

/// Writes the structure block; a node ends at the end of its C++ scope.
class tree {
public:
    tree() {
        check(fdt_create(blob_.data(), static_cast<int>(blob_.size())));
        check(fdt_finish_reservemap(blob_.data()));
    }
    class node {
    public:
        node(tree& owner, const std::string& name) : tree_(owner) {
            tree_.write([&](void* blob) { return fdt_begin_node(blob, name.c_str()); });
        }
        ~node() { tree_.write(fdt_end_node); }
        node(const node&) = delete;
        node& operator=(const node&) = delete;

        void flag(const char* name) { property(name, nullptr, 0); }
        void text(const char* name, const std::string& value) {
            property(name, value.c_str(), value.size() + 1);
        }
        /// A list of strings, each with its terminating zero.
        void texts(const char* name, std::initializer_list<const char*> values) {
            std::string all;
            for (const char* value : values) all.append(value).push_back('\0');
            property(name, all.data(), all.size());
        }
        void cells(const char* name, std::span<const std::uint32_t> values) {
            std::vector<fdt32_t> all;
            for (const auto value : values) all.push_back(cpu_to_fdt32(value));
            property(name, all.data(), all.size() * sizeof all[0]);
        }
        void cells(const char* name, std::initializer_list<std::uint32_t> values) {
            cells(name, std::span(values.begin(), values.size()));
        }
        void number(const char* name, std::uint64_t value) {
            cells(name, {high(value), low(value)});
        }
        void reg(const machine_description::region& window) {
            cells("reg",
                  {high(window.base), low(window.base), high(window.size), low(window.size)});
        }

    private:
        void property(const char* name, const void* value, std::size_t size) {
            tree_.write([&](void* blob) {
                return fdt_property(blob, name, value, static_cast<int>(size));
            });
        }
        static std::uint32_t high(std::uint64_t value) {
            return static_cast<std::uint32_t>(value >> 32);
        }
        static std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
        tree& tree_;
    };

    std::vector<std::uint8_t> finish() {
        write(fdt_finish);
        blob_.resize(fdt_totalsize(blob_.data()));
        return std::move(blob_);
    }

private:
    static void check([[maybe_unused]] int result) { assert(result >= 0); }

    /// Calls a function that adds to the tree; if it has no room, again with twice the room.
    template <typename Function>
    void write(const Function& add) {
        int result = 0;
        while ((result = add(blob_.data())) == -FDT_ERR_NOSPACE) {
            std::vector<std::uint8_t> larger(2 * blob_.size());
            check(fdt_resize(blob_.data(), larger.data(), static_cast<int>(larger.size())));
            blob_ = std::move(larger);
        }
        check(result);
    }

    std::vector<std::uint8_t> blob_ = std::vector<std::uint8_t>(16384);
};

/// "trnvp exec" has the compatible string "trnvp-exec".
std::string compatible_of(std::string model) {
    std::ranges::replace(model, ' ', '-');
    return model;
}

std::string unit_name(const char* name, const machine_description::region& window) {
    return fmt::format("{}@{:x}", name, window.base);
}

/// The handle of the interrupt controller of a hart.
std::uint32_t interrupts_of(unsigned hart) {
    return hart == 0 ? first_hart_handle : finisher_handle + hart;
}

/// Connections of two interrupts of each hart, in the order of the harts.
std::vector<std::uint32_t> to_each_hart(const machine_description& m, std::uint32_t first,
                                        std::uint32_t second) {
    std::vector<std::uint32_t> cells;
    for (unsigned hart = 0; hart < m.harts; ++hart)
        cells.insert(cells.end(), {interrupts_of(hart), first, interrupts_of(hart), second});
    return cells;
}

void add_hart(tree& all, const machine_description& m, unsigned hart) {
    tree::node cpu(all, fmt::format("cpu@{:x}", hart));
    cpu.text("device_type", "cpu");
    cpu.cells("reg", {hart});
    cpu.text("status", "okay");
    cpu.text("compatible", "riscv");
    cpu.text("riscv,isa", m.isa);
    cpu.text("mmu-type", m.has_sv48 ? "riscv,sv48" : "riscv,sv39");
    if (m.has_cache_blocks) {
        cpu.cells("riscv,cbom-block-size", {cache_block});
        cpu.cells("riscv,cboz-block-size", {cache_block});
    }
    tree::node interrupts(all, "interrupt-controller");
    interrupts.cells("#interrupt-cells", {1});
    interrupts.flag("interrupt-controller");
    interrupts.text("compatible", "riscv,cpu-intc");
    interrupts.cells("phandle", {interrupts_of(hart)});
}

void add_harts(tree& all, const machine_description& m) {
    tree::node cpus(all, "cpus");
    cpus.cells("#address-cells", {1});
    cpus.cells("#size-cells", {0});
    cpus.cells("timebase-frequency", {m.timebase_hz});
    for (unsigned hart = 0; hart < m.harts; ++hart) add_hart(all, m, hart);
}

void add_aclint(tree& all, const machine_description& m) {
    tree::node aclint(all, unit_name("clint", m.aclint));
    aclint.texts("compatible", {"sifive,clint0", "riscv,clint0"});
    aclint.cells("interrupts-extended", to_each_hart(m, msip, mtip));
    aclint.reg(m.aclint);
}

/// Binding: riscv,imsics.
void add_files(tree& all, const machine_description& m, const machine_description::region& pages,
               std::uint32_t interrupt, std::uint32_t handle) {
    std::vector<std::uint32_t> harts;
    for (unsigned hart = 0; hart < m.harts; ++hart)
        harts.insert(harts.end(), {interrupts_of(hart), interrupt});
    tree::node files(all, unit_name("interrupt-controller", pages));
    files.text("compatible", "riscv,imsics");
    files.cells("#interrupt-cells", {0});
    files.flag("interrupt-controller");
    files.flag("msi-controller");
    files.cells("#msi-cells", {0});
    files.cells("interrupts-extended", harts);
    files.reg(pages);
    files.cells("riscv,num-ids", {m.msi.identities});
    files.cells("phandle", {handle});
}

/// Binding: riscv,aplic. The delegation has a second name, of firmware before 2024.
void add_domain(tree& all, const machine_description& m, const machine_description::region& domain,
                std::uint32_t files, std::uint32_t handle) {
    tree::node aplic(all, unit_name("interrupt-controller", domain));
    aplic.text("compatible", "riscv,aplic");
    aplic.cells("#address-cells", {0});
    aplic.cells("#interrupt-cells", {2});
    aplic.flag("interrupt-controller");
    aplic.cells("msi-parent", {files});
    aplic.reg(domain);
    aplic.cells("riscv,num-sources", {m.msi.sources});
    aplic.cells("phandle", {handle});
    if (handle != machine_domain_handle) return;
    aplic.cells("riscv,children", {supervisor_domain_handle});
    for (const char* name : {"riscv,delegation", "riscv,delegate"})
        aplic.cells(name, {supervisor_domain_handle, 1, m.msi.sources});
}

void add_message_controllers(tree& all, const machine_description& m) {
    add_files(all, m, m.msi.machine_files, meip, machine_files_handle);
    add_files(all, m, m.msi.supervisor_files, seip, supervisor_files_handle);
    add_domain(all, m, m.msi.machine_domain, machine_files_handle, machine_domain_handle);
    add_domain(all, m, m.msi.supervisor_domain, supervisor_files_handle, supervisor_domain_handle);
}

bool has_messages(const machine_description& m) {
    return m.msi.supervisor_files.size != 0;
}

/// The interrupts of a device at the controller of wired ones.
void add_interrupts(tree::node& device, const machine_description& m,
                    std::span<const std::uint32_t> sources) {
    constexpr std::uint32_t level_high = 4;
    std::vector<std::uint32_t> cells;
    for (const auto source : sources) {
        cells.push_back(source);
        if (has_messages(m)) cells.push_back(level_high);
    }
    device.cells("interrupts", cells);
    device.cells("interrupt-parent", {has_messages(m) ? supervisor_domain_handle : plic_handle});
}

void add_plic(tree& all, const machine_description& m) {
    tree::node plic(all, unit_name("plic", m.plic));
    plic.texts("compatible", {"sifive,plic-1.0.0", "riscv,plic0"});
    plic.cells("#interrupt-cells", {1});
    plic.cells("#address-cells", {0});
    plic.flag("interrupt-controller");
    plic.cells("interrupts-extended", to_each_hart(m, meip, seip));
    plic.reg(m.plic);
    plic.cells("riscv,ndev", {m.plic_sources});
    plic.cells("phandle", {plic_handle});
}

void add_uart(tree& all, const machine_description& m, const machine_description::serial& serial) {
    tree::node uart(all, unit_name("serial", serial.window));
    uart.text("compatible", "ns16550a");
    uart.reg(serial.window);
    uart.cells("clock-frequency", {serial.clock_hz});
    uart.cells("current-speed", {serial.baud});
    if (serial.register_shift != 0) {
        uart.cells("reg-shift", {serial.register_shift});
        uart.cells("reg-io-width", {4});
    }
    add_interrupts(uart, m, {&serial.interrupt, 1});
}

void add_end(tree& all, const machine_description& m) {
    {
        tree::node finisher(all, unit_name("test", m.finisher));
        finisher.texts("compatible", {"sifive,test1", "sifive,test0", "syscon"});
        finisher.reg(m.finisher);
        finisher.cells("phandle", {finisher_handle});
    }
    for (const auto& [name, kind, value] : {std::tuple{"poweroff", "syscon-poweroff", finish_pass},
                                            std::tuple{"reboot", "syscon-reboot", finish_reset}}) {
        tree::node end(all, name);
        end.text("compatible", kind);
        end.cells("regmap", {finisher_handle});
        end.cells("offset", {0});
        end.cells("value", {value});
    }
}

/// Bindings: pci-host-ecam-generic, and PCI Bus Binding 2.1, 2.2.1.1, for the words of `ranges`.
void add_pcie(tree& all, const machine_description& m) {
    const auto& pcie = m.pcie;
    if (pcie.configuration.size == 0) return;
    constexpr std::uint32_t memory32 = 0x0200'0000, prefetchable64 = 0x4300'0000;
    std::vector<std::uint32_t> ranges;
    for (const auto& [space, window] :
         {std::pair{memory32, pcie.narrow}, std::pair{prefetchable64, pcie.wide}}) {
        const auto high = static_cast<std::uint32_t>(window.base >> 32);
        const auto low = static_cast<std::uint32_t>(window.base);
        ranges.insert(ranges.end(),
                      {space, high, low, high, low, static_cast<std::uint32_t>(window.size >> 32),
                       static_cast<std::uint32_t>(window.size)});
    }
    tree::node bus(all, unit_name("pci", pcie.configuration));
    bus.text("compatible", "pci-host-ecam-generic");
    bus.text("device_type", "pci");
    bus.cells("#address-cells", {3});
    bus.cells("#size-cells", {2});
    bus.cells("linux,pci-domain", {0});
    bus.cells("bus-range", {0, 255});
    bus.flag("dma-coherent");
    bus.reg(pcie.configuration);
    bus.cells("ranges", ranges);
    if (has_messages(m)) bus.cells("msi-parent", {supervisor_files_handle});
}

/// Binding: pmem-region.
void add_exchange(tree& all, const machine_description::region& window) {
    if (window.size == 0) return;
    tree::node memory(all, unit_name("pmem", window));
    memory.text("compatible", "pmem-region");
    memory.reg(window);
    memory.flag("volatile");
}

/// Places of EFI tables, as the EFI stub of Linux names them for the kernel; firmware/host sets the
/// values. The last one is Debian's.
void add_boot_tables(tree::node& chosen) {
    for (const char* name : {"linux,uefi-system-table", "linux,uefi-mmap-start"})
        chosen.number(name, 0);
    for (const char* name : {"linux,uefi-mmap-size", "linux,uefi-mmap-desc-size",
                             "linux,uefi-mmap-desc-ver", "linux,uefi-secure-boot"})
        chosen.cells(name, {0});
}

void add_chosen(tree& all, const machine_description& m) {
    tree::node chosen(all, "chosen");
    if (!m.uarts.empty())
        chosen.text("stdout-path", "/soc/" + unit_name("serial", m.uarts.front().window));
    if (!m.bootargs.empty()) chosen.text("bootargs", m.bootargs);
    if (!m.random_seed.empty()) chosen.cells("rng-seed", m.random_seed);
    if (m.has_boot_tables) add_boot_tables(chosen);
    if (m.initrd.size == 0) return;
    chosen.number("linux,initrd-start", m.initrd.base);
    chosen.number("linux,initrd-end", m.initrd.base + m.initrd.size);
}

void add_others(tree& all, const machine_description& m) {
    for (const auto& other : m.others) {
        tree::node device(all, unit_name(other.kind.c_str(), other.window));
        device.text("compatible", "trnvp," + other.kind);
        device.reg(other.window);
        if (other.interrupts.empty()) continue;
        add_interrupts(device, m, other.interrupts);
    }
}

}  // namespace

std::vector<std::uint8_t> make_device_tree(const machine_description& m) {
    tree all;
    {
        tree::node root(all, "");
        root.cells("#address-cells", {2});
        root.cells("#size-cells", {2});
        root.text("compatible", compatible_of(m.model));
        root.text("model", m.model);
        add_chosen(all, m);
        add_harts(all, m);
        {
            tree::node memory(all, unit_name("memory", m.ram));
            memory.text("device_type", "memory");
            memory.reg(m.ram);
        }
        tree::node soc(all, "soc");
        soc.cells("#address-cells", {2});
        soc.cells("#size-cells", {2});
        soc.text("compatible", "simple-bus");
        soc.flag("ranges");
        add_aclint(all, m);
        has_messages(m) ? add_message_controllers(all, m) : add_plic(all, m);
        for (const auto& uart : m.uarts) add_uart(all, m, uart);
        add_end(all, m);
        add_pcie(all, m);
        add_exchange(all, m.exchange);
        add_others(all, m);
    }
    return all.finish();
}

}  // namespace trn

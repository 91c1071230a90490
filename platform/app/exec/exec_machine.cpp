// SPDX-License-Identifier: Apache-2.0
#include "platform/app/exec/exec_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "platform/framework/config/units.h"

namespace trn {

namespace {

constexpr std::uint64_t finisher_base = 0x0010'0000;
constexpr std::uint64_t aclint_base = 0x0200'0000, aclint_size = 0xc000;
constexpr std::uint64_t plic_base = 0x0c00'0000, plic_size = 0x0400'0000;
constexpr std::uint64_t uart_base = 0x1000'0000;
constexpr unsigned plic_sources = 31, uart_source = 10;
// A character takes 3.3 us at divisor 1, which is short for programs that poll while they print.
constexpr std::uint64_t uart_clock_hz = 48'000'000, uart_baud = uart_clock_hz / 16;

}  // namespace

exec_machine::exec_machine(sc_core::sc_module_name name, const elf_program& program, config cfg)
    : sc_module(name),
      cfg_(std::move(cfg)),
      hart_("hart", cfg_.hart),
      aclint_("aclint", {.harts = 1}),
      plic_("plic", {.sources = plic_sources, .contexts = 2}),
      uart_("uart", {.clock_hz = uart_clock_hz}),
      uart_registers_("uart_registers", [this] { polled_(); }),
      finisher_("finisher"),
      rom_("rom", {.size = rom_size, .read_only = true}),
      ram_("ram", {.size = cfg_.ram_size}) {
    hart_.bus.bind(bus_.target);
    hart_.set_time_source(aclint_);
    finisher_.on_request(
        [this](finisher::action, int code) { on_exit(static_cast<std::uint64_t>(code)); });
    connect_interrupts();
    connect_devices();
    attach_ram(program);
    load(program);
    load_rom(program);
}

void exec_machine::connect_interrupts() {
    aclint_.software[0].bind(hart_.irq, riscv_hart::machine_software);
    aclint_.timer[0].bind(hart_.irq, riscv_hart::machine_timer);
    plic_.out[0].bind(hart_.irq, riscv_hart::machine_external);
    plic_.out[1].bind(hart_.irq, riscv_hart::supervisor_external);
    uart_.irq.bind(plic_.source, uart_source);
}

void exec_machine::connect_devices() {
    uart_registers_.out.bind(uart_.in);
    connect(rom_.in, {rom_base, rom_size, 0});
    connect(finisher_.in, {finisher_base, finisher::size, 0});
    connect(aclint_.in, {aclint_base, aclint_size, 0});
    connect(plic_.in, {plic_base, plic_size, 0});
    connect(uart_registers_.in, {uart_base, byte_registers::size, 0});
}

template <typename Socket>
void exec_machine::connect(Socket& target, const place& at) {
    bus_.initiator.bind(target);
    map(at);
    ++port_;
}

void exec_machine::map(const place& at) {
    if (at.size > 0) bus_.map({at.base, at.size, at.target_base, port_});
}

void exec_machine::attach_ram(const elf_program& program) {
    const auto tohost = program.symbol("tohost");
    const bool inside = tohost && *tohost - ram_base <= cfg_.ram_size - 8;
    if (!inside) return connect(ram_.in, {ram_base, cfg_.ram_size, 0});
    htif_ = std::make_unique<htif>("htif", ram_,
                                   htif::config{ram_base, *tohost, program.symbol("fromhost"),
                                                [this](std::uint64_t code) { on_exit(code); }});
    const std::uint64_t page = htif_->page(), after = page + htif::page_size;
    map({ram_base, page, 0});
    connect(ram_.in, {ram_base + after, cfg_.ram_size - after, after});
    connect(htif_->in, {ram_base + page, htif::page_size, page});
}

void exec_machine::load(const elf_program& program) {
    for (const auto& segment : program.segments) {
        const std::uint64_t offset = segment.address - ram_base;
        if (offset > cfg_.ram_size || segment.size > cfg_.ram_size - offset)
            throw std::invalid_argument(
                fmt::format("segment {:#x}..{:#x} is outside the RAM, {:#x}..{:#x} (--ram {})",
                            segment.address, segment.address + segment.size - 1, ram_base,
                            ram_base + cfg_.ram_size - 1, to_string(bytes{cfg_.ram_size})));
        ram_.load(offset, segment.bytes);
    }
}

/// Writes Spike's reset vector: a0 = hart id, a1 = device tree, jump to the entry.
void exec_machine::load_rom(const elf_program& program) {
    constexpr std::array<std::uint32_t, 5> code{0x00000297,   // auipc t0, 0
                                                0x02028593,   // addi  a1, t0, 32
                                                0xf1402573,   // csrr  a0, mhartid
                                                0x0182b283,   // ld    t0, 24(t0)
                                                0x00028067};  // jr    t0
    std::array<std::uint8_t, device_tree_base - rom_base> bytes{};
    std::memcpy(bytes.data(), code.data(), sizeof code);
    std::memcpy(bytes.data() + 24, &program.entry, sizeof program.entry);
    rom_.load(0, bytes);
    const bool fits =
        rom_.load(device_tree_base - rom_base,
                  cfg_.device_tree.empty() ? make_device_tree(describe()) : cfg_.device_tree);
    sc_assert(fits);
}

machine_description exec_machine::describe() const {
    machine_description m;
    m.model = "trnvp exec";
    m.ram = {ram_base, cfg_.ram_size};
    m.aclint = {aclint_base, aclint_size};
    m.plic = {plic_base, plic_size};
    m.uart = {uart_base, byte_registers::size};
    m.finisher = {finisher_base, finisher::size};
    m.isa = cfg_.hart.isa.name();
    m.has_cache_blocks =
        cfg_.hart.isa.has(riscv::extension::zicbom) || cfg_.hart.isa.has(riscv::extension::zicboz);
    m.timebase_hz =
        static_cast<std::uint32_t>(sc_core::sc_time(1, sc_core::SC_SEC) / aclint_.settings().tick);
    m.uart_clock_hz = static_cast<std::uint32_t>(uart_clock_hz);
    m.uart_baud = static_cast<std::uint32_t>(uart_baud);
    m.uart_interrupt = uart_source;
    m.plic_sources = plic_sources;
    return m;
}

void exec_machine::on_exit(std::uint64_t code) {
    if (exit_code_) return;
    constexpr std::uint64_t largest_status = 255;  // larger codes must not become another status
    exit_code_ = static_cast<int>(std::min(code, largest_status));
    hart_.end_quantum();
    cfg_.ended();
}

}  // namespace trn

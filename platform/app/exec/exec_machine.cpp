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
constexpr unsigned contexts_per_hart = 2;  // M and S mode
// A character takes 3.3 us at divisor 1, which is short for programs that poll while they print.
constexpr std::uint64_t uart_clock_hz = 48'000'000, uart_baud = uart_clock_hz / 16;

}  // namespace

exec_machine::exec_machine(sc_core::sc_module_name name, const elf_program& program, config cfg)
    : sc_module(name),
      cfg_(std::move(cfg)),
      aclint_("aclint", {.harts = static_cast<unsigned>(cfg_.harts.size())}),
      plic_("plic", {.sources = plic_sources,
                     .contexts = contexts_per_hart * static_cast<unsigned>(cfg_.harts.size())}),
      uart_("uart", {.clock_hz = uart_clock_hz}),
      uart_registers_("uart_registers", [this] { polled_(); }),
      finisher_("finisher"),
      rom_("rom", {.size = rom_size, .read_only = true}),
      ram_("ram", {.size = cfg_.ram_size}) {
    make_harts();
    finisher_.on_request(
        [this](finisher::action, int code) { on_exit(static_cast<std::uint64_t>(code)); });
    connect_interrupts();
    connect_devices();
    attach_ram(program);
    load(program);
    load_rom(program);
}

void exec_machine::make_harts() {
    const hart_common shared{.quanta = std::make_shared<quantum_queue>(cfg_.schedule_seed)};
    const bool only_one = cfg_.harts.size() == 1;
    for (const auto& [core, start] : cfg_.harts) {
        const auto name = only_one ? "hart" : fmt::format("hart{}", core.hart_id);
        auto& hart = *harts_.emplace_back(std::make_unique<riscv_hart>(name.c_str(), core, shared));
        hart.bus.bind(bus_.target);
        hart.set_time_source(aclint_);
        hart.core();  // so that debuggers see it before its first turn
        hart.on_limit([this] { stop_harts(); });
        if (start > sc_core::SC_ZERO_TIME)
            delays_.push_back(
                std::make_unique<delayed_start>((name + "_start").c_str(), hart.reset, start));
    }
}

void exec_machine::connect_interrupts() {
    for (unsigned id = 0; id < harts_.size(); ++id) {
        irq_in& irq = harts_[id]->irq;
        aclint_.software[id].bind(irq, riscv_hart::machine_software);
        aclint_.timer[id].bind(irq, riscv_hart::machine_timer);
        plic_.out[contexts_per_hart * id].bind(irq, riscv_hart::machine_external);
        plic_.out[contexts_per_hart * id + 1].bind(irq, riscv_hart::supervisor_external);
    }
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
void exec_machine::connect(Socket& target, const place& window) {
    bus_.initiator.bind(target);
    map(window);
    ++port_;
}

void exec_machine::map(const place& window) {
    if (window.size > 0) bus_.map({window.base, window.size, window.target_base, port_});
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
    m.uarts.push_back({.window = {uart_base, byte_registers::size},
                       .clock_hz = static_cast<std::uint32_t>(uart_clock_hz),
                       .baud = static_cast<std::uint32_t>(uart_baud),
                       .interrupt = uart_source});
    m.finisher = {finisher_base, finisher::size};
    const riscv::isa& isa = cfg_.harts.front().core.isa;
    m.harts = static_cast<unsigned>(harts_.size());
    m.isa = isa.name();
    m.has_cache_blocks = isa.has(riscv::extension::zicbom) || isa.has(riscv::extension::zicboz);
    m.timebase_hz =
        static_cast<std::uint32_t>(sc_core::sc_time(1, sc_core::SC_SEC) / aclint_.settings().tick);
    m.plic_sources = plic_sources;
    return m;
}

void exec_machine::on_exit(std::uint64_t code) {
    if (exit_code_) return;
    constexpr std::uint64_t largest_status = 255;  // larger codes must not become another status
    exit_code_ = static_cast<int>(std::min(code, largest_status));
    stop_harts();
    cfg_.ended();
}

/// The hart whose access ends the program completes its basic block; the others execute nothing
/// any more.
void exec_machine::stop_harts() {
    for (const auto& hart : harts_) {
        const initiator* const self = hart.get();
        if (self == initiator::current())
            hart->end_quantum();
        else
            hart->halt();
    }
}

}  // namespace trn

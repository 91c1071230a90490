// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <systemc>
#include <vector>

#include "models/processor/interrupts/aclint.h"
#include "models/processor/interrupts/plic.h"
#include "models/processor/riscv/riscv_hart.h"
#include "models/soc/finisher/finisher.h"
#include "models/soc/uart/uart.h"
#include "platform/app/device_tree/device_tree.h"
#include "platform/app/exec/delayed_start.h"
#include "platform/app/exec/exec_devices.h"
#include "platform/app/exec/htif.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"

namespace trn {

/// The machine of `trnvp exec` for a bare-metal program: harts on one RAM, ACLINT and PLIC at the
/// addresses of Spike and QEMU's "virt", virt's UART and test finisher, and Spike's host-target
/// interface when the program has the symbol `tohost`. Each hart starts at the program's entry with
/// its hart id in a0 and the address of a device tree in a1. Design: doc/models/processor/hart.md.
class exec_machine : public sc_core::sc_module {
public:
    struct hart_config {
        riscv_hart::config core;
        sc_core::sc_time start = sc_core::SC_ZERO_TIME;  ///< leaves reset at this time
    };
    struct config {
        std::vector<hart_config> harts;                     ///< 1 to max_harts; ids count from 0
        std::uint64_t schedule_seed = 0;                    ///< of quantum_queue
        std::uint64_t ram_size = std::uint64_t{128} << 20;  ///< bytes
        std::vector<std::uint8_t> device_tree;              ///< empty: generated
        std::function<void()> ended;                        ///< called when the program exits
    };
    static constexpr unsigned max_harts = 32;
    static constexpr std::uint64_t ram_base = 0x8000'0000;
    static constexpr std::uint64_t max_ram_size = std::uint64_t{64} << 30;
    static constexpr std::uint64_t rom_base = 0x1000, rom_size = 0xf000;
    static constexpr std::uint64_t device_tree_base = rom_base + 0x20;
    static constexpr std::uint64_t max_device_tree = rom_base + rom_size - device_tree_base;

    /// Throws std::invalid_argument when the program does not fit into RAM.
    exec_machine(sc_core::sc_module_name name, const elf_program& program, config cfg);

    /// By hart id.
    const std::vector<std::unique_ptr<riscv_hart>>& harts() const { return harts_; }
    memory& ram() { return ram_; }
    console& terminal() { return uart_; }
    /// Sets the function to call when the program polls the UART.
    void on_poll(std::function<void()> polled) { polled_ = std::move(polled); }
    /// Of the program: at most 255.
    std::optional<int> exit_code() const { return exit_code_; }

private:
    struct place {
        std::uint64_t base, size, target_base;
    };

    template <typename Socket>
    void connect(Socket& target, const place& window);
    void map(const place& window);
    void make_harts();
    void connect_interrupts();
    void connect_devices();
    void attach_ram(const elf_program& program);
    void load(const elf_program& program);
    void load_rom(const elf_program& program);
    machine_description describe() const;
    void on_exit(std::uint64_t code);
    void stop_harts();

    const config cfg_;
    std::vector<std::unique_ptr<riscv_hart>> harts_;
    std::vector<std::unique_ptr<delayed_start>> delays_;
    router bus_{"bus", {}};
    aclint aclint_;
    plic plic_;
    uart uart_;
    byte_registers uart_registers_;
    finisher finisher_;
    memory rom_;
    memory ram_;
    std::unique_ptr<htif> htif_;
    unsigned port_ = 0;
    std::function<void()> polled_ = [] {};
    std::optional<int> exit_code_;
};

}  // namespace trn

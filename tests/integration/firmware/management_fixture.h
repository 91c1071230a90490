// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "firmware/lib/axi_map.h"
#include "firmware/lib/drivers/memory_map.h"
#include "models/dma/udma/udma.h"
#include "models/memory/hbm/hbm.h"
#include "models/processor/interrupts/aclint.h"
#include "models/processor/interrupts/plic.h"
#include "models/processor/riscv/riscv_hart.h"
#include "models/scale_up/die_to_die/die_to_die.h"
#include "models/soc/flash/flash.h"
#include "models/soc/misc_ram/misc_ram.h"
#include "models/soc/misc_ram/misc_ram_regs.h"
#include "models/soc/misc_ram/sim_reset.h"
#include "models/soc/misuse_port/misuse_port.h"
#include "models/soc/reset_controller/reset_controller.h"
#include "models/soc/sensors/sensors.h"
#include "models/soc/uart/uart.h"
#include "models/soc/watchdog/watchdog.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

constexpr unsigned sengs = 4;

/// Registers of a DMA engine in AXI space (contract 3.1, 3.2).
inline std::uint64_t axi_dma_engine(unsigned engine) {
    constexpr std::uint64_t seng[sengs] = {0x10'0200'0000, 0x50'0400'0000, 0x8010'0200'0000,
                                           0x8050'0400'0000};
    if (engine < sengs * 32) return seng[engine / 32] + engine % 32 * 0x10'0000;
    const unsigned host = engine - sengs * 32;
    return (host / 2 ? AXI_DIE_1 : 0) + AXI_APB_IO + 0x680'0000 + host % 2 * 0x10'0000;
}

inline std::vector<std::uint8_t> read_firmware(const std::string& name) {
    std::ifstream file(std::string(FIRMWARE_FOLDER) + "/" + name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The part of a chip that the management processor accesses: the local devices, and the AXI space
/// used by firmware. Built without a board, so that tests can access every part.
struct management : sc_core::sc_module {
    router local{"local", {}};
    router axi{"axi", {}};
    riscv_hart cpu{"cpu", {.reset_vector = MAP_BOOT_ROM}};
    aclint timer{"timer", {}};
    plic irqs{"irqs", {.sources = IRQ_SOURCES, .contexts = 1}};
    memory rom{"rom", {.size = MAP_BOOT_ROM_SIZE, .read_only = true}};
    memory sram{"sram", {.size = MAP_SRAM_SIZE}};
    trn::uart uart{"uart", {}};
    trn::watchdog watchdog{"watchdog", {}};
    trn::sensors sensors{"sensors", {}};
    trn::flash flash{"flash", {.size = MAP_FLASH_SIZE}};
    reset_controller resets;
    trn::misc_ram misc_ram{"misc_ram", {}};
    trn::sim_reset sim_reset{"sim_reset", {}};
    trn::misuse_port misuse{"misuse", {}};
    trn::die_to_die die_to_die{"die_to_die", {.needs_training = true}};
    std::vector<std::unique_ptr<hbm>> stacks;
    std::vector<std::unique_ptr<udma>> engines;  // SENG 0 to 3, host-transfer engines of die 0, 1
    memory host_memory{"host_memory", {.size = 1 << 20}};

    struct config {
        reset_controller::config straps = {.routing_id = 9, .serial = 0x0123456789abcdef};
        sc_core::sc_time hbm_training_time{200, sc_core::SC_US};
    };

    management(sc_core::sc_module_name name, const config& cfg)
        : sc_module(name), resets("resets", cfg.straps) {
        build_dma_and_hbm(cfg);
        map_local();
        map_axi();
        connect_interrupts();
        connect_resets();
    }

private:
    template <class Socket>
    static void map(router& bus, Socket& target, std::uint64_t base, std::uint64_t size) {
        bus.initiator.bind(target);
        const auto port = static_cast<unsigned>(bus.initiator.size() - 1);
        const auto* clash = bus.map({base, size, 0, port});
        sc_assert(clash == nullptr);
    }

    void build_dma_and_hbm(const config& cfg) {
        for (unsigned n = 0; n < 4; ++n) {
            const std::string name = "hbm" + std::to_string(n);
            stacks.push_back(std::make_unique<hbm>(
                name.c_str(), hbm::config{.size = 64 << 20,
                                          .training_time = cfg.hbm_training_time,
                                          .needs_training = true}));
        }
        for (unsigned group = 0; group < 6; ++group) {
            const std::string name = "dma" + std::to_string(group);
            const bool host = group >= sengs;
            engines.push_back(std::make_unique<udma>(
                name.c_str(),
                udma::config{.engines = host ? 2u : 32u,
                             .first_engine = host ? 128 + (group - sengs) * 2 : group * 32}));
        }
    }

    void map_local() {
        constexpr std::uint64_t page = 0x1000;
        cpu.bus.bind(local.target);
        map(local, rom.in, MAP_BOOT_ROM, MAP_BOOT_ROM_SIZE);
        map(local, timer.in, MAP_ACLINT, 0xc000);
        map(local, irqs.in, MAP_PLIC, 0x4000000);
        map(local, uart.in, MAP_UART, page);
        map(local, watchdog.in, MAP_WATCHDOG, page);
        map(local, sensors.in, MAP_SENSORS, page);
        map(local, flash.in, MAP_FLASH_REGS, page);
        map(local, resets.in, MAP_RESET_CONTROLLER, page);
        map(local, sim_reset.firmware, MAP_SIMULATOR_RESET, page);
        map(local, misc_ram.firmware, MAP_MISC_RAM, page);
        map(local, misuse.in, MAP_MISUSE_PORT, page);
        for (unsigned n = 0; n < stacks.size(); ++n)
            map(local, stacks[n]->control, MAP_HBM_CTRL + n * MAP_HBM_CTRL_STRIDE, page);
        map(local, die_to_die.control, MAP_DIE_TO_DIE, page);
        map(local, flash.window, MAP_FLASH_WINDOW, MAP_FLASH_SIZE);
        map(local, sram.in, MAP_SRAM, MAP_SRAM_SIZE);
        map(local, axi.target, MAP_AXI_WINDOW, 1ull << 54);
    }

    void map_axi() {
        map(axi, misc_ram.in, AXI_MISC_RAM, 0x1000);
        map(axi, sim_reset.host, AXI_SIMULATOR_RESET & ~0xfffull, 0x1000);
        map(axi, host_memory.in, AXI_HOST_WINDOW, 1 << 20);
        for (unsigned n = 0; n < stacks.size(); ++n)
            map(axi, stacks[n]->in, (n / 2 ? AXI_DIE_1 : 0) + n % 2 * 0x4000000000, 64 << 20);
        for (unsigned group = 0; group < engines.size(); ++group) {
            const unsigned first = engines[group]->settings().first_engine;
            map(axi, engines[group]->registers, axi_dma_engine(first),
                engines[group]->settings().engines * 0x100000ull);
            engines[group]->memory.bind(axi.target);
        }
        die_to_die.to_die_0.bind(axi.target);
        die_to_die.to_die_1.bind(axi.target);
        idle_on_die_0.out.bind(die_to_die.from_die_0);
        idle_on_die_1.out.bind(die_to_die.from_die_1);
    }

    void connect_interrupts() {
        cpu.set_time_source(timer);
        timer.timer[0].bind(cpu.irq, riscv_hart::machine_timer);
        timer.software[0].bind(cpu.irq, riscv_hart::machine_software);
        irqs.out[0].bind(cpu.irq, riscv_hart::machine_external);
        uart.irq.bind(irqs.source, IRQ_UART);
        watchdog.bark.bind(irqs.source, IRQ_WATCHDOG);
        sensors.irq.bind(irqs.source, IRQ_SENSORS);
        flash.irq.bind(irqs.source, IRQ_FLASH);
        misc_ram.doorbell.bind(irqs.source, IRQ_DOORBELL);
        sim_reset.request.bind(irqs.source, IRQ_SIMULATOR_RESET);
        misc_ram.watched.bind(irqs.source, IRQ_WATCHED);
        misc_ram.stale.bind(irqs.source, IRQ_STALE);
        cpu.awake.bind(watchdog.needed);
        misc_ram.doorbell.bind(watchdog.needed);
        sim_reset.request.bind(watchdog.needed);
        for (auto& stack : stacks) stack->error.bind(irqs.source, IRQ_HBM);
        die_to_die.irq.bind(irqs.source, IRQ_DIE_TO_DIE);
        for (unsigned group = 0; group < engines.size(); ++group)
            engines[group]->aborted.bind(irqs.source, IRQ_DMA_ABORT + group);
    }

    void connect_resets() {
        watchdog.bite.bind(resets.watchdog_bite);
        sensors.trip.bind(resets.thermal_trip);
        for (irq_in* line : {&cpu.reset, &uart.reset, &watchdog.reset, &sensors.reset, &flash.reset,
                             &irqs.reset, &timer.reset})
            resets.chip_reset.bind(*line);
        for (unsigned line = 0; line < reset_controller::dma_lines; ++line)
            resets.dma_reset[line].bind(engines[line / 2]->reset, line % 2);
    }

    tlm_driver idle_on_die_0{"idle_on_die_0"}, idle_on_die_1{"idle_on_die_1"};
};

/// Boots the actual images; the test acts as the host.
struct management_fixture : testing::Test {
    using misc = misc_ram_regs::reg;

    std::unique_ptr<management> chip;
    std::unique_ptr<tlm_driver> host;      // on the chip's AXI space
    std::unique_ptr<tlm_driver> debugger;  // on the processor's local bus
    std::string console;

    /// Builds a chip in its power-on state with `image` in the flash; nothing has run.
    void build(const std::string& image = "flash.img", const management::config& cfg = {}) {
        chip = std::make_unique<management>("chip", cfg);
        host = std::make_unique<tlm_driver>("host");
        host->out.bind(chip->axi.target);
        debugger = std::make_unique<tlm_driver>("debugger");
        debugger->out.bind(chip->local.target);
        EXPECT_TRUE(chip->rom.load(0, read_firmware("bootrom.bin")));
        EXPECT_TRUE(chip->flash.load(0, read_firmware(image)));
        chip->uart.on_output([this](std::string_view text) { console += text; });
    }
    /// Simulates until `condition`, for at most `limit_ms`; returns whether it became true.
    template <class Condition>
    bool run_until(const Condition& condition, double limit_ms) {
        const auto step = sc_core::sc_time(100, sc_core::SC_US);
        for (double ms = 0; ms < limit_ms; ms += 0.1) {
            if (condition()) return true;
            sc_core::sc_start(step);
        }
        return condition();
    }
    bool run_until_printed(const std::string& text, double limit_ms = 200) {
        return run_until([&] { return console.find(text) != std::string::npos; }, limit_ms);
    }
    void run_ms(double ms) { sc_core::sc_start(sc_core::sc_time(ms, sc_core::SC_MS)); }
    void boot() {
        build();
        constexpr std::uint32_t booting = 0xdeadbeef;  // contract 4
        ASSERT_TRUE(run_until_printed("ready: routing id")) << console;
        ASSERT_TRUE(run_until([&] { return misc_word(misc::routing_id) != booting; }, 1));
    }

    std::uint32_t misc_word(misc r, unsigned index = 0) {
        return host->read(AXI_MISC_RAM + misc_ram_regs::offset(r, index));
    }
    void set_misc(misc r, std::uint32_t value, unsigned index = 0) {
        EXPECT_EQ(host->write(AXI_MISC_RAM + misc_ram_regs::offset(r, index), value),
                  tlm::TLM_OK_RESPONSE);
    }
};

}  // namespace trn::test

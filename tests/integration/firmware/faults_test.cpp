// SPDX-License-Identifier: Apache-2.0
// Faults of the machine under the booted firmware: each is reported once, and again when it comes
// again during or after the recovery.
#include <algorithm>

#include "models/dma/udma/udma_regs.h"
#include "models/scale_up/die_to_die/die_to_die_regs.h"
#include "models/soc/reset_controller/reset_controller_regs.h"
#include "tests/integration/firmware/management_fixture.h"

extern "C" {
#define _Static_assert static_assert
#include "firmware/mgmt/error_log.h"
}

namespace {

using namespace trn;
using test::axi_dma_engine;
using test::management_fixture;

struct FaultTest : management_fixture {
    struct log_entry {
        std::uint16_t code, detail;
        std::uint64_t value;
        friend bool operator==(const log_entry&, const log_entry&) = default;
    };
    /// The latest entries of the error log, in order.
    std::vector<log_entry> error_log() {
        const std::uint64_t base = AXI_MISC_RAM + 0x900;
        const std::uint32_t count = host->read(base + 8);
        std::vector<log_entry> all;
        for (std::uint32_t n = count - std::min<std::uint32_t>(count, ERROR_LOG_ENTRIES); n < count;
             ++n) {
            const std::uint64_t at = base + 16 + n % ERROR_LOG_ENTRIES * sizeof(error_entry);
            const std::uint32_t word = host->read(at + 4);
            all.push_back({static_cast<std::uint16_t>(word), static_cast<std::uint16_t>(word >> 16),
                           host->read<std::uint64_t>(at + 8)});
        }
        return all;
    }
    std::size_t logged(error_code code) {
        const auto all = error_log();
        return static_cast<std::size_t>(
            std::ranges::count_if(all, [=](const log_entry& e) { return e.code == code; }));
    }
    void heat(int kelvin) {
        chip->sensors.inject("temperature", {{"diode", "1"}, {"kelvin", std::to_string(kelvin)}});
    }
    void reset_device() {
        set_misc(misc::reset_request, 1);
        set_misc(misc::trigger, 1);
        EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 50));
    }
    void restart(unsigned engine) {
        namespace regs = udma_regs;
        host->write<std::uint32_t>(
            axi_dma_engine(engine) + regs::offset(regs::reg::m2s_q_sw_control),
            regs::m2s_q_sw_control::reset.mask());
        host->write<std::uint32_t>(
            axi_dma_engine(engine) + regs::offset(regs::reg::s2m_q_sw_control),
            regs::s2m_q_sw_control::reset.mask());
    }
    std::uint32_t boot_status() {
        using reset_controller_regs::reg;
        return debugger->read(MAP_RESET_CONTROLLER +
                              reset_controller_regs::offset(reg::boot_status));
    }
};

TEST_F(FaultTest, HotDiodeIsLoggedOncePerCrossing) {
    boot();
    chip->engines[1]->abort_queue(5, 0);
    ASSERT_TRUE(run_until([&] { return logged(ERROR_DMA_ABORT) == 1; }, 10));
    heat(72);
    run_ms(2000);
    EXPECT_EQ(logged(ERROR_TEMPERATURE), 1u);
    heat(68);  // below the limit by less than the hysteresis
    run_ms(300);
    heat(72);
    run_ms(300);
    EXPECT_EQ(logged(ERROR_TEMPERATURE), 1u);
    heat(0);
    run_ms(300);
    heat(72);
    run_ms(1000);
    EXPECT_EQ(logged(ERROR_TEMPERATURE), 2u);
    EXPECT_EQ(logged(ERROR_DMA_ABORT), 1u) << "the log keeps what came before";
}

TEST_F(FaultTest, SecondHotDiodeIsLoggedWhileTheFirstIsHot) {
    boot();
    heat(72);
    run_ms(50);
    chip->sensors.inject("temperature", {{"diode", "3"}, {"kelvin", "75"}});
    run_ms(500);
    EXPECT_EQ(logged(ERROR_TEMPERATURE), 2u);
}

TEST_F(FaultTest, CoolChipSleepsAgain) {
    boot();
    run_ms(1200);
    heat(72);
    run_ms(500);
    heat(0);
    run_ms(2500);  // until the watchdog's event
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(FaultTest, EachAbortAfterARestartIsLogged) {
    boot();
    for (unsigned n = 1; n <= 5; ++n) {
        chip->engines[1]->abort_queue(5, 0);
        EXPECT_TRUE(run_until([&] { return logged(ERROR_DMA_ABORT) == n; }, 5)) << n;
        restart(37);
    }
    chip->engines[1]->abort_queue(5, 0);
    EXPECT_TRUE(run_until([&] { return logged(ERROR_DMA_ABORT) == 6; }, 5));
    chip->engines[1]->abort_queue(6, 0);  // while engine 37 is still stopped
    EXPECT_TRUE(run_until([&] { return logged(ERROR_DMA_ABORT) == 7; }, 5));
    EXPECT_EQ(error_log().back().detail, 38u);
    run_ms(100);
    EXPECT_EQ(logged(ERROR_DMA_ABORT), 7u) << "each once";
}

TEST_F(FaultTest, StormOfAbortsLeavesTheLogAndTheServiceIntact) {
    boot();
    heat(72);
    run_ms(10);
    for (unsigned n = 0; n < 2000; ++n) {
        chip->engines[1]->abort_queue(5, 0);
        run_ms(0.5);
        restart(37);
    }
    EXPECT_GE(logged(ERROR_DMA_ABORT), 8u);
    EXPECT_LE(logged(ERROR_DMA_ABORT), 10u);
    EXPECT_EQ(logged(ERROR_TEMPERATURE), 1u);
    reset_device();
    run_ms(1100);
    chip->engines[1]->abort_queue(7, 0);
    EXPECT_TRUE(run_until([&] { return error_log().back().detail == 39u; }, 5));
}

TEST_F(FaultTest, LostDieToDieLinkIsReportedAndAResetTrainsIt) {
    using misc_ram_regs::health_status::axi_fabric;
    const auto healthy = [&] { return axi_fabric.get(misc_word(misc::health_status)) == 0; };
    boot();
    EXPECT_TRUE(healthy());
    for (unsigned n = 1; n <= 2; ++n) {
        chip->die_to_die.inject("link_down", {});
        EXPECT_TRUE(run_until([&] { return logged(ERROR_DIE_TO_DIE) == n; }, 5)) << console;
        EXPECT_FALSE(healthy());
        reset_device();
        EXPECT_TRUE(chip->die_to_die.up());
        EXPECT_TRUE(healthy());
    }
}

TEST_F(FaultTest, DieToDieLinkThatIsLostDuringItsTrainingIsTrainedAgain) {
    boot();
    chip->die_to_die.inject("link_down", {});
    run_ms(1);
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    const auto step = sc_core::sc_time(5, sc_core::SC_US);
    const auto training = [&] {
        using die_to_die_regs::reg;
        return die_to_die_regs::status::training.get(
                   debugger->read(MAP_DIE_TO_DIE + die_to_die_regs::offset(reg::status))) != 0;
    };
    for (int n = 0; n < 1000 && !training(); ++n) sc_core::sc_start(step);
    ASSERT_TRUE(training());
    chip->die_to_die.inject("link_down", {});
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 50));
    EXPECT_TRUE(chip->die_to_die.up());
}

TEST_F(FaultTest, DieToDieLinkThatComesUpAfterAResetHasGivenUpIsHealthyAfterTheNext) {
    using misc_ram_regs::health_status::axi_fabric;
    boot();
    const auto lose_link = [&] { chip->die_to_die.inject("link_down", {}); };
    lose_link();
    run_ms(1);
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    for (int n = 0; n < 1000 && misc_word(misc::reset_request) != 0; ++n) {
        lose_link();  // before the training of 100 us ends
        run_ms(0.05);
    }
    EXPECT_EQ(misc_word(misc::reset_request), 0u);
    EXPECT_EQ(error_log().back(), (log_entry{ERROR_DIE_TO_DIE, 1, 0})) << "not trained";
    run_ms(10);
    EXPECT_TRUE(chip->die_to_die.up()) << "the last training was not disturbed";
    reset_device();
    EXPECT_EQ(axi_fabric.get(misc_word(misc::health_status)), 0u);
}

TEST_F(FaultTest, ErrorOfACoreBehindALostLinkDoesNotStopTheFirmware) {
    build();
    irq_out memory_error{"memory_error"};
    memory_error.bind(chip->irqs.source, IRQ_SRAM);
    ASSERT_TRUE(run_until_printed("ready: routing id")) << console;
    chip->die_to_die.inject("link_down", {});
    memory_error.set(true);  // no core responds
    run_ms(100);
    memory_error.set(false);
    EXPECT_EQ(console.find("panic"), std::string::npos) << console;
    reset_device();
    EXPECT_TRUE(chip->die_to_die.up());
}

TEST_F(FaultTest, PanickingImageIsResetAndSlotBBootsWithTheReason) {
    build("flash_panic.img");
    EXPECT_TRUE(run_until_printed("ready: routing id", 10'000)) << console;
    EXPECT_NE(console.find("did not become ready"), std::string::npos);
    EXPECT_EQ(boot_status() >> 16, 7u) << "slot B, fell back, not ready";
    const auto all = error_log();
    EXPECT_TRUE(std::ranges::count(all, log_entry{ERROR_FALLBACK, 1, FALLBACK_NOT_READY}) == 1);
}

TEST_F(FaultTest, RefusedImageIsTheReasonOfTheFallback) {
    build();
    chip->flash.bytes().data()[0x1000] ^= 0x01;  // in the payload of slot A
    EXPECT_TRUE(run_until_printed("ready: routing id")) << console;
    EXPECT_EQ(error_log().back(), (log_entry{ERROR_FALLBACK, 1, FALLBACK_REFUSED}));
}

TEST_F(FaultTest, ImagesThatNeverBecomeReadyEndInRecovery) {
    build("flash_panic.img");
    auto* const flash = chip->flash.bytes().data();
    std::copy_n(flash, 0x60000, flash + 0x60000);  // slot A in both slots
    EXPECT_TRUE(run_until_printed("waiting for recovery", 60'000)) << console;
    run_ms(10);
    const auto at = chip->cpu.core().ticks();
    run_ms(10'000);
    EXPECT_EQ(chip->cpu.core().ticks(), at);
    EXPECT_NE(chip->resets.boot_failure(), "");
}

}  // namespace

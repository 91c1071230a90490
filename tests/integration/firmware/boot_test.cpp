// SPDX-License-Identifier: Apache-2.0
#include "models/soc/reset_controller/reset_controller_regs.h"
#include "platform/framework/loader/elf.h"
#include "tests/integration/firmware/management_fixture.h"

namespace {

using namespace trn;
using test::management_fixture;
using reset_regs = reset_controller_regs::reg;

struct BootTest : management_fixture {
    /// Checks that the texts are printed in this order.
    void expect_in_order(const std::vector<std::string>& texts) {
        std::size_t at = 0;
        for (const auto& text : texts) {
            const auto found = console.find(text, at);
            ASSERT_NE(found, std::string::npos) << "no '" << text << "' after " << at << " in\n"
                                                << console;
            at = found + text.size();
        }
    }
    std::uint32_t controller(reset_regs r) {
        return debugger->read(MAP_RESET_CONTROLLER + reset_controller_regs::offset(r));
    }
    std::uint64_t stage() {
        return reset_controller_regs::boot_status::stage.get(controller(reset_regs::boot_status));
    }
};

TEST_F(BootTest, BootsInVisibleStagesAndPublishesTheHostWords) {
    boot();
    expect_in_order({"boot ROM", "chip 9, serial 0123456789abcdef, reset by power-on",
                     "boot ROM: slot A", "management firmware", "stage 1/6: clocks and resets",
                     "stage 2/6: HBM training", "HBM stack 3: 64 MiB", "stage 3/6: die-to-die link",
                     "stage 4/6: DMA reset", "stage 6/6: misc RAM publication",
                     "ready: routing id 9"});
    EXPECT_EQ(misc_word(misc::api_version), 7u);
    EXPECT_EQ(misc_word(misc::routing_id), 9u);
    EXPECT_EQ(misc_word(misc::serial_lo), 0x89abcdefu);
    EXPECT_EQ(misc_word(misc::serial_hi), 0x01234567u);
    EXPECT_EQ(misc_word(misc::hbm_repair), 0u);
    EXPECT_NE(misc_word(misc::build_number), 0u);
    EXPECT_TRUE(chip->resets.ready());
    EXPECT_TRUE(chip->stacks[3]->trained());
    EXPECT_TRUE(chip->die_to_die.up());
    EXPECT_FALSE(chip->resets.dma_reset[0].level());
}

TEST_F(BootTest, RoutingIdReadsBootingUntilBootEnds) {
    build("flash.img", {.hbm_training_time = sc_core::sc_time(20, sc_core::SC_MS)});
    EXPECT_TRUE(run_until_printed("stage 2/6"));
    EXPECT_EQ(misc_word(misc::routing_id), 0xdeadbeefu);
    EXPECT_FALSE(chip->resets.ready());
}

TEST_F(BootTest, BootIsCheapAndFirmwareSleepsAfterwards) {
    boot();
    const auto booted = chip->cpu.core().ticks();
    RecordProperty("instructions", std::to_string(booted));
    EXPECT_LT(booted, 2'000'000u);
    run_ms(1000);
    EXPECT_TRUE(chip->cpu.core().waiting());
    EXPECT_LT(chip->cpu.core().ticks() - booted, 100'000u);
}

TEST_F(BootTest, IdleChipSchedulesNoEventsUntilAHostRequest) {
    boot();
    run_ms(1200);  // the processor is asleep at the watchdog's event
    const auto booted = chip->cpu.core().ticks();
    EXPECT_FALSE(sc_core::sc_pending_activity());
    run_ms(100'000);
    EXPECT_EQ(chip->cpu.core().ticks(), booted);
    EXPECT_EQ(controller(reset_regs::reset_count), 0u);
    set_misc(misc::trigger, 1);
    run_ms(60);
    const auto counter = [&] { return misc_word(misc::power, 1) >> 16; };
    const auto asked = counter();
    run_ms(50);
    EXPECT_NE(counter(), asked);
}

TEST_F(BootTest, PowerSamplingStartsAtTheFirstRead) {
    boot();
    run_ms(2000);
    const auto counter = [&] { return misc_word(misc::power, 1) >> 16; };
    const auto first = counter();
    EXPECT_NE(misc_word(misc::power, 0) & 0xffff, 0u);
    run_ms(60);
    EXPECT_NE(counter(), first);
}

TEST_F(BootTest, FirmwareThatSleepsWhileAHostWaitsIsReset) {
    boot();
    run_ms(2000);
    auto& core = chip->cpu.core();
    constexpr unsigned mie = 0x304;
    core.write_csr(mie, 0);  // disables all interrupts
    run_ms(100'000);
    EXPECT_EQ(controller(reset_regs::reset_count), 0u);
    set_misc(misc::trigger, 1);
    console.clear();
    EXPECT_TRUE(run_until_printed("ready: routing id 9", 2500)) << console;
    expect_in_order({"reset by watchdog", "ready"});
}

TEST_F(BootTest, PowerSamplesKeepChanging) {
    boot();
    set_misc(misc::trigger, 1);
    run_ms(1);
    const auto counter = [&] { return misc_word(misc::power, 1) >> 16; };
    auto last = counter();
    for (int sample = 0; sample < 5; ++sample) {
        run_ms(50);
        EXPECT_NE(counter(), last);
        last = counter();
        EXPECT_LE(misc_word(misc::power, 0) & 0xffff, 10000u);
        EXPECT_GT(misc_word(misc::power, 0) & 0xffff, 1000u);
    }
}

TEST_F(BootTest, FallsBackToSlotBWhenSlotAIsCorrupt) {
    build();
    chip->flash.bytes().data()[0x1000] ^= 0x01;  // in the payload
    EXPECT_TRUE(run_until_printed("ready: routing id")) << console;
    expect_in_order({"slot A refused: payload CRC mismatch", "boot ROM: slot B", "ready"});
    EXPECT_EQ(controller(reset_regs::boot_status) >> 16, 3u);
}

TEST_F(BootTest, EveryHeaderErrorIsNamed) {
    build();
    chip->flash.bytes().data()[0] ^= 0xff;
    chip->flash.bytes().data()[0x60000 + 8] ^= 0xff;
    EXPECT_TRUE(run_until_printed("waiting for recovery")) << console;
    expect_in_order({"slot A refused: no image (bad magic)", "slot B refused: header CRC mismatch",
                     "no usable image"});
}

TEST_F(BootTest, WithoutAnImageTheBootRomSleepsForRecovery) {
    build();
    std::fill_n(chip->flash.bytes().data(), MAP_FLASH_SIZE, 0xff);
    EXPECT_TRUE(run_until_printed("waiting for recovery")) << console;
    run_ms(10);
    EXPECT_TRUE(chip->cpu.core().waiting());
    EXPECT_EQ(stage(), reset_controller_regs::boot_status::stage_no_image);
    EXPECT_EQ(misc_word(misc::routing_id), 0xdeadbeefu);
    const auto before = chip->cpu.core().ticks();
    run_ms(1000);
    EXPECT_EQ(chip->cpu.core().ticks(), before);
}

TEST_F(BootTest, RecoveryStrapStopsBeforeTheFlash) {
    build("flash.img", {.straps = {.recovery = true}});
    EXPECT_TRUE(run_until_printed("recovery strap is set")) << console;
    run_ms(50);
    EXPECT_EQ(console.find("slot"), std::string::npos);
}

TEST_F(BootTest, FailedStageIsNamedAndTheChipStaysUnpublished) {
    build("flash.img", {.hbm_training_time = sc_core::sc_time(1, sc_core::SC_SEC)});
    EXPECT_TRUE(run_until_printed("boot stopped: stage 2/6 failed: HBM training")) << console;
    run_ms(3000);  // the watchdog is still fed
    EXPECT_EQ(misc_word(misc::routing_id), 0xdeadbeefu);
    EXPECT_EQ(controller(reset_regs::reset_count), 0u);
}

TEST_F(BootTest, UnknownGenerationStopsTheBoot) {
    build("flash.img", {.straps = {.generation = 9}});
    EXPECT_TRUE(run_until_printed("boot stopped: this firmware does not know chip generation 9"))
        << console;
    run_ms(3000);  // the watchdog is still fed
    EXPECT_EQ(misc_word(misc::routing_id), 0xdeadbeefu);
    EXPECT_EQ(controller(reset_regs::reset_count), 0u);
}

TEST_F(BootTest, WatchdogBiteResetsHungFirmwareAndTriesTheOtherSlot) {
    build("flash_hang.img");
    EXPECT_TRUE(run_until_printed("ready: routing id", 1000)) << console;
    expect_in_order({"payload hang", "reset by power-on, watchdog", "payload hang",
                     "did not become ready", "boot ROM: slot B", "ready"});
    EXPECT_GE(controller(reset_regs::reset_count), 2u);
}

/// Address of a symbol of the running firmware.
std::uint64_t firmware_symbol(const char* name) {
    return read_elf(std::string(FIRMWARE_FOLDER) + "/mgmt.elf").symbol(name).value();
}

TEST_F(BootTest, HungMainLoopIsReportedAndTheChipIsReset) {
    boot();
    auto& core = chip->cpu.core();
    chip->cpu.write_register(debug_target::pc, firmware_symbol("main_returned"));
    constexpr unsigned mstatus = 0x300, interrupts_on = 1 << 3;  // interrupts are still handled
    core.write_csr(mstatus, core.read_csr(mstatus).value() | interrupts_on);
    set_misc(misc::trigger, 1);  // wakes the firmware
    EXPECT_TRUE(run_until_printed("panic: watchdog: the main loop has not run", 1200)) << console;
    console.clear();
    EXPECT_TRUE(run_until_printed("ready: routing id 9", 2000)) << console;
    expect_in_order({"reset by watchdog", "ready"});
    EXPECT_EQ(controller(reset_regs::reset_count), 1u);
}

TEST_F(BootTest, StackOverflowHitsTheGuardAndIsReported) {
    boot();
    chip->cpu.core().write_x(2, firmware_symbol("stack_bottom") - 64);
    set_misc(misc::trigger, 1);  // wakes the firmware
    EXPECT_TRUE(run_until_printed("the stack overflowed into its guard", 900)) << console;
}

TEST_F(BootTest, PanicPrintsTheRegistersByName) {
    build("flash_panic.img");
    EXPECT_TRUE(run_until_printed("waiting for the watchdog")) << console;
    expect_in_order(
        {"panic: store access fault", "address 0000000070000000", "mcause", " ra ", " t6 "});
    EXPECT_EQ(stage(), reset_controller_regs::boot_status::stage_panic);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Programs that write to control blocks of their own and other cores, to semaphores by every alias,
// and notification rings placed on registers. Each has a defined effect, and simulated time
// advances.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/small_chip.h"
#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;
using test::small_chip;
using testing::ElementsAre;

/// Two cores that can access each other and themselves. Register accesses take no time, so only the
/// engines' own time prevents an endless loop of register writes.
class HostilePrograms : public test::engine_test {
protected:
    HostilePrograms()
        : engine_test({.access_latency = sc_core::SC_ZERO_TIME,
                       .register_latency = sc_core::SC_ZERO_TIME}) {}

    void connect() override {
        aperture.out.bind(chip.host_aperture);
        top.out.bind(chip.host_top);
        chip.connect(core, other, ram.in);
        other_reset.bind(other.reset);
        other_power.bind(other.power_lost);
    }
    /// Address of a register for engines.
    std::uint64_t axi(control r, engine e, unsigned index = 0) const {
        return small_chip::aperture_of(0) + at(r, e, index);
    }
    static std::uint64_t semaphore_at(sem window, unsigned index) {
        return small_chip::aperture_of(0) + neuron_core::semaphores_offset +
               semaphores_regs::offset(window, index);
    }
    static std::string writing(std::uint64_t address, std::uint64_t value, unsigned size = 4) {
        return fmt::format("write {:#x}.{}={:#x}\n", address, size, value);
    }
    static constexpr std::uint32_t start_bit = 1, stop_bit = 4, reset_bit = 16;

    small_chip chip{"chip"};
    neuron_core other{"other", {.number = 1}};
    irq_out other_reset{"other_reset"}, other_power{"other_power"};
};

TEST_F(HostilePrograms, AnEngineThatResetsItselfIsIdleAndGoesNoFurther) {
    run(Y, "reg_move rd=R1 imm=7\n" + writing(axi(control::control, Y), reset_bit) +
               "update S[1]+=1 nop\nhalt");
    EXPECT_EQ(state_of(Y), idle);
    EXPECT_EQ(get(control::pc, Y), 0u);
    EXPECT_EQ(get(control::retired, Y), 0u);
    EXPECT_EQ(reg(Y, 1), 0u);
    EXPECT_EQ(semaphore(1), 0);
    run(Y, "update S[1]+=1 nop\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
}

TEST_F(HostilePrograms, AResetByTheSecondOfThreeWritesDropsTheThird) {
    run(Y, fmt::format("write {:#x}.4=1 {:#x}.4={} {:#x}.4=1\nhalt",
                       semaphore_at(sem::semaphore_set, 1), axi(control::control, Y), reset_bit,
                       semaphore_at(sem::semaphore_set, 2)));
    EXPECT_EQ(state_of(Y), idle);
    EXPECT_EQ(semaphore(1), 1);
    EXPECT_EQ(semaphore(2), 0);
}

TEST_F(HostilePrograms, AnEngineThatRestartsItselfForEverTakesTime) {
    load(Y, "update S[1]+=1 nop\n" + writing(axi(control::control, Y), reset_bit | start_bit));
    start(Y);
    run_for(10);
    const int passes = semaphore(1);
    EXPECT_GT(passes, 10);
    EXPECT_LT(passes, 10'000 * 1.4 / 16) << "a control instruction takes 16 cycles of 1.2 GHz";
    set(control::control, Y, reset_bit);
    run_for(1);
    EXPECT_EQ(state_of(Y), idle);
    EXPECT_EQ(semaphore(1), passes);
}

TEST_F(HostilePrograms, RestartByARegisterStoreIsTheSame) {
    load(Y, fmt::format("update S[1]+=1 nop\nreg_move rd=R1 imm={}\n"
                        "reg_store ra=R1 type=uint32 address={:#x}",
                        reset_bit | start_bit, axi(control::control, Y)));
    start(Y);
    run_for(10);
    EXPECT_GT(semaphore(1), 10);
    set(control::control, Y, reset_bit);
    EXPECT_EQ(state_of(Y), idle);
}

TEST_F(HostilePrograms, AnEngineThatStopsItselfContinuesWhenToldTo) {
    load(Y, writing(axi(control::control, Y), stop_bit) + "update S[1]+=1 nop\nhalt");
    start(Y);
    run_for(10);
    EXPECT_EQ(state_of(Y), stopped);
    EXPECT_EQ(get(control::pc, Y), 1u);
    EXPECT_EQ(semaphore(1), 0);
    set(control::control, Y, 2);
    run_for(10);
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
}

TEST_F(HostilePrograms, StartOfARunningEngineIsIgnored) {
    run(Y, writing(axi(control::start_pc, Y), 0) + writing(axi(control::control, Y), start_bit) +
               "update S[1]+=1 nop\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
}

TEST_F(HostilePrograms, ARunningEngineCannotMoveItsProgramOrWriteItsRegisters) {
    run(Y, writing(axi(control::program_lo, Y), 0) + "update S[1]+=1 nop\nhalt");
    EXPECT_EQ(state_of(Y), halted) << "the base counts at START";
    set(control::program_lo, Y, static_cast<std::uint32_t>(program_at(Y)));
    run(Y, writing(axi(control::r, Y, 5), 1) + "halt");
    EXPECT_EQ(state_of(Y), failed);
    EXPECT_EQ(error_of(Y), 7u);
    EXPECT_EQ(reg(Y, 5), 0u);
}

TEST_F(HostilePrograms, RegistersThatCannotBeWrittenAndHolesFailTheWriter) {
    const std::uint64_t bad[] = {axi(control::status, V),
                                 axi(control::pc, V),
                                 axi(control::block, V),
                                 axi(control::wait_value, V) + 4,
                                 axi(control::control, V) + 2,
                                 small_chip::aperture_of(0) + 0x0270'0400,  // event 256
                                 semaphore_at(sem::semaphore_read, 3),
                                 small_chip::aperture_of(0) + neuron_core::aperture_size - 4,
                                 small_chip::aperture_of(2),
                                 std::uint64_t{1} << 46,
                                 ~std::uint64_t{3}};
    for (const std::uint64_t address : bad) {
        set(control::control, Y, reset_bit);
        run(Y, writing(address, 1) + "halt");
        EXPECT_EQ(state_of(Y), failed) << std::hex << address;
        EXPECT_EQ(error_of(Y), 7u) << std::hex << address;
        EXPECT_EQ(get(control::error_pc, Y), 0u);
    }
    EXPECT_EQ(state_of(V), idle);
}

TEST_F(HostilePrograms, AProgramMayDriveAnotherCoresEngine) {
    const auto words = words_of("update S[9]+=4 nop\nhalt");
    std::copy(words.begin(), words.end(), ram.bytes().data() + 0xc'0000);
    const auto theirs = [&](control r) { return axi(r, V) + neuron_core::aperture_size; };
    run(Y, writing(theirs(control::program_lo), 0xc'0000) +
               writing(theirs(control::program_words), 2) + writing(theirs(control::control), 1) +
               "halt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(other.sync().value(9), 4);
    EXPECT_EQ(core.sync().value(9), 0);
}

TEST_F(HostilePrograms, EnginesThatRestartEachOtherTakeTime) {
    load(Y, "update S[1]+=1 nop\n" + writing(axi(control::control, V), reset_bit | start_bit) +
                "nop\nnop\nnop\nnop\nhalt");
    load(V, "update S[2]+=1 nop\n" + writing(axi(control::control, Y), reset_bit | start_bit) +
                "nop\nnop\nnop\nnop\nhalt");
    start(Y);
    run_for(10);
    EXPECT_GT(semaphore(2), 10);
    EXPECT_LT(semaphore(2), 1000);
    set(control::control, Y, reset_bit);
    set(control::control, V, reset_bit);
    run_for(1);
    EXPECT_EQ(state_of(Y), idle);
    EXPECT_EQ(state_of(V), idle);
}

TEST_F(HostilePrograms, EnginesThatPostEachOtherForEverTakeTime) {
    load(Y, "again: wait S[1]>=1:subtract update S[2]+=1 nop\nbranch target=again");
    load(V, "again: wait S[2]>=1:subtract update S[1]+=1 nop\nbranch target=again");
    start(Y);
    start(V);
    core.sync().set(1, 1);
    run_for(100);
    EXPECT_TRUE(state_of(Y) == running || state_of(Y) == waiting);
    const auto retired = get(control::retired, Y);
    EXPECT_GT(retired, 1000u);
    EXPECT_LT(retired, 10'000u);
}

TEST_F(HostilePrograms, EveryAliasOfTheOwnSemaphoresHasItsEffect) {
    run(Y,
        fmt::format("write {:#x}.4=10 {:#x}.4=5 {:#x}.4=2\n"  // S[1] = 10, += 5, -= 2
                    "write {:#x}.4=0xffffffff {:#x}.4=0x80000000 {:#x}.4=1\n"
                    "write {:#x}.8=7 {:#x}.8=3\nhalt",
                    semaphore_at(sem::semaphore_set, 1), semaphore_at(sem::semaphore_increment, 1),
                    semaphore_at(sem::semaphore_decrement, 1),
                    semaphore_at(sem::semaphore_increment, 2),  // adds -1
                    semaphore_at(sem::semaphore_set, 3), semaphore_at(sem::event, 255),
                    // 8 bytes: adds 0 to the next semaphore.
                    semaphore_at(sem::semaphore_increment, 254),
                    semaphore_at(sem::semaphore_set, 4)));  // ... or sets it
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 13);
    EXPECT_EQ(semaphore(2), -1);
    EXPECT_EQ(semaphore(3), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(event(255), 1u);
    EXPECT_EQ(semaphore(254), 7);
    EXPECT_EQ(semaphore(255), 0);
    EXPECT_EQ(semaphore(4), 3);
}

TEST_F(HostilePrograms, AWriteThatLeavesASemaphoreWindowFails) {
    run(Y, writing(semaphore_at(sem::semaphore_decrement, 255), 1, 8) + "halt");
    EXPECT_EQ(error_of(Y), 7u);
    set(control::control, Y, reset_bit);
    run(Y, writing(semaphore_at(sem::event, 255), 1, 8) + "halt");
    EXPECT_EQ(error_of(Y), 7u);
    for (const unsigned size : {1, 2}) {
        set(control::control, Y, reset_bit);
        run(Y, writing(semaphore_at(sem::semaphore_set, 1), 1, size) + "halt");
        EXPECT_EQ(error_of(Y), 7u) << size;
    }
    EXPECT_EQ(semaphore(1), 0);
}

/// For notifications by instructions, bit 0 of an entry's bytes 0-3 is set: START.
TEST_F(HostilePrograms, ANotificationRingOnItsOwnControlBlockIsNoEndlessCircle) {
    const auto ring = [&](nq r, std::uint32_t value) {
        top.write(nq_at + notification_queue_regs::offset(r, 5 + 4), value);
    };
    ring(nq::slot_base_lo, static_cast<std::uint32_t>(axi(control::control, Y)));
    ring(nq::slot_size, 16);
    load(Y, "update S[1]+=1 halt");
    start(Y);
    run_for(10);
    EXPECT_GT(semaphore(1), 1) << "each HALT starts it again";
    EXPECT_LT(semaphore(1), 1000);
    ring(nq::slot_base_lo, static_cast<std::uint32_t>(axi(control::control, Y)) - 4);
    ring(nq::slot_size, 16);  // the payload is on CONTROL, the preceding words are not
    run_for(1);
    const int count = semaphore(1);
    run_for(10);
    EXPECT_EQ(semaphore(1), count);
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(HostilePrograms, ANotificationRingOnTheNotificationRegistersIsNoEndlessCircle) {
    const auto ring = [&](nq r, std::uint32_t value) {
        top.write(nq_at + notification_queue_regs::offset(r, 5 + 4), value);
    };
    ring(nq::slot_base_lo, static_cast<std::uint32_t>(small_chip::top_of(0) + nq_at +
                                                      notification_queue_regs::offset(nq::post)));
    ring(nq::slot_size, 16);
    run(Y, "notify payload=1\nnotify payload=2\nhalt");
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(HostilePrograms, AProgramInTheEnginesOwnRegistersRuns) {
    const auto words = words_of("update S[1]+=3 nop\nhalt code=5");
    for (unsigned n = 0; n < words.size() / 4; ++n) {
        std::uint32_t word;
        std::memcpy(&word, words.data() + 4 * n, 4);
        set(control::r, Y, word, n);
    }
    set(control::program_lo, Y, static_cast<std::uint32_t>(axi(control::r, Y)));
    set(control::program_words, Y, 2);
    start(Y);
    run_for(10);
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 3);
}

TEST_F(HostilePrograms, AProgramInTheSbufRunsAndInRegistersThatCannotBeReadFails) {
    const auto words = words_of("update S[1]+=3 nop\nhalt");
    std::copy(words.begin(), words.end(), core.sbuf().data() + 0x1000);
    set(control::program_lo, Y, static_cast<std::uint32_t>(small_chip::aperture_of(0) + 0x1000));
    set(control::program_words, Y, 2);
    start(Y);
    run_for(10);
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 3);
    set(control::program_lo, Y, static_cast<std::uint32_t>(axi(control::control, V)));
    start(Y);
    run_for(10);
    EXPECT_EQ(state_of(Y), failed);
    EXPECT_EQ(error_of(Y), 6u);
}

TEST_F(HostilePrograms, AProgramAtTheEndOfTheAddressSpaceFailsToBeFetched) {
    for (const std::uint64_t base :
         {~std::uint64_t{63}, std::uint64_t{1} << 63, std::uint64_t{0x1'0000'0000}}) {
        set(control::control, Y, reset_bit);
        set(control::program_lo, Y, static_cast<std::uint32_t>(base));
        set(control::program_hi, Y, static_cast<std::uint32_t>(base >> 32));
        set(control::program_words, Y, 0xffff'ffff);
        for (const std::uint32_t pc : {0u, 1u, 0xffff'fffeu}) {
            set(control::control, Y, reset_bit);
            set(control::start_pc, Y, pc);
            start(Y);
            run_for(10);
            EXPECT_EQ(state_of(Y), failed) << std::hex << base;
            EXPECT_EQ(error_of(Y), 6u) << std::hex << base;
            EXPECT_EQ(get(control::error_pc, Y), pc);
        }
    }
}

TEST_F(HostilePrograms, AChangedProgramIsExecutedAsItWasUntilAFlush) {
    const auto with = [&](const char* between) {
        // The WRITEs change the NOP's update from S[1] to S[2].
        const std::string head = fmt::format(
            "reg_move rd=R1 imm={}\nreg_store ra=R1 type=uint8 "
            "address={:#x}\n",
            2, program_at(Y) + 3 * 64 + 7);
        return head + between + "\nupdate S[1]+=1 nop\nhalt";
    };
    run(Y, with("nop"));
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
    EXPECT_EQ(semaphore(2), 0);
    run(Y, with("flush"));
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
    EXPECT_EQ(semaphore(2), 1);
}

TEST_F(HostilePrograms, ALoopThatNeverEndsStopsWhenToldTo) {
    for (const char* text :
         {"again: branch target=again", "again: nop\nbranch target=again",
          "again: reg_alu op=add rd=R1 ra=R1 imm=1\nbranch target=again",
          "again: update S[1]+=1 nop\nbranch target=again", "again: flush\nbranch target=again",
          "again: call rd=R1 target=again"}) {
        load(Y, text);
        start(Y);
        run_for(50);
        EXPECT_EQ(state_of(Y), running) << text;
        EXPECT_LT(get(control::retired, Y), 50 * 1200 / 16 + 65) << text;
        set(control::control, Y, stop_bit);
        run_for(1);
        EXPECT_EQ(state_of(Y), stopped) << text;
        set(control::control, Y, 2);
        run_for(1);
        EXPECT_EQ(state_of(Y), running) << text;
        set(control::control, Y, reset_bit);
        run_for(1);
        EXPECT_EQ(state_of(Y), idle) << text;
    }
}

TEST_F(HostilePrograms, AResetEndsALongDelayAtOnce) {
    load(Y, "delay cycles=0xffffffff\nhalt");
    start(Y);
    run_for(10);
    EXPECT_EQ(state_of(Y), running);
    set(control::control, Y, reset_bit);
    load(Y, "update S[1]+=1 nop\nhalt");
    start(Y);
    run_for(1);
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
}

TEST_F(HostilePrograms, OnlyWritesThatTheProgramNamesReachTheMemoryPort) {
    load(V,
         "copy dst=sbuf[0:128, 4096] fp32 [64:1] a=sbuf[0:128, 0] fp32 [64:1]\n"
         "memset dst=sbuf[0:128, 8192] fp32 [64:1] imm=1.0\nhalt");
    load(Y, "write 0x200.4=1 0x300.8=2\nreg_store ra=R1 type=uint16 address=0x400\nhalt");
    start(V);
    start(Y);
    run_for(10);
    EXPECT_EQ(state_of(V), halted);
    EXPECT_EQ(state_of(Y), halted);
    std::erase_if(chip.writes, [](const auto& w) { return w.address >= 0x1000 && w.length == 16; });
    EXPECT_THAT(chip.writes, ElementsAre(small_chip::access{0x200, 4}, small_chip::access{0x300, 8},
                                         small_chip::access{0x400, 2}));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "platform/app/scenario/files/load.h"
#include "platform/app/scenario/run/scenario_play.h"
#include "platform/framework/kernel/run_loop.h"
#include "tests/support/bar0.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/stub/fake_device.h"

namespace trn::scenario {
namespace {

using testing::HasSubstr;

/// Steps against the stub's fake device; the platform around it is empty.
/// The only chip's host.
struct one_host final : host_set {
    explicit one_host(device& chip) : chip(chip) {}
    std::vector<std::string> chips() override { return {"chip0"}; }
    void run_each(const std::vector<std::size_t>& which, const work& does) override {
        for (const auto number : which) does(number, chip);
    }
    device& chip;
};

struct ScenarioSteps : testing::Test {
    test::fake_device chip;
    run_loop loop{{}};
    control methods{loop, {"0", "none", "0"}};
    std::optional<device> host;
    const test::scratch_folder folder;
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    /// Plays the steps; returns "" on success, otherwise the failure.
    std::string play(const std::string& steps) {
        if (!host) {
            chip.answer_resets();
            host.emplace(chip.transport());
            host->check(trn_probe(*host));
            host->check(trn_reset_device(*host));
        }
        const auto file = folder / "scenario.yaml";
        std::ofstream(file) << "scenario: x\nboard: b\nsteps:\n" << steps;
        const auto all = load(file);
        mistakes_of(all).throw_if_any();
        one_host hosts(*host);
        const progress report(nowhere);
        scenario_context on(*host, hosts, methods, all.at(0).seed, report);
        try {
            trn::scenario::play(all[0], on);
        } catch (const step_failure& wrong) {
            return wrong.what();
        }
        return "";
    }
    ~ScenarioSteps() override { close(nowhere); }
};

TEST_F(ScenarioSteps, CopyAndVerify) {
    EXPECT_EQ(play("  - copy: {from: host@3, to: hbm0@16 MiB, size: 65537 B, pattern: a}\n"
                   "  - copy: {from: hbm0@16 MiB, to: hbm3@0x1000001, size: 65537 B}\n"
                   "  - copy: {from: hbm3@0x1000001, to: host@1, size: 65537 B}\n"
                   "  - verify: {at: hbm3@0x1000001, size: 65537 B, pattern: a}\n"
                   "  - memset: {at: hbm1@5, size: 1000001 B, value: 0x5a}\n"
                   "  - verify: {at: hbm1@5, size: 1000001 B, value: 0x5a}\n"
                   "  - scrub: {stack: 2, size: 2 MiB, value: 7}\n"),
              "");
}

TEST_F(ScenarioSteps, DetectWrongData) {
    EXPECT_THAT(play("  - fill: {at: hbm0@0, size: 64 B, pattern: a}\n"
                     "  - verify: {at: hbm0@0, size: 64 B, pattern: b}\n"),
                HasSubstr("byte 0x0"));
}

TEST_F(ScenarioSteps, ExpectFailures) {
    EXPECT_EQ(play("  - copy: {from: host, to: 'axi@0x900000000000', size: 4 KiB}\n"
                   "    fails: aborted\n    saying: address error\n"
                   "  - copy: {from: host, to: hbm0, size: 4 KiB}\n    fails: not_ready\n"),
              "");
    EXPECT_THAT(play("  - semaphore: {core: 0, index: 0, set: 1}\n    fails: aborted\n"),
                HasSubstr("but the step succeeded"));
    EXPECT_THAT(play("  - semaphore: {core: 9, index: 0, set: 1}\n    fails: aborted\n"),
                HasSubstr("no core 9"));
    EXPECT_THAT(play("  - semaphore: {core: 9, index: 0, set: 1}\n"), HasSubstr("no core 9"));
}

TEST_F(ScenarioSteps, MayFailWithAnAllowedStatusAndMaySucceed) {
    const std::string wild = "  - copy: {from: host, to: 'axi@0x900000000000', size: 4 KiB}\n";
    EXPECT_EQ(play(wild + "    may_fail: [timed_out, aborted]\n"
                          "  - semaphore: {core: 0, index: 0, set: 1}\n    may_fail: aborted\n"),
              "");
    EXPECT_THAT(play("  - semaphore: {core: 9, index: 0, set: 1}\n    may_fail: [aborted, busy]\n"),
                HasSubstr("no core 9"));
}

TEST_F(ScenarioSteps, RefuseRangesPastTheEndOfTheAddressSpace) {
    const auto expect = [&](const std::string& step) {
        EXPECT_THAT(play("  - " + step + "\n"), HasSubstr("pass the end of the address space"))
            << step;
    };
    expect("copy: {from: host@0xffffffffffff0000, to: hbm0, size: 65 KiB}");
    expect("copy: {from: hbm0, to: host@0xfffffffffffffff0, size: 64 B}");
    expect(
        "submit: {job: a, from: host@0xffffffffffff0000, to: hbm0, size: 65 KiB}\n"
        "  - finish: {job: a}");
    expect("memset: {at: 'axi@0xfffffffffffffff0', size: 64 B, value: 1}");
    expect("fill: {at: 'axi@0xfffffffffffffff0', size: 64 B, pattern: a}");
    expect("verify: {at: 'axi@0xfffffffffffffff0', size: 64 B, pattern: a}");
    expect(
        "descriptor: {m2s: 'axi@0xfffffffffffffff0', s2m: hbm0@2 MiB, index: 1,"
        " from: hbm2@4 MiB, to: hbm3@8 MiB, size: 64 B}");
}

TEST_F(ScenarioSteps, RunOnUserRings) {
    EXPECT_EQ(play("  - fill: {at: hbm2@4 MiB, size: 300 B, pattern: r}\n"
                   "  - ring: {engine: 5, queue: 2, m2s: hbm0@1 MiB, s2m: hbm0@2 MiB, length: 32}\n"
                   "  - descriptor: {m2s: hbm0@1 MiB, s2m: hbm0@2 MiB, from: hbm2@4 MiB,"
                   " to: hbm3@8 MiB, size: 300 B}\n"
                   "  - doorbell: {engine: 5, queue: 2, m2s: 1, s2m: 1}\n"
                   "  - wait: 10 us\n"
                   "  - verify: {at: hbm3@8 MiB, size: 300 B, pattern: r}\n"
                   "  - descriptor: {m2s: hbm0@1 MiB, s2m: hbm0@2 MiB, index: 1, from: hbm2@4 MiB,"
                   " to: hbm3@8 MiB, size: 300 B, ring_id: 2}\n"
                   "  - doorbell: {engine: 5, queue: 2, m2s: 1, s2m: 1}\n"
                   "  - engine: {engine: 5, is: abort, within: 10 us}\n"
                   "  - release: {engine: 5, queue: 2}\n"),
              "");
}

TEST_F(ScenarioSteps, RunCopiesInTheBackground) {
    EXPECT_EQ(play("  - submit: {job: a, from: host, to: hbm0, size: 1 MiB}\n"
                   "  - submit: {job: b, from: host, to: hbm1, size: 1 MiB, core: 1}\n"
                   "  - finish: {job: b}\n"
                   "  - reset: {cores: 0x1}\n"
                   "  - finish: {job: a}\n    fails: aborted\n"),
              "");
    EXPECT_THAT(play("  - finish: {job: c}\n"), HasSubstr("no job 'c'"));
}

TEST_F(ScenarioSteps, ReadAndWriteRegisters) {
    using enum misc_ram_regs::reg;
    const auto word = [](misc_ram_regs::reg r) {
        return fmt::format("{:#x}", test::bar0::offset(r));
    };
    EXPECT_EQ(
        play("  - write_register: {offset: " + word(runtime) + ", value: 0x1234}\n" +
             "  - read_register: {offset: " + word(runtime) + ", equals: 0x34, mask: 0xff}\n" +
             "  - write_register: {offset: " + word(trigger) + ", value: 1, guarded: true}\n" +
             "    fails: invalid_argument\n"),
        "");
    EXPECT_THAT(
        play("  - read_register: {offset: " + word(runtime) + ", equals: 1, within: 50 us}\n"),
        HasSubstr("0x1234 instead of 0x1"));
}

}  // namespace
}  // namespace trn::scenario

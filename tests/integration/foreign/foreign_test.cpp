// SPDX-License-Identifier: Apache-2.0
// Models of others' shape on the routers of a chip: traffic by its processor, by DMA, by a host and
// by a foreign processor; interrupts, resets and faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/memory/hbm/hbm.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/bridges/reports.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/base_protocol.h"
#include "platform/framework/tlm/memory.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/values/pattern.h"
#include "tests/integration/foreign/acme_cpu.h"
#include "tests/integration/foreign/acme_ddr.h"
#include "tests/integration/foreign/acme_gpio_regs.h"
#include "tests/integration/foreign/acme_kinds.h"
#include "tests/integration/foreign/acme_timer.h"

namespace trn::test {
namespace {

using acme::op;
using sc_core::sc_time;
using testing::HasSubstr;

constexpr std::uint64_t timer_at = 0x10'0d00'0000, gpio_at = 0x10'0e00'0000,
                        ddr_at = 0x10'0f00'0000, program_at = 0x100'0000, data_at = 0x110'0000;

sc_time seconds(std::int64_t count) {
    return {static_cast<double>(count), sc_core::SC_SEC};
}
sc_time us(double count) {
    return {count, sc_core::SC_US};
}

class ForeignModels : public testing::Test {
protected:
    void build(std::vector<std::string> set = {}, const std::string& firmware = {}) {
        log::replace_sink({});
        platform_ = std::make_unique<platform>(
            acme::kinds(), platform_options{.board = "tests/integration/foreign/chip.yaml",
                                            .set = std::move(set),
                                            .firmware = firmware});
    }
    template <class Module>
    Module& at(const std::string& name) {
        auto* const found = platform_->modules().find<Module>(name);
        if (found == nullptr) throw std::runtime_error("no " + name);
        return *found;
    }
    acme::cpu<32>& cpu() { return at<acme::cpu<32>>("cpu"); }
    acme::ddr& ddr() { return at<acme::ddr>("ddr"); }

    stop_reason run_until(const std::function<bool()>& condition, const sc_time& limit) {
        run_loop::goal goal{"the test", "its condition"};
        goal.condition = condition;
        goal.until = sc_core::sc_time_stamp() + limit;
        return platform_->loop().run(std::move(goal));
    }
    void run(const sc_time& duration) {
        run_loop::goal goal{"the test", "time"};
        goal.until = sc_core::sc_time_stamp() + duration;
        platform_->loop().run(std::move(goal));
    }
    /// Runs a program on the host.
    void drive(const std::function<void(device&)>& work) {
        host_ =
            std::make_unique<host_cpu>(*platform_->functions().front().port, host_cpu::config{});
        ASSERT_EQ(platform_->boot(seconds(1)).cause, stop_reason::kind::condition);
        host_->run([&] {
            device chip(host_->transport());
            chip.check(trn_probe(chip));
            chip.check(trn_reset_device(chip));
            work(chip);
        });
        EXPECT_EQ(run_until([&] { return host_->idle(); }, seconds(10)).cause,
                  stop_reason::kind::condition);
        host_->rethrow();
    }
    /// Starts the foreign processor, which polls for the first word of its program.
    void start_cpu(const std::vector<std::uint64_t>& program) {
        auto& stack = at<hbm>("chip0.hbm0");
        std::memcpy(stack.bytes().data() + program_at, program.data(), program.size() * 8);
    }
    std::uint32_t word_in_hbm(std::uint64_t address) {
        std::uint32_t word = 0;
        std::memcpy(&word, at<hbm>("chip0.hbm0").bytes().data() + address, sizeof word);
        return word;
    }

    std::unique_ptr<platform> platform_;
    std::unique_ptr<host_cpu> host_;
};

/// Collects warnings of a type, which the tests' main function makes errors.
class warnings {
public:
    explicit warnings(const char* type) {
        sc_core::sc_report_handler::set_actions(type, sc_core::SC_WARNING,
                                                sc_core::SC_CACHE_REPORT);
        texts().clear();
        type_ = type;
        sc_core::sc_report_handler::set_handler(
            [](const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
                if (type_ == report.get_msg_type())
                    texts().emplace_back(report.get_msg());
                else
                    sc_core::sc_report_handler::default_handler(report, actions);
            });
    }
    ~warnings() { sc_core::sc_report_handler::set_handler(nullptr); }
    warnings(const warnings&) = delete;
    warnings& operator=(const warnings&) = delete;
    static std::vector<std::string>& texts() {
        static std::vector<std::string> all;
        return all;
    }

private:
    static inline std::string type_;
};

/// Words that program.c leaves in the processor's SRAM.
struct result {
    std::uint32_t done, reset_value, written, line, fired, unused;
    std::uint64_t sum, cause;
    std::uint32_t hangs, boots;
};

TEST_F(ForeignModels, AnswerTheManagementProcessorAndInterruptItThroughThePlic) {
    build({}, FOREIGN_PROGRAM);
    result words{};
    const auto how = run_until(
        [&] {
            auto& sram = at<memory>("chip0.management.sram");
            std::memcpy(&words, sram.bytes().data() + 0x8'0000, sizeof words);
            return words.done != 0 || words.cause != 0;
        },
        seconds(1));
    EXPECT_EQ(how.cause, stop_reason::kind::condition) << how.text;
    EXPECT_EQ(words.cause, 0u);
    EXPECT_EQ(words.reset_value, 0x1234u);
    EXPECT_EQ(words.written, 0x55u);
    EXPECT_EQ(words.line, 13u);
    EXPECT_EQ(words.fired, 1u);
    EXPECT_EQ(words.sum, 63u * 64 * 127 / 6);
    EXPECT_GE(ddr().responses(), 128u);
    EXPECT_EQ(ddr().open(), 0u);
}

TEST_F(ForeignModels, TakeDmaOfSeveralEnginesAtATime) {
    build();
    drive([&](device& chip) {
        constexpr std::uint64_t size = 64 << 10;
        std::vector<std::uint8_t> bytes(size), back(size);
        pattern(1).fill(bytes);
        chip.check(trn_write(chip, 0, ddr_at, bytes.data(), size));
        chip.check(trn_read(chip, 1, back.data(), ddr_at, size));
        EXPECT_EQ(back, bytes);
        std::array<trn_job, 4> jobs{};
        for (unsigned n = 0; n < jobs.size(); ++n)
            chip.check(trn_submit(chip, 2 * n, trn_hbm_address(chip, 0, (64 + n) << 20),
                                  ddr_at + n * (size / 4), size / 4, &jobs[n]));
        for (const trn_job job : jobs) chip.check(trn_wait(chip, job));
        for (unsigned n = 0; n < jobs.size(); ++n) {
            std::vector<std::uint8_t> part(size / 4);
            chip.check(trn_read(chip, 0, part.data(), trn_hbm_address(chip, 0, (64 + n) << 20),
                                part.size()));
            EXPECT_TRUE(std::equal(part.begin(), part.end(), bytes.begin() + n * (size / 4)));
        }
    });
    EXPECT_GT(ddr().max_open(), 1u);
    EXPECT_EQ(ddr().open(), 0u);
}

TEST_F(ForeignModels, AForeignProcessorUsesHbmByPointerAndDevicesByTransactions) {
    build();
    constexpr std::int32_t loops = 1000;
    start_cpu({code(op::set, 0, data_at), code(op::to_base, 0), code(op::set, 1, 7),
               code(op::set, 2, loops),
               // loop: the word of HBM grows
               code(op::store, 1, 0), code(op::load, 1, 0), code(op::add, 1, 3),
               code(op::repeat, 2, -4), code(op::store, 1, 4),
               // the foreign memory, by a foreign bridge
               code(op::set, 0, ddr_at >> 12), code(op::shift, 0, 12), code(op::to_base, 0),
               code(op::store, 1, 64), code(op::load, 3, 64), code(op::set, 0, data_at),
               code(op::to_base, 0), code(op::store, 3, 8), code(op::halt)});
    EXPECT_EQ(run_until([&] { return cpu().has_halted() || cpu().has_failed(); }, seconds(1)).cause,
              stop_reason::kind::condition);
    EXPECT_TRUE(cpu().has_halted());
    EXPECT_EQ(word_in_hbm(data_at + 4), 7u + 3 * loops);
    EXPECT_EQ(word_in_hbm(data_at + 8), 7u + 3 * loops);
    EXPECT_GT(cpu().by_pointer(), 5u * loops);
    EXPECT_EQ(ddr().responses(), 2u);
}

TEST_F(ForeignModels, AForeignInterruptEndsTheWaitOfAForeignProcessorAtItsTime) {
    build();
    start_cpu({code(op::set, 0, timer_at >> 12), code(op::shift, 0, 12), code(op::to_base, 0),
               code(op::set, 1, 100'000), code(op::store, 1, acme::timer::load), code(op::wait_irq),
               code(op::load, 2, acme::timer::fired), code(op::set, 0, data_at),
               code(op::to_base, 0), code(op::store, 2, 0), code(op::halt)});
    const sc_time start = sc_core::sc_time_stamp();
    EXPECT_EQ(run_until([&] { return cpu().has_halted() || cpu().has_failed(); }, seconds(1)).cause,
              stop_reason::kind::condition);
    EXPECT_TRUE(cpu().has_halted());
    EXPECT_EQ(word_in_hbm(data_at), 1u);
    EXPECT_GE(cpu().halted_at() - start, us(100));
    EXPECT_LT(cpu().halted_at() - start, us(110));
}

TEST_F(ForeignModels, AProcessorOf64BitsNeedsNoWidthAdapter) {
    build({"cpu=acme_cpu64"});
    start_cpu({code(op::set, 1, 5), code(op::set, 0, data_at), code(op::to_base, 0),
               code(op::store, 1, 0), code(op::halt)});
    auto& wide = at<acme::cpu<64>>("cpu");
    EXPECT_EQ(run_until([&] { return wide.has_halted(); }, seconds(1)).cause,
              stop_reason::kind::condition);
    EXPECT_EQ(word_in_hbm(data_at), 5u);
    EXPECT_EQ(sc_core::sc_find_object("cpu_data_width"), nullptr);
}

TEST_F(ForeignModels, AccessesOutsideOfAllRangesFailAndGrantNoPointer) {
    build();
    start_cpu({code(op::set, 0, 0x7fff'f000), code(op::shift, 0, 16), code(op::to_base, 0),
               code(op::load, 1, 0), code(op::halt)});
    EXPECT_EQ(run_until([&] { return cpu().has_halted() || cpu().has_failed(); }, seconds(1)).cause,
              stop_reason::kind::condition);
    EXPECT_TRUE(cpu().has_failed());
}

TEST_F(ForeignModels, AHostAndAForeignProcessorUseAGeneratedRegisterBlock) {
    build();
    using acme_gpio_regs::reg;
    const auto offset = [](reg r) { return acme_gpio_regs::offset(r); };
    const auto constant = [&](reg r) { return static_cast<std::int32_t>(offset(r)); };
    drive([&](device& chip) {
        constexpr std::uint64_t window = 0x8000'0000, in_window = gpio_at - 0x10'0000'0000;
        const auto write = [&](reg r, std::uint32_t value) {
            chip.check(trn_bar_write_raw(chip, window + in_window + offset(r), value));
        };
        const auto read = [&](reg r) {
            std::uint32_t value = 0;
            chip.check(trn_bar_read(chip, window + in_window + offset(r), &value));
            return value;
        };
        write(reg::enable, ~5u);
        EXPECT_EQ(read(reg::enable), 5u);
        write(reg::out, 7);
        write(reg::out, 2);
        EXPECT_EQ(read(reg::out), 5u);
        EXPECT_EQ(read(reg::risen), 7u);
        EXPECT_EQ(read(reg::risen), 0u);
        EXPECT_EQ(read(reg::changed), 7u);
        write(reg::changed, ~5u);
        EXPECT_EQ(read(reg::changed), 2u);
        EXPECT_EQ(read(reg::seen), 0u);
        EXPECT_EQ(read(reg::seen), ~0u);
        write(reg::count, 3);
        write(reg::count, 4);
        EXPECT_EQ(read(reg::count), 7u);
        write(reg::clear, 1);
        EXPECT_EQ(read(reg::clear), 0u);
        write(reg::fill, 0);
        EXPECT_EQ(read(reg::fill), ~0u);
        write(reg::low, ~6u);
        EXPECT_EQ(read(reg::low), 6u);
        write(reg::owner, 11);
    });
    start_cpu({code(op::set, 0, gpio_at >> 12), code(op::shift, 0, 12), code(op::to_base, 0),
               code(op::set, 1, 12), code(op::store, 1, constant(reg::owner)),
               code(op::load, 2, constant(reg::owner)), code(op::load, 3, constant(reg::out)),
               code(op::set, 0, data_at), code(op::to_base, 0), code(op::store, 2, 0),
               code(op::store, 3, 4), code(op::halt)});
    EXPECT_EQ(run_until([&] { return cpu().has_halted() || cpu().has_failed(); }, seconds(1)).cause,
              stop_reason::kind::condition);
    EXPECT_EQ(word_in_hbm(data_at), 11u);
    EXPECT_EQ(word_in_hbm(data_at + 4), 5u);
}

// --- Faults

TEST_F(ForeignModels, AnErrorThatAForeignTargetReportsFailsItsAccess) {
    build();
    const warnings log(bridge_report::target_error_type);
    start_cpu({code(op::set, 0, timer_at >> 12), code(op::shift, 0, 12), code(op::to_base, 0),
               code(op::set, 1, acme::timer::throws), code(op::store, 1, acme::timer::misbehave),
               code(op::halt)});
    EXPECT_EQ(run_until([&] { return cpu().has_halted() || cpu().has_failed(); }, seconds(1)).cause,
              stop_reason::kind::condition);
    EXPECT_TRUE(cpu().has_failed());
    ASSERT_FALSE(log.texts().empty());
    EXPECT_THAT(log.texts().front(), HasSubstr("the register file is broken"));
    EXPECT_THAT(log.texts().front(), HasSubstr("timer_in_bridge"));
    run(us(10));  // the simulation continues
}

TEST_F(ForeignModels, ATargetThatNeverAnswersIsNamedByTheStallReport) {
    build();
    start_cpu({code(op::set, 0, timer_at >> 12), code(op::shift, 0, 12), code(op::to_base, 0),
               code(op::set, 1, acme::timer::hangs), code(op::store, 1, acme::timer::misbehave),
               code(op::halt)});
    run(us(100));
    EXPECT_FALSE(cpu().has_failed());
    EXPECT_THAT(platform_->loop().stall_report(),
                HasSubstr("timer_in_bridge waits for the foreign target to answer a write of 4 "
                          "bytes at 0x10"));
}

TEST_F(ForeignModels, AResetEndsTheWaitOfTheManagementProcessor) {
    build({}, FOREIGN_PROGRAM);
    auto& sram = at<memory>("chip0.management.sram");
    result words{};
    words.hangs = 1;
    std::memcpy(sram.bytes().data() + 0x8'0000, &words, sizeof words);
    const auto how = run_until(
        [&] {
            std::memcpy(&words, sram.bytes().data() + 0x8'0000, sizeof words);
            return words.done != 0;
        },
        seconds(10));
    EXPECT_EQ(how.cause, stop_reason::kind::condition) << how.text;
    EXPECT_EQ(words.boots, 2u);
    EXPECT_THAT(platform_->loop().stall_report(), HasSubstr("timer_in_bridge waits for"));
}

TEST_F(ForeignModels, AMemoryThatNeverRespondsHoldsUpDmaUntilItIsReset) {
    build({"is_mute=true"});
    drive([&](device& chip) {
        std::array<std::uint8_t, 64> bytes{};
        trn_job job = 0;
        chip.check(trn_submit(chip, 0, ddr_at, trn_hbm_address(chip, 0, 64 << 20), 64, &job));
        chip.check(trn_sleep(chip, 100'000));
        bool done = false;
        chip.check(trn_poll(chip, job, &done));
        EXPECT_FALSE(done);
        EXPECT_EQ(ddr().open(), 1u);
        EXPECT_THAT(platform_->loop().stall_report(), HasSubstr("ddr_in_bridge waits for"));
        chip.check(trn_reset_device(chip));
        chip.check(
            trn_write(chip, 0, trn_hbm_address(chip, 0, 64 << 20), bytes.data(), bytes.size()));
    });
}

TEST_F(ForeignModels, AMemoryThatRepeatsAResponseIsReportedAndItsDataArrive) {
    base_protocol::set_policy(base_protocol::policy::off);  // the bridge reports it
    build({"breaks_protocol=true"});
    const warnings log(bridge_report::protocol_type);
    drive([&](device& chip) {
        std::vector<std::uint8_t> bytes(256), back(256);
        pattern(2).fill(bytes);
        chip.check(trn_write(chip, 0, ddr_at, bytes.data(), bytes.size()));
        chip.check(trn_read(chip, 0, back.data(), ddr_at, back.size()));
        EXPECT_EQ(back, bytes);
    });
    ASSERT_FALSE(log.texts().empty());
    EXPECT_THAT(log.texts().front(), HasSubstr("ddr_in_bridge: the target sends phase BEGIN_RESP"));
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// Resets, power loss, memory errors and DMA aborts during programs: states and messages of engines,
// driver and firmware; other engines and cores continue. Spec: doc/spec/neuron-core.md 5.3, 10.1;
// device-contract 5.3, 9.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/in_process/in_process_hosts.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/host/values/pattern.h"
#include "tests/support/engine_program.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

using isa::engine;
using reg = host_engine::reg;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr engine every_engine[] = {engine::tensor, engine::scalar, engine::gpsimd, engine::vector,
                                   engine::sync};

/// A program that does not end; it increments semaphore 100 + engine number about every 50 us,
/// because resets take long in simulated time.
std::string endless(engine e) {
    const std::string counts = fmt::format("update S[{}]+=1 ", 100 + static_cast<unsigned>(e));
    const std::string body =
        e == engine::tensor
            ? "load_stationary a=sbuf[0:128, 0] bf16 [128:1]\n" + counts +
                  "multiply dst=psum[0:128, 0] fp32 [64:1] a=sbuf[0:128, 0] bf16 [64:1]"
        : e == engine::scalar ? counts +
                                    "activate op0=exp dst=sbuf[0:128, 4096] fp32 [64:1] "
                                    "a=sbuf[0:128, 2048] fp32 [64:1]"
        : e == engine::sync ? counts + "nop"
                            : counts +
                                  "copy dst=sbuf[0:128, 16384] fp32 [256:1] "
                                  "a=sbuf[0:128, 8192] fp32 [256:1]";
    return "again: " + body + "\ndelay cycles=60000\nbranch target=again";
}

struct entry {
    std::uint32_t type, source, payload;
    bool operator==(const entry&) const = default;
};
std::ostream& operator<<(std::ostream& out, const entry& e) {
    return out << "{type " << e.type << ", source " << e.source << ", payload 0x" << std::hex
               << e.payload << std::dec << "}";
}

class EngineFaults : public testing::Test {
protected:
    void SetUp() override { boot("trn3-chip"); }

    void boot(const std::string& board) {
        log::replace_sink({});
        misuse::set_policy_of_all(misuse::policy::count);
        platform_ = std::make_unique<platform>(kinds(), platform_options{.board = board});
        platform_->methods().consoles().listen(
            [this](std::string_view, std::string_view text) { printed_ += text; });
        hosts_ = std::make_unique<in_process_hosts>(platform_->functions());
        for (std::size_t n = 0; n < hosts_->chips().size(); ++n) hosts_->attach(n);
        ASSERT_EQ(platform_->boot(sc_core::sc_time(1, sc_core::SC_SEC)).cause,
                  stop_reason::kind::condition);
    }
    /// Runs `work` on a chip's host with a loaded driver.
    void drive(const std::function<void(device&)>& work, std::size_t chip = 0) {
        hosts_->start({chip}, [&](std::size_t, device& on) {
            on.check(trn_probe(on));
            on.check(trn_reset_device(on));
            work(on);
        });
        run_loop::goal goal{"the test", "its host"};
        goal.condition = [this] { return hosts_->idle(); };
        const auto how = platform_->loop().run(std::move(goal));
        hosts_->rethrow();
        ASSERT_TRUE(hosts_->idle()) << how.text;
    }
    void inject(const std::string& module, const std::string& fault,
                const nlohmann::json& arguments = nlohmann::json::object()) {
        platform_->methods().call("inject",
                                  {{"module", module}, {"fault", fault}, {"arguments", arguments}});
    }

    static std::int32_t semaphore(device& on, unsigned core, unsigned index) {
        std::int32_t value = 0;
        on.check(trn_semaphore_read(on, TRN_SYNC_CORE, core, index, &value));
        return value;
    }
    /// Returns whether the engine still executes its endless() program.
    static bool goes_on(device& on, engine e, unsigned core = 0) {
        const unsigned index = 100 + static_cast<unsigned>(e);
        const auto before = semaphore(on, core, index);
        on.check(trn_sleep(on, 150'000));
        return semaphore(on, core, index) > before;
    }
    static void start_all(device& on, unsigned core) {
        for (const engine e : every_engine) host_engine(on, e, core).start(endless(e));
        for (const engine e : every_engine) EXPECT_TRUE(goes_on(on, e, core)) << name_of(e);
    }
    static void stop_all(device& on, unsigned core) {
        for (const engine e : every_engine) host_engine(on, e, core).reset();
    }
    /// Checks that a program computes correctly after the fault.
    static void expect_computes(device& on, unsigned core = 0) {
        const host_engine vector(on, engine::vector, core);
        vector.start(
            "memset dst=sbuf[0:128, 0] fp32 [256:1] imm=1.5\n"
            "tensor_tensor op0=add dst=sbuf[0:128, 1024] fp32 [256:1] a=sbuf[0:128, 0] fp32 "
            "[256:1] b=sbuf[0:128, 0] fp32 [256:1]\nhalt");
        EXPECT_TRUE(vector.ends());
        EXPECT_EQ(vector.state(), host_engine::halted) << vector.error();
        std::array<float, 256> tile{};
        on.check(trn_read(on, core, tile.data(), trn_sbuf_address(on, core, 127 * 262'144 + 1024),
                          sizeof tile));
        EXPECT_THAT(tile, testing::Each(3.0f));
    }

    struct ring {
        device& on;
        trn_notification_ring made{};

        ring(device& on, unsigned slot, unsigned core = 0) : on(on) {
            on.check(trn_notifications_open(on, TRN_NOTIFY_CORE, core, slot, 4096, &made));
        }
        ~ring() { trn_notifications_close(on, &made); }
        std::vector<entry> entries() {
            std::vector<entry> found;
            for (bool there = true; there;) {
                trn_notification one{};
                on.check(trn_notifications_next(on, &made, &one, &there));
                if (there) found.push_back({one.type, one.source, one.payload});
            }
            return found;
        }
    };
    static constexpr std::uint32_t error_entry = 3;

    std::string printed_;  // the firmware's UART output
    std::unique_ptr<platform> platform_;
    std::unique_ptr<in_process_hosts> hosts_;
};

// ---- Notifications without a failure

namespace fp = sequencer_regs::fp_config;
namespace notify = sequencer_regs::notify_config;

TEST_F(EngineFaults, TheDriverReadsWhichInstructionsWroteNanOrInfinity) {
    const std::string text =
        "memset dst=sbuf[0:1, 0] fp32 [2:1] imm=0.0\n"                         // pc 0
        "reciprocal dst=sbuf[0:1, 64] fp32 [2:1] a=sbuf[0:1, 0] fp32 [2:1]\n"  // 2: infinity
        "tensor_tensor op0=subtract dst=sbuf[0:1, 128] fp32 [2:1] "            // 4: NaN
        "a=sbuf[0:1, 64] fp32 [2:1] b=sbuf[0:1, 64] fp32 [2:1]\n"
        "copy dst=sbuf[0:1, 192] fp32 [2:1] a=sbuf[0:1, 0] fp32 [2:1]\nhalt";
    constexpr std::uint32_t numerical = 9;
    const entry infinity{error_entry, 3, numerical | 2 << 8},
        nan{error_entry, 3, numerical | 4 << 8};
    const auto reported = [&](device& on, std::uint64_t detect) {
        ring errors(on, 3);
        const host_engine vector(on, engine::vector);
        vector.reset();
        vector.set(reg::fp_config, static_cast<std::uint32_t>(detect));
        vector.start(text);
        EXPECT_TRUE(vector.ends());
        EXPECT_EQ(vector.state(), host_engine::halted);
        return errors.entries();
    };
    drive([&](device& on) {
        EXPECT_THAT(reported(on, 0), testing::IsEmpty());
        EXPECT_THAT(reported(on, fp::nan_detect.mask()), ElementsAre(nan));
        EXPECT_THAT(reported(on, fp::inf_detect.mask()), ElementsAre(infinity));
        EXPECT_THAT(reported(on, fp::nan_detect.mask() | fp::inf_detect.mask()),
                    ElementsAre(infinity, nan));
    });
}

TEST_F(EngineFaults, TheDriverReadsWhenInstructionsWaitedWereIssuedAndCompleted) {
    constexpr std::uint32_t trace_entry = 0, complete = 1u << 30, waits = 2u << 30;
    drive([&](device& on) {
        ring traces(on, 10 + 3);
        const host_engine vector(on, engine::vector);
        vector.set(reg::notify_config, vector.get(reg::notify_config) |
                                           static_cast<std::uint32_t>(notify::traces.mask()));
        vector.start("wait S[7]>=1 memset dst=sbuf[0:128, 0] fp32 [512:1] imm=1.0\nhalt");
        on.check(trn_sleep(on, 5'000));
        EXPECT_THAT(traces.entries(), ElementsAre(entry{trace_entry, 3, waits}));
        on.check(trn_semaphore_increment(on, TRN_SYNC_CORE, 0, 7, 1));
        EXPECT_TRUE(vector.ends());
        EXPECT_THAT(traces.entries(),
                    ElementsAre(entry{trace_entry, 3, 0}, entry{trace_entry, 3, complete},
                                entry{trace_entry, 3, 2}, entry{trace_entry, 3, complete | 2}));
    });
}

TEST_F(EngineFaults, TheDriverReadsEventsThatEnginesSetAndClear) {
    constexpr std::uint32_t event_entry = 2;
    drive([&](device& on) {
        ring events(on, 15);
        const host_engine sync(on, engine::sync);
        sync.start("update E[9]=1 nop\nupdate E[9]=0 nop\nhalt");
        EXPECT_TRUE(sync.ends());
        EXPECT_THAT(events.entries(),
                    ElementsAre(entry{event_entry, 4, 9 | 1 << 8}, entry{event_entry, 4, 9}));
    });
}

// ---- Resets

void expect_reset(device& on, unsigned core) {
    for (const engine e : every_engine) {
        SCOPED_TRACE(name_of(e));
        const host_engine one(on, e, core);
        EXPECT_EQ(one.get(reg::status), 0u);
        for (const reg r : {reg::pc, reg::retired, reg::error_pc, reg::error_detail, reg::busy_lo,
                            reg::wait_lo, reg::bytes_read_lo, reg::bytes_written_lo,
                            reg::program_lo, reg::program_words, reg::start_pc, reg::wait_limit})
            EXPECT_EQ(one.get(r), 0u) << sequencer_regs::offset(r);
        for (const unsigned n : {0u, 1u, 63u}) EXPECT_EQ(one.get(reg::r, n), 0u) << n;
        EXPECT_EQ(one.get(reg::block, 0), 0u);
        const auto number = static_cast<unsigned>(e);
        EXPECT_EQ(one.get(reg::notify_config),
                  0xb'0000u | number | (5 + number) << 4 | (10 + number) << 8 | 15 << 12);
    }
}

TEST_F(EngineFaults, ACoreResetStopsItsFiveEnginesAndNoOthers) {
    drive([](device& on) {
        start_all(on, 0);
        start_all(on, 1);
        host_engine(on, engine::sync).set(reg::wait_limit, 77);
        const std::vector<std::uint8_t> kept(4096, 0x3c);
        on.check(trn_write(on, 0, trn_sbuf_address(on, 0, 200'000), kept.data(), kept.size()));
        ring errors(on, 3);
        on.check(trn_reset_cores(on, 0x1));
        expect_reset(on, 0);
        for (unsigned n = 100; n < 105; ++n) EXPECT_EQ(semaphore(on, 0, n), 0);
        for (const engine e : every_engine) EXPECT_TRUE(goes_on(on, e, 1)) << name_of(e);
        std::vector<std::uint8_t> now(kept.size());
        on.check(trn_read(on, 0, now.data(), trn_sbuf_address(on, 0, 200'000), now.size()));
        EXPECT_EQ(now, kept) << "SBUF keeps its bytes";
        EXPECT_TRUE(errors.entries().empty()) << "a reset is no error of the program";
        expect_computes(on, 0);
        stop_all(on, 1);
    });
}

TEST_F(EngineFaults, ADeviceResetStopsAllEngines) {
    drive([](device& on) {
        for (const unsigned core : {0u, 5u}) start_all(on, core);
        on.check(trn_reset_device(on));
        for (const unsigned core : {0u, 1u, 5u}) expect_reset(on, core);
        expect_computes(on, 5);
    });
}

TEST_F(EngineFaults, AResetEndsAWaitAndWhatTheWaitWouldHaveStarted) {
    drive([](device& on) {
        const host_engine sync(on, engine::sync);
        sync.start("wait S[7]>=1 update S[8]+=1 nop\nhalt");
        on.check(trn_sleep(on, 2000));
        EXPECT_EQ(sync.state(), host_engine::waiting);
        on.check(trn_reset_cores(on, 0x1));
        on.check(trn_semaphore_set(on, TRN_SYNC_CORE, 0, 7, 1));
        on.check(trn_sleep(on, 2000));
        EXPECT_EQ(sync.state(), host_engine::idle);
        EXPECT_EQ(semaphore(on, 0, 8), 0);
    });
}

TEST_F(EngineFaults, AResetDropsUpdatesOfInstructionsThatAreNotComplete) {
    drive([](device& on) {
        const host_engine vector(on, engine::vector);
        // 8 x 16384 cycles: much longer than the time until the reset.
        vector.start(
            "memset dst=sbuf[0:128, 0] fp32 [16384:1] imm=1.0\n"
            "update S[9]+=1 reciprocal dst=sbuf[0:128, 65536] fp32 [16384:1] "
            "a=sbuf[0:128, 0] fp32 [16384:1]\nhalt");
        on.check(trn_sleep(on, 20'000));
        EXPECT_EQ(vector.state(), host_engine::running);
        vector.reset();
        EXPECT_EQ(vector.state(), host_engine::idle);
        on.check(trn_sleep(on, 200'000));
        EXPECT_EQ(semaphore(on, 0, 9), 0);
        EXPECT_EQ(vector.get(reg::retired), 0u);
    });
}

// ---- Memory errors

TEST_F(EngineFaults, AParityErrorOfTheSbufFailsItsReaderOnly) {
    drive([this](device& on) {
        start_all(on, 0);
        start_all(on, 1);
        ring errors(on, 3);
        inject("chip0.nc0", "sram_parity", {{"offset", "270848"}});  // partition 1, byte 8,704
        const host_engine vector(on, engine::vector);
        EXPECT_TRUE(vector.ends());
        EXPECT_EQ(vector.state(), host_engine::failed);
        EXPECT_EQ(vector.error(), 5u);
        EXPECT_EQ(vector.get(reg::error_pc), 0u);
        EXPECT_EQ(vector.get(reg::error_detail) & 0xff, 1u) << "operand A";
        EXPECT_THAT(errors.entries(), ElementsAre(entry{error_entry, 3, 5}));
        for (const engine e : {engine::tensor, engine::scalar, engine::sync})
            EXPECT_TRUE(goes_on(on, e)) << name_of(e);
        EXPECT_EQ(host_engine(on, engine::gpsimd).error(), 5u) << "it reads the same tile";
        for (const engine e : every_engine) EXPECT_TRUE(goes_on(on, e, 1)) << name_of(e);
        on.check(trn_sleep(on, 5'000'000));  // time for firmware's polling
        trn_ecc_counts ecc{};
        on.check(trn_get_ecc(on, &ecc));
        EXPECT_GE(ecc.sram_uncorrected, 1u);
        EXPECT_EQ(ecc.sram_corrected, 0u);
        // A reset does not clear the error; writing the word does.
        vector.reset();
        vector.start(endless(engine::vector));
        EXPECT_TRUE(vector.ends());
        EXPECT_EQ(vector.error(), 5u);
        const std::vector<std::uint8_t> fresh(4096);
        on.check(
            trn_write(on, 0, trn_sbuf_address(on, 0, 262'144 + 8192), fresh.data(), fresh.size()));
        vector.reset();
        vector.start(endless(engine::vector));
        EXPECT_TRUE(goes_on(on, engine::vector));
        stop_all(on, 0);
        stop_all(on, 1);
    });
}

TEST_F(EngineFaults, ACorrectedErrorOfTheSbufIsCountedAndTheProgramContinues) {
    drive([this](device& on) {
        start_all(on, 0);
        inject("chip0.nc0", "sram_corrected", {{"offset", "8192"}});
        for (const engine e : every_engine) EXPECT_TRUE(goes_on(on, e)) << name_of(e);
        on.check(trn_sleep(on, 5'000'000));
        trn_ecc_counts ecc{};
        on.check(trn_get_ecc(on, &ecc));
        EXPECT_EQ(ecc.sram_corrected, 1u);
        EXPECT_EQ(ecc.sram_uncorrected, 0u);
        stop_all(on, 0);
    });
}

TEST_F(EngineFaults, AParityErrorOfThePsumFailsReadersAndAccumulation) {
    drive([this](device& on) {
        const host_engine tensor(on, engine::tensor), scalar(on, engine::scalar);
        ring of_tensor(on, 0), of_scalar(on, 1);
        inject("chip0.nc0", "sram_parity", {{"offset", "33554432"}});  // PSUM partition 0, byte 0
        scalar.start("copy dst=sbuf[0:128, 0] fp32 [512:1] a=psum[0:128, 0] fp32 [512:1]\nhalt");
        EXPECT_TRUE(scalar.ends());
        EXPECT_EQ(scalar.error(), 5u);
        EXPECT_EQ(scalar.get(reg::error_detail) & 0xff, 1u);
        EXPECT_THAT(of_scalar.entries(), ElementsAre(entry{error_entry, 1, 5}));
        tensor.start(
            "load_stationary a=sbuf[0:128, 0] bf16 [128:1]\n"
            "multiply accumulate dst=psum[0:128, 0] fp32 [512:1] a=sbuf[0:128, 0] bf16 "
            "[512:1]\nhalt");
        EXPECT_TRUE(tensor.ends());
        EXPECT_EQ(tensor.error(), 5u) << "the sum needs the old value";
        EXPECT_EQ(tensor.get(reg::error_pc), 2u);
        EXPECT_EQ(tensor.get(reg::error_detail) & 0xff, 0u) << "operand DST";
        EXPECT_THAT(of_tensor.entries(), ElementsAre(entry{error_entry, 0, 5 | 2 << 8}));
        // Overwriting the word clears the error.
        tensor.reset();
        tensor.start(
            "load_stationary a=sbuf[0:128, 0] bf16 [128:1]\n"
            "multiply dst=psum[0:128, 0] fp32 [512:1] a=sbuf[0:128, 0] bf16 [512:1]\n"
            "multiply accumulate dst=psum[0:128, 0] fp32 [512:1] a=sbuf[0:128, 0] bf16 "
            "[512:1]\nhalt");
        EXPECT_TRUE(tensor.ends());
        EXPECT_EQ(tensor.state(), host_engine::halted);
    });
}

/// 100 words that count, then HALT: two blocks of 64 words.
std::string two_blocks() {
    std::string text;
    for (int n = 0; n < 100; ++n) text += "update S[1]+=1 nop\n";
    return text + "halt";
}

TEST_F(EngineFaults, AnHbmErrorUnderTheProgramFailsTheFetchWhereItWouldBeExecuted) {
    drive([this](device& on) {
        start_all(on, 1);
        const host_engine sync(on, engine::sync), vector(on, engine::vector);
        ring errors(on, 4);
        vector.start(endless(engine::vector));
        sync.start(two_blocks());
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.state(), host_engine::halted);
        on.check(trn_semaphore_set(on, TRN_SYNC_CORE, 0, 1, 0));
        // In the second block, which is prefetched.
        inject("chip0.hbm0", "hbm_uncorrected",
               {{"offset", std::to_string(sync.program_offset() + 70 * 64)}});
        sync.set(reg::control, sequencer_regs::control::start.mask());
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.state(), host_engine::failed);
        EXPECT_EQ(sync.error(), 6u);
        EXPECT_EQ(sync.get(reg::error_pc), 64u) << "no word of the block came";
        EXPECT_EQ(sync.get(reg::retired) % 101, 64u);
        EXPECT_EQ(semaphore(on, 0, 1), 64);
        EXPECT_THAT(errors.entries(), ElementsAre(entry{error_entry, 4, 6 | 64 << 8}));
        EXPECT_TRUE(goes_on(on, engine::vector));
        for (const engine e : every_engine) EXPECT_TRUE(goes_on(on, e, 1)) << name_of(e);
        on.check(trn_sleep(on, 20'000'000));
        trn_ecc_counts ecc{};
        on.check(trn_get_ecc(on, &ecc));
        EXPECT_EQ(ecc.hbm_uncorrectable[0], 1u);
        EXPECT_THAT(printed_, HasSubstr("HBM stack 0: 0 corrected, 1 uncorrected"));
        // After rewriting the program it runs.
        sync.reset();
        sync.start(two_blocks());
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.state(), host_engine::halted);
        stop_all(on, 0);
        stop_all(on, 1);
    });
}

TEST_F(EngineFaults, AnHbmErrorInWordsThatAreNeverExecutedFailsNothing) {
    drive([this](device& on) {
        const host_engine sync(on, engine::sync);
        sync.start("update S[1]+=1 nop\nhalt\n" + two_blocks());
        EXPECT_TRUE(sync.ends());
        inject("chip0.hbm0", "hbm_uncorrected",
               {{"offset", std::to_string(sync.program_offset() + 70 * 64)}});
        inject("chip0.hbm0", "hbm_corrected", {{"offset", std::to_string(sync.program_offset())}});
        sync.set(reg::control, sequencer_regs::control::start.mask());
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.state(), host_engine::halted);
        EXPECT_EQ(semaphore(on, 0, 1), 2);
        on.check(trn_sleep(on, 20'000'000));
        EXPECT_THAT(printed_, HasSubstr("HBM stack 0: 1 corrected, 1 uncorrected"));
    });
}

TEST_F(EngineFaults, ALoadFromMemoryInErrorFailsAsAWriteDoes) {
    drive([this](device& on) {
        const host_engine sync(on, engine::sync);
        inject("chip0.hbm0", "hbm_uncorrected", {{"offset", "1073741824"}});
        sync.start(fmt::format("reg_move rd=R1 imm=5\nreg_load rd=R1 type=uint32 address={:#x}",
                               trn_hbm_address(on, 0, 1 << 30)));
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.error(), 7u);
        EXPECT_EQ(sync.get(reg::error_pc), 1u);
        EXPECT_EQ(sync.get(reg::r, 1), 5u);
    });
}

// ---- DMA aborts

class DmaInPrograms : public EngineFaults {
protected:
    static constexpr std::uint32_t engine_number = 5, queue = 2;
    static constexpr std::uint64_t m2s_at = 16 * MiB, s2m_at = 17 * MiB, from = 64 * MiB,
                                   to = 96 * MiB, one_at = 18 * MiB;
    static constexpr std::uint32_t pieces = 16;  // of 64 KiB; one more for the semaphore's word

    /// A ring whose descriptors copy 1 MiB and add 1 to semaphore 20 of core 0.
    static void prepare(device& on) {
        const auto at = [&](std::uint64_t offset) { return trn_hbm_address(on, 0, offset); };
        on.check(trn_ring_init(on, engine_number, queue, at(m2s_at), 32, at(s2m_at), 32));
        std::vector<trn_descriptor> m2s, s2m;
        for (std::uint64_t n = 0; n < pieces; ++n) {
            m2s.push_back(trn_m2s_descriptor(at(from + n * 64 * KiB), 0x10000, 1, 0));
            s2m.push_back(trn_s2m_descriptor(at(to + n * 64 * KiB), 0x10000, 1, 0));
        }
        m2s.push_back(trn_m2s_descriptor(at(one_at), 4, 1, TRN_WRITE_BARRIER));
        s2m.push_back(trn_s2m_descriptor(trn_semaphore_address(on, 0, 20), 4, 1, TRN_STRONG_ORDER));
        const std::uint32_t one = 1;
        on.check(trn_window_write(on, 0, m2s_at, m2s.data(), m2s.size() * sizeof m2s[0]));
        on.check(trn_window_write(on, 0, s2m_at, s2m.data(), s2m.size() * sizeof s2m[0]));
        on.check(trn_window_write(on, 0, one_at, &one, sizeof one));
        std::vector<std::uint8_t> bytes(1 * MiB);
        pattern(3).fill(bytes);
        on.check(trn_window_write(on, 0, from, bytes.data(), bytes.size()));
    }
    static std::string copying() {
        return fmt::format(
            "dma_start engines={:#x} queue={} m2s={} s2m={}\n"
            "wait S[20]>=1:subtract update S[21]+=1 nop\nhalt",
            1u << engine_number, queue, pieces + 1, pieces + 1);
    }
    static bool copied(device& on) {
        std::vector<std::uint8_t> bytes(1 * MiB);
        on.check(trn_window_read(on, 0, to, bytes.data(), bytes.size()));
        return !pattern(3).check(bytes);
    }
};

TEST_F(DmaInPrograms, AnAbortedQueueLeavesTheWaiterToItsLimitAndOthersContinue) {
    drive([this](device& on) {
        start_all(on, 1);
        const host_engine sync(on, engine::sync), vector(on, engine::vector);
        vector.start(endless(engine::vector));
        prepare(on);
        ring errors(on, 4);
        sync.set(reg::wait_limit, 100);
        sync.start(copying());
        on.check(trn_sleep(on, 5'000));
        EXPECT_EQ(sync.state(), host_engine::waiting);
        inject("chip0.udma0", "dma_abort",
               {{"engine", std::to_string(engine_number)}, {"queue", std::to_string(queue)}});
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.error(), 11u);
        EXPECT_EQ(sync.get(reg::error_pc), 1u);
        EXPECT_EQ(sync.get(reg::error_detail), 0xffu | 20 << 8) << "the semaphore";
        EXPECT_THAT(errors.entries(), ElementsAre(entry{error_entry, 4, 11 | 1 << 8}));
        EXPECT_EQ(semaphore(on, 0, 21), 0);
        EXPECT_FALSE(copied(on));
        EXPECT_TRUE(goes_on(on, engine::vector));
        for (const engine e : every_engine) EXPECT_TRUE(goes_on(on, e, 1)) << name_of(e);
        on.check(trn_sleep(on, 5'000'000));
        EXPECT_THAT(printed_, HasSubstr("DMA engine 5 aborted"));
        // A further doorbell of the stopped queue is not an engine error.
        sync.reset();
        sync.start(copying());
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.error(), 11u);
        EXPECT_GT(misuse::count(misuse::doorbell_on_aborted_queue), 0u);
        // After a reset, queue and program work again.
        on.check(trn_reset_cores(on, 0x1));
        prepare(on);
        sync.start(copying());
        EXPECT_TRUE(sync.ends());
        EXPECT_EQ(sync.state(), host_engine::halted);
        EXPECT_TRUE(copied(on));
        stop_all(on, 1);
        on.check(trn_ring_release(on, engine_number, queue));
    });
}

TEST_F(DmaInPrograms, AWaitWithoutALimitIsNamedByTheStallReport) {
    drive([this](device& on) {
        const host_engine sync(on, engine::sync);
        prepare(on);
        sync.start(copying());
        on.check(trn_sleep(on, 5'000));
        inject("chip0.udma0", "dma_abort",
               {{"engine", std::to_string(engine_number)}, {"queue", std::to_string(queue)}});
        on.check(trn_sleep(on, 100'000));
        EXPECT_EQ(sync.state(), host_engine::waiting);
        on.check(trn_ring_release(on, engine_number, queue));
    });
    const auto about = platform_->methods().call("inspect", {{"module", "chip0.nc0"}}).dump();
    EXPECT_THAT(about, HasSubstr("sync engine at pc 1: waits for S[20] >= 1, which is 0, posted by "
                                 "no program of this core: by DMA, another core or the host"));
}

// ---- Power

class EnginePower : public EngineFaults {
protected:
    void SetUp() override { boot("trn3-sled"); }
};

TEST_F(EnginePower, APowerLossForgetsProgramsAndSemaphores) {
    drive([this](device& on) {
        start_all(on, 0);
        inject("controller", "power_loss");
        on.check(trn_sleep(on, 1'000'000));
        inject("controller", "power_return");
        on.check(trn_sleep(on, 100'000'000));
    });
    drive([](device& on) {
        expect_reset(on, 0);
        for (unsigned n = 100; n < 105; ++n) EXPECT_EQ(semaphore(on, 0, n), 0);
        expect_computes(on);
    });
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// Contract 3.1 and 11 between chips: neighbour windows and the pod election of two nodes.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/values/pattern.h"
#include "tests/support/bar0.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

constexpr std::uint64_t lower = 0x5452'4e33'0000'0001, higher = 0x5452'4e33'0000'0002;
constexpr std::uint64_t limit = 10'000'000'000;  // nanoseconds, of an election

std::uint64_t window(unsigned seng) {
    return (1ull << 52) + (std::uint64_t{seng} << 50);
}

/// Two chips with separate hosts.
class NeighboursTest : public testing::Test {
protected:
    void boot(const std::string& position) {
        log::replace_sink({});
        platform_ = std::make_unique<platform>(
            kinds(), platform_options{.board = "tests/integration/driver_contract/two_chips.yaml",
                                      .set = {"position=" + position}});
        for (const auto& f : platform_->functions())
            hosts_.push_back(std::make_unique<host_cpu>(*f.port, host_cpu::config{}));
        ASSERT_EQ(platform_->boot(sc_core::sc_time(1, sc_core::SC_SEC)).cause,
                  stop_reason::kind::condition);
    }
    /// Runs a program on both hosts at the same time.
    void drive(const std::function<void(device&, unsigned host)>& work) {
        for (unsigned n = 0; n < 2; ++n)
            hosts_[n]->run([&, n] {
                device chip(hosts_[n]->transport());
                chip.check(trn_probe(chip));
                chip.check(trn_reset_device(chip));
                work(chip, n);
            });
        run_loop::goal goal{"the test", "both hosts"};
        goal.condition = [&] { return hosts_[0]->idle() && hosts_[1]->idle(); };
        platform_->loop().run(std::move(goal));
        for (auto& host : hosts_) host->rethrow();
    }

    std::unique_ptr<platform> platform_;
    std::vector<std::unique_ptr<host_cpu>> hosts_;
};

TEST_F(NeighboursTest, ReadEachOthersWordsOverAllFourLinks) {
    boot("0");
    drive([&](device& chip, unsigned host) {
        chip.check(trn_pod_open(chip));
        for (const auto link : {TRN_POD_LEFT_A, TRN_POD_LEFT_B, TRN_POD_RIGHT_A, TRN_POD_RIGHT_B}) {
            std::array<std::uint32_t, 2> words{};
            const auto start = trn_now(chip);
            chip.check(trn_pod_read(chip, link, 0x38, words.data(), 2));
            EXPECT_LT(trn_now(chip) - start, 4'000'000u);  // contract 11.1
            EXPECT_EQ(std::uint64_t{words[1]} << 32 | words[0], host == 0 ? lower : higher);
        }
        chip.check(trn_pod_close(chip));
    });
}

TEST_F(NeighboursTest, CopyIntoEachOthersStacksAndRaiseEachOthersSemaphores) {
    boot("0");
    drive([&](device& chip, unsigned host) {
        std::vector<std::uint8_t> bytes(100'000);
        for (unsigned seng = 0; seng < 4; ++seng) {
            pattern(10 * host + seng).fill(bytes);
            const auto at = trn_hbm_address(chip, seng, (64 + host) * MiB);
            chip.check(trn_write(chip, seng, window(seng) + at, bytes.data(), bytes.size()));
            std::vector<std::uint8_t> back(bytes.size());
            chip.check(trn_read(chip, 7 - seng, back.data(), window(3 - seng) + at, back.size()));
            EXPECT_EQ(back, bytes);
            const std::uint32_t one = 1;
            chip.check(trn_write(chip, 0, window(seng) + trn_sbuf_address(chip, 5, 0x270'1800),
                                 &one, sizeof one));
        }
        chip.check(trn_sleep(chip, 1'000'000));
        std::int32_t raised = 0;
        chip.check(trn_semaphore_read(chip, TRN_SYNC_CORE, 5, 0, &raised));
        EXPECT_EQ(raised, 4);  // value written by the other host
    });
}

TEST_F(NeighboursTest, CannotReachEachOthersHosts) {
    boot("0");
    misuse::set_policy_of_all(misuse::policy::count);
    drive([&](device& chip, unsigned) {
        trn_buffer buffer{};
        chip.check(trn_buffer_alloc(chip, 4096, &buffer));
        EXPECT_EQ(trn_copy(chip, 0, trn_hbm_address(chip, 0, 64 * MiB),
                           window(1) + trn_buffer_address(chip, &buffer, 0), 4096),
                  TRN_ABORTED);
        trn_buffer_free(chip, &buffer);
    });
    EXPECT_EQ(misuse::count(misuse::not_of_the_neighbour), 2u);
}

TEST_F(NeighboursTest, PrimariesElectTheLowerSerialAsNode0) {
    boot("0");
    drive([&](device& chip, unsigned host) {
        for (const std::uint32_t links : {3u, 2u, 1u}) {
            trn_pod pod{};
            chip.check(trn_pod_elect(chip, links, limit, &pod));
            trn_pod words{};
            chip.check(trn_pod_status(chip, &words));
            for (const auto& each : {pod, words}) {
                EXPECT_EQ(each.status, 3u);
                EXPECT_EQ(each.links, links);
                EXPECT_EQ(each.node, host == 0 ? 1u : 0u);
                EXPECT_EQ(each.nodes, 2u);
                EXPECT_EQ(each.serial, lower);
            }
            std::uint32_t published = 1;
            chip.check(
                trn_bar_read(chip, bar0::offset(misc_ram_regs::reg::right_serial_lo), &published));
            EXPECT_EQ(published, 0u);
            chip.check(trn_sleep(chip, 500'000'000));  // both have finished before the next round
        }
    });
}

TEST_F(NeighboursTest, SecondariesCheckTheirCabling) {
    boot("8");  // device 1 of both nodes
    drive([&](device& chip, unsigned) {
        EXPECT_EQ(chip.info().device_index, 1u);
        trn_pod pod{};
        chip.check(trn_pod_elect(chip, 3, limit, &pod));
        EXPECT_EQ(pod.status, 3u);
        EXPECT_EQ(pod.nodes, 0u);
    });
}

TEST_F(NeighboursTest, ElectionWithASilentNeighbourFails) {
    boot("0");
    drive([&](device& chip, unsigned host) {
        if (host == 1) return;
        trn_pod pod{};
        EXPECT_EQ(trn_pod_elect(chip, 3, 300'000'000, &pod), TRN_TIMED_OUT);
        EXPECT_EQ(pod.status, 2u);
    });
}

}  // namespace
}  // namespace trn::test

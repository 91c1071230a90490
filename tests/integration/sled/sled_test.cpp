// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <functional>
#include <memory>
#include <vector>

#include "models/kinds.h"
#include "models/pcie/root_complex/root_complex.h"
#include "models/sled/sled_controller/sled_controller.h"
#include "models/soc/sensors/sensors.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "sw-stubs/host/machine/device.h"
#include "tests/support/bar0.h"

namespace trn {
namespace {

constexpr std::uint64_t MiB = 1 << 20;

class SledTest : public testing::Test {
protected:
    SledTest() : platform_(kinds(), {.board = "tests/integration/sled/two_sleds.yaml"}) {
        log::replace_sink({});
        for (const auto& f : platform_.functions())
            hosts_.push_back(std::make_unique<host_cpu>(*f.port, host_cpu::config{}));
        boot();
    }
    void boot() {
        ASSERT_EQ(platform_.boot(sc_core::sc_time(1, sc_core::SC_SEC)).cause,
                  stop_reason::kind::condition);
    }
    void drive(unsigned chip, const std::function<void(device&)>& work) {
        hosts_[chip]->run([&] {
            device d(hosts_[chip]->transport());
            d.check(trn_probe(d));
            d.check(trn_reset_device(d));
            work(d);
        });
        run_loop::goal goal{"the test", "its host"};
        goal.condition = [&] { return hosts_[chip]->idle(); };
        platform_.loop().run(std::move(goal));
        hosts_[chip]->rethrow();
    }
    sled_controller& sled(unsigned index) {
        return *platform_.modules().find<sled_controller>("sled" + std::to_string(index));
    }
    /// Simulated seconds of a copy inside one chip.
    double copy(unsigned chip) {
        double taken = 0;
        drive(chip, [&](device& d) {
            std::vector<std::uint8_t> bytes(8 * MiB, 0x5a);
            const auto from = trn_hbm_address(d, 0, 64 * MiB),
                       to = trn_hbm_address(d, 0, 128 * MiB);
            d.check(trn_write(d, 0, from, bytes.data(), bytes.size()));
            const auto start = sc_core::sc_time_stamp();
            d.check(trn_copy(d, 0, to, from, bytes.size()));
            taken = (sc_core::sc_time_stamp() - start).to_seconds();
        });
        return taken;
    }

    platform platform_;
    std::vector<std::unique_ptr<host_cpu>> hosts_;
};

TEST_F(SledTest, SledPowerLossClearsItsMemoryAndNotTheOtherSleds) {
    std::vector<std::uint8_t> bytes(MiB, 0xa5), back(MiB);
    for (const unsigned chip : {0u, 1u})
        drive(chip, [&](device& d) {
            d.check(trn_write(d, 0, trn_hbm_address(d, 0, 64 * MiB), bytes.data(), bytes.size()));
        });

    sled(0).inject("power_loss", {});
    std::uint32_t word = 0;
    sc_core::sc_time delay;
    const auto functions = platform_.functions();
    functions[0].port->bar_read(0, test::bar0::misc_ram,
                                {reinterpret_cast<std::uint8_t*>(&word), sizeof word}, delay);
    EXPECT_EQ(word, ~0u);
    drive(1, [&](device& d) {
        d.check(trn_read(d, 0, back.data(), trn_hbm_address(d, 0, 64 * MiB), back.size()));
    });
    EXPECT_EQ(back, bytes);

    sled(0).inject("power_return", {});
    boot();
    drive(0, [&](device& d) {
        // Written first: reading unwritten HBM is a misuse.
        d.check(trn_write(d, 0, trn_hbm_address(d, 0, 64 * MiB), bytes.data(), 4096));
        d.check(trn_read(d, 0, back.data(), trn_hbm_address(d, 0, 64 * MiB), back.size()));
    });
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + 4096, bytes.begin()));
    EXPECT_TRUE(std::all_of(back.begin() + 4096, back.end(), [](auto b) { return b == 0; }));
}

TEST_F(SledTest, ThrottledChipRunsItsEnginesAtHalfRateAndOthersAtFullRate) {
    const double full = copy(0);
    sled(0).inject("supply_loss", {{"permille", "1"}});
    const double throttled = copy(0);
    EXPECT_GT(throttled, full * 1.5);
    EXPECT_LT(throttled, full * 2.2);
    EXPECT_LT(copy(1), full * 1.05);
    sled(0).inject("supply_loss", {{"permille", "1000"}});
    EXPECT_LT(copy(0), full * 1.05);
}

/// Rated power of the chips watched by a board's controller, in mW, and their number.
struct watched {
    std::uint64_t rated = 0;
    unsigned chips = 0;
};
watched watched_by(const plan& board, std::uint32_t controller) {
    watched sum;
    for (const auto& b : board.bindings) {
        const auto& from = board.modules[b.source.module];
        if (b.source.module != controller || from.built_as->ports[b.source.port].name != "power")
            continue;
        const auto& cfg =
            std::any_cast<const sensors::config&>(board.modules[b.target.module].config);
        sum.rated += cfg.rated_power * cfg.dies;
        ++sum.chips;
    }
    return sum;
}

TEST(SledsOfBoards, EveryChipHasAControllerThatAllowsItsRatedPower) {
    for (const auto* name :
         {"trn3-sled", "trn3-gen1", "trn3-gen2", "trn3e-4", "trn2-48xl", "trn2-ultraserver",
          "trn1-2xl", "trn1-32xl", "trn1n-32xl", "inf2-48xl"}) {
        SCOPED_TRACE(name);
        const auto board = load_board(name, kinds());
        unsigned chips = 0, seen = 0;
        for (std::uint32_t m = 0; m < board.modules.size(); ++m) {
            chips += board.modules[m].type == "sensors";
            if (board.modules[m].type != "sled_controller") continue;
            const auto& cfg =
                std::any_cast<const sled_controller::config&>(board.modules[m].config);
            const auto on = watched_by(board, m);
            seen += on.chips;
            EXPECT_EQ(on.chips, cfg.chips);
            EXPECT_LT(on.rated * 102 / 100, cfg.budget());
            EXPECT_GT(on.rated * 120 / 100, cfg.budget());
            for (const double load : {1.0 / 3, 1.0})  // fans follow the load in this range
                EXPECT_LT(cfg.outlet(cfg.budget() * (load < 1 ? 1 : 3) / 3, load),
                          cfg.outlet_limit);
        }
        EXPECT_EQ(seen, chips);
        EXPECT_GT(seen, 0u);
    }
}

}  // namespace
}  // namespace trn

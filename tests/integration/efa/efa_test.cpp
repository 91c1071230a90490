// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/kinds.h"
#include "models/pcie_switch/pcie_switch.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "sw-stubs/driver/include/trn_efa.h"
#include "sw-stubs/host/device.h"

namespace trn {
namespace {

constexpr std::uint64_t MiB = 1 << 20;

class EfaBetweenServersTest : public testing::Test {
protected:
    EfaBetweenServersTest()
        : platform_(kinds(), {.board = "tests/integration/efa/two_servers.yaml"}) {
        log::replace_sink({});
        for (const auto& f : platform_.functions()) {
            functions_[f.name] = f;
            hosts_[f.name] = std::make_unique<host_cpu>(*f.port, host_cpu::config{});
        }
        EXPECT_EQ(platform_.boot(sc_core::sc_time(1, sc_core::SC_SEC)).what,
                  stop_reason::kind::condition);
    }
    void run(const std::string& who, const std::function<void(const trn_transport&)>& work) {
        auto& host = *hosts_.at(who);
        host.run([&] { work(host.transport()); });
        run_loop::goal goal{"the test", who};
        goal.condition = [&] { return host.idle(); };
        platform_.loop().run(std::move(goal));
        host.rethrow();
    }
    void drive(const std::string& chip, const std::function<void(device&)>& work) {
        run(chip, [&](const trn_transport& door) {
            device d(door);
            d.check(trn_probe(d));
            d.check(trn_reset_device(d));
            work(d);
        });
    }
    /// The bus address of byte `offset` of a chip's first stack, for other functions of its server.
    std::uint64_t hbm(const std::string& chip, std::uint64_t offset) {
        return functions_.at(chip).port->bar(4).bus_address + offset;
    }

    platform platform_;
    std::map<std::string, platform::function> functions_;
    std::map<std::string, std::unique_ptr<host_cpu>> hosts_;
};

TEST_F(EfaBetweenServersTest, FunctionsAreNamedByPlaceAndCardsAreNotListedAsChips) {
    std::vector<std::string> names;
    for (const auto& [name, f] : functions_) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"server0.chip", "server0.nic", "server1.chip",
                                               "server1.nic"}));
    EXPECT_EQ(platform_.chips(), (std::vector<std::string>{"server0.chip", "server1.chip"}));
    EXPECT_EQ(functions_["server1.nic"].server, "server1");
}

TEST_F(EfaBetweenServersTest, MovesBytesFromAChipsHbmToAChipOfAnotherServer) {
    std::vector<std::uint8_t> bytes(4 * MiB + 123), back(bytes.size());
    std::mt19937_64 random(7);
    for (auto& each : bytes) each = static_cast<std::uint8_t>(random());
    drive("server0.chip", [&](device& d) {
        d.check(trn_write(d, 0, trn_hbm_address(d, 0, 64 * MiB), bytes.data(), bytes.size()));
    });
    drive("server1.chip", [&](device&) {});

    std::uint16_t address = 0;
    trn_efa* far = nullptr;
    run("server1.nic", [&](const trn_transport& door) {
        // The transport of a card that stays open outlives this program.
        static const trn_transport kept = door;
        ASSERT_EQ(trn_efa_open(&kept, &far), 0);
        ASSERT_EQ(trn_efa_address(far, &address), 0);
        ASSERT_EQ(trn_efa_share(far, 0, hbm("server1.chip", 0), 1024 * MiB, TRN_EFA_REMOTE_WRITE),
                  0);
    });
    run("server0.nic", [&](const trn_transport& door) {
        trn_efa* card = nullptr;
        trn_efa_queue* queue = nullptr;
        trn_efa_completion done{};
        ASSERT_EQ(trn_efa_open(&door, &card), 0);
        ASSERT_EQ(trn_efa_queue_open(card, 0, 16, &queue), 0);
        const trn_efa_request request{.what = TRN_EFA_WRITE,
                                      .id = 5,
                                      .card = address,
                                      .region = 0,
                                      .length = static_cast<std::uint32_t>(bytes.size()),
                                      .local = hbm("server0.chip", 64 * MiB),
                                      .remote = hbm("server1.chip", 96 * MiB),
                                      .notice = 0,
                                      .value = 0,
                                      .notice_region = 0};
        ASSERT_EQ(trn_efa_post(queue, &request), 0);
        ASSERT_EQ(trn_efa_wait(queue, 10'000'000, &done), 0);
        EXPECT_EQ(done.status, std::uint32_t{TRN_EFA_OK});
        trn_efa_queue_close(queue);
        trn_efa_close(card);
    });
    drive("server1.chip", [&](device& d) {
        d.check(trn_read(d, 0, back.data(), trn_hbm_address(d, 0, 96 * MiB), back.size()));
    });
    EXPECT_EQ(back, bytes);
    // No byte passed a host: the data were routed peer to peer in the server's switch.
    for (const char* name : {"server0.switch", "server1.switch"})
        EXPECT_LT(platform_.modules().find<pcie_switch>(name)->counters().up, 200u);
}

/// The card of one server is pulled in the middle of a transfer, and put in again.
TEST_F(EfaBetweenServersTest, LostCardEndsOnlyItsOwnTransfers) {
    constexpr std::uint32_t size = 16 * MiB;  // 0.35 ms
    std::vector<std::uint8_t> bytes(size, 0x3c), back(size);
    drive("server0.chip", [&](device& d) {
        d.check(trn_write(d, 0, trn_hbm_address(d, 0, 64 * MiB), bytes.data(), size));
    });
    drive("server1.chip", [&](device&) {});
    trn_transport kept{};  // of a card that stays open: closing it ends what it shares
    trn_efa* far = nullptr;
    const auto share = [&] {
        std::uint16_t address = 0;
        run("server1.nic", [&](const trn_transport& door) {
            if (far != nullptr) trn_efa_close(far);
            kept = door;
            ASSERT_EQ(trn_efa_open(&kept, &far), 0);
            ASSERT_EQ(trn_efa_address(far, &address), 0);
            ASSERT_EQ(
                trn_efa_share(far, 0, hbm("server1.chip", 0), 1024 * MiB, TRN_EFA_REMOTE_WRITE), 0);
        });
        return address;
    };
    const auto send = [&](std::uint16_t to) {
        trn_efa_completion done{};
        run("server0.nic", [&](const trn_transport& door) {
            trn_efa* card = nullptr;
            trn_efa_queue* queue = nullptr;
            ASSERT_EQ(trn_efa_open(&door, &card), 0);
            ASSERT_EQ(trn_efa_queue_open(card, 0, 16, &queue), 0);
            const trn_efa_request request{.what = TRN_EFA_WRITE,
                                          .id = 1,
                                          .card = to,
                                          .region = 0,
                                          .length = size,
                                          .local = hbm("server0.chip", 64 * MiB),
                                          .remote = hbm("server1.chip", 96 * MiB),
                                          .notice = 0,
                                          .value = 0,
                                          .notice_region = 0};
            ASSERT_EQ(trn_efa_post(queue, &request), 0);
            ASSERT_EQ(trn_efa_wait(queue, 20'000'000, &done), 0);
            trn_efa_queue_close(queue);
            trn_efa_close(card);
        });
        return done.status;
    };
    auto& hub = *platform_.modules().find<pcie_switch>("server1.switch");
    const auto surprises = [&] {
        return hub.down_port(1).space().get<std::uint32_t>(0x100 + PCI_ERR_UNCOR_STATUS) &
               PCI_ERR_UNC_SURPDN;
    };
    const auto address = share();
    EXPECT_EQ(surprises(), 0u);
    sc_core::sc_spawn([&] {
        sc_core::wait(sc_core::sc_time(150, sc_core::SC_US));
        hub.inject("card_removed", {{"port", "1"}});
    });
    EXPECT_NE(send(address), std::uint32_t{TRN_EFA_OK});
    EXPECT_NE(surprises(), 0u);
    std::array<std::uint8_t, 2> vendor{};
    functions_.at("server1.nic").port->config_read(0, vendor);
    EXPECT_EQ(vendor[0], 0xff);
    drive("server1.chip", [&](device& d) {  // on the same switch
        const auto from = trn_hbm_address(d, 0, 128 * MiB), to = trn_hbm_address(d, 1, 128 * MiB);
        d.check(trn_write(d, 0, from, bytes.data(), size));
        d.check(trn_copy(d, 0, to, from, size));
        d.check(trn_read(d, 0, back.data(), to, size));
    });
    EXPECT_EQ(back, bytes);

    hub.inject("card_inserted", {{"port", "1"}});
    EXPECT_EQ(send(share()), std::uint32_t{TRN_EFA_OK});
    drive("server1.chip", [&](device& d) {
        d.check(trn_read(d, 0, back.data(), trn_hbm_address(d, 0, 96 * MiB), size));
    });
    EXPECT_EQ(back, bytes);
    run("server1.nic", [&](const trn_transport&) { trn_efa_close(far); });
}

}  // namespace
}  // namespace trn

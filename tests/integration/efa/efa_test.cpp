// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "models/kinds.h"
#include "models/pcie/pcie_switch/pcie_switch.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/log.h"
#include "sw-stubs/collectives/include/trn_coll.h"
#include "sw-stubs/driver/crc32c.h"
#include "sw-stubs/driver/include/trn_rdma.h"
#include "sw-stubs/host/machine/device.h"
#include "trn/cc_program_regs.h"
#include "trn/semaphores_regs.h"

// Of sw-stubs/collectives/cc_core.h, which only C can include.
extern "C" std::uint64_t trn_cc_bar_offset(const trn_device* device, std::uint32_t core);

namespace trn {
namespace {

constexpr std::uint64_t MiB = 1 << 20;
constexpr std::uint32_t qkey = 7;

class EfaBetweenServersTest : public testing::Test {
protected:
    EfaBetweenServersTest()
        : platform_(kinds(), {.board = "tests/integration/efa/two_servers.yaml"}) {
        log::replace_sink({});
        for (const auto& f : platform_.functions()) {
            functions_[f.name] = f;
            hosts_[f.name] = std::make_unique<host_cpu>(*f.port, host_cpu::config{});
        }
        EXPECT_EQ(platform_.boot(sc_core::sc_time(1, sc_core::SC_SEC)).cause,
                  stop_reason::kind::condition);
    }
    void run(const std::string& host_name, const std::function<void(const trn_transport&)>& work) {
        auto& host = *hosts_.at(host_name);
        host.run([&] { work(host.transport()); });
        run_loop::goal goal{"the test", host_name};
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

    /// A server's card and the objects that its program has created.
    struct card {
        trn_transport transport{};  // outlives the program that opened the card
        trn_rdma_card* open = nullptr;
        trn_rdma_attributes about{};
        trn_rdma_queue* queue = nullptr;
        std::uint16_t domain = 0, handle = 0;
        std::uint32_t key = 0;
    };
    /// Opens a server's card, or resets it, and registers a GiB of its chip's memory.
    void use(const std::string& server, card& c) {
        run(server + ".nic", [&](const trn_transport& transport) {
            c.transport = transport;
            if (c.queue != nullptr) {
                ASSERT_EQ(trn_rdma_reset(c.open), 0);
                trn_rdma_queue_close(c.queue);
            } else {
                ASSERT_EQ(trn_rdma_open(&c.transport, &c.open), 0);
            }
            ASSERT_EQ(trn_rdma_get_attributes(c.open, &c.about), 0);
            ASSERT_EQ(trn_rdma_alloc_domain(c.open, &c.domain), 0);
            ASSERT_EQ(trn_rdma_register(c.open, c.domain, hbm(server + ".chip", 0), 1024 * MiB,
                                        TRN_RDMA_REMOTE_WRITE, &c.key),
                      0);
            ASSERT_EQ(trn_rdma_queue_open(c.open, c.domain, 16, qkey, &c.queue), 0);
        });
    }
    void meet(const std::string& server, card& c, const card& other) {
        run(server + ".nic", [&](const trn_transport&) {
            ASSERT_EQ(trn_rdma_create_address_handle(c.open, c.domain, &other.about.gid, &c.handle),
                      0);
        });
    }
    /// Copies from server0's chip to server1's; returns the completion status.
    std::uint32_t send(const card& from, const card& to, std::uint64_t bytes) {
        return send(from, to, bytes, hbm("server1.chip", 96 * MiB), to.key);
    }
    std::uint32_t send(const card& from, const card& to, std::uint64_t bytes, std::uint64_t remote,
                       std::uint32_t remote_key) {
        trn_rdma_completion done{};
        run("server0.nic", [&](const trn_transport&) {
            const trn_rdma_request request{.operation = TRN_RDMA_WRITE,
                                           .id = 5,
                                           .address_handle = from.handle,
                                           .queue_pair = trn_rdma_queue_number(to.queue),
                                           .qkey = qkey,
                                           .length = static_cast<std::uint32_t>(bytes),
                                           .local = hbm("server0.chip", 64 * MiB),
                                           .remote = remote,
                                           .local_key = from.key,
                                           .remote_key = remote_key,
                                           .has_immediate = 0,
                                           .immediate = 0};
            ASSERT_EQ(trn_rdma_post(from.queue, &request), 0);
            ASSERT_EQ(trn_rdma_wait(from.queue, 20'000'000, &done), 0);
            EXPECT_EQ(done.id, 5u);
        });
        return done.status;
    }
    void close(const std::string& server, const card& c) {
        run(server + ".nic", [&](const trn_transport&) {
            trn_rdma_queue_close(c.queue);
            trn_rdma_close(c.open);
        });
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

    card near, far;
    use("server0", near);
    use("server1", far);
    meet("server0", near, far);
    meet("server1", far, near);
    EXPECT_EQ(send(near, far, bytes.size()), std::uint32_t{TRN_RDMA_OK});
    close("server0", near);
    close("server1", far);
    drive("server1.chip", [&](device& d) {
        d.check(trn_read(d, 0, back.data(), trn_hbm_address(d, 0, 96 * MiB), back.size()));
    });
    EXPECT_EQ(back, bytes);
    // No data passed a host: the server's switch routed them peer-to-peer.
    for (const char* name : {"server0.switch", "server1.switch"})
        EXPECT_LT(platform_.modules().find<pcie_switch>(name)->counters().up, 200u);
}

/// A collective program that waits until a semaphore is `value`, and ends.
std::vector<std::uint8_t> program_that_waits(std::uint32_t semaphore, std::uint32_t value) {
    std::vector<std::uint8_t> bytes(TRN_CC_PROGRAM_STEP_OP_OFFSET(2));
    const auto put = [&](std::size_t at, std::uint32_t word) { std::memcpy(&bytes[at], &word, 4); };
    put(TRN_CC_PROGRAM_MAGIC_OFFSET, TRN_CC_PROGRAM_MAGIC_WORD_VALUE);
    put(TRN_CC_PROGRAM_FORMAT_OFFSET, TRN_CC_PROGRAM_FORMAT_NUMBER_VALUE);
    put(TRN_CC_PROGRAM_LENGTH_OFFSET, static_cast<std::uint32_t>(bytes.size()));
    put(TRN_CC_PROGRAM_RANKS_OFFSET, 1);
    put(TRN_CC_PROGRAM_STEPS_OFFSET, 2);
    put(TRN_CC_PROGRAM_SEMAPHORES_OFFSET,
        TRN_CC_PROGRAM_SEMAPHORES_FIRST_SET(semaphore) | TRN_CC_PROGRAM_SEMAPHORES_COUNT_SET(1));
    put(TRN_CC_PROGRAM_STEP_OP_OFFSET(0),
        TRN_CC_PROGRAM_STEP_OP_CODE_SET(TRN_CC_PROGRAM_STEP_OP_CODE_WAIT) |
            TRN_CC_PROGRAM_STEP_OP_WHICH_SET(semaphore));
    put(TRN_CC_PROGRAM_STEP_COUNT_OFFSET(0), value);
    put(TRN_CC_PROGRAM_STEP_OP_OFFSET(1),
        TRN_CC_PROGRAM_STEP_OP_CODE_SET(TRN_CC_PROGRAM_STEP_OP_CODE_END));
    put(TRN_CC_PROGRAM_CRC_OFFSET, ~trn_crc32c(0xffff'ffff, bytes.data(), bytes.size()));
    return bytes;
}

TEST_F(EfaBetweenServersTest, FirmwareOfAChipContinuesAfterACardOfAnotherServerWroteItsSemaphore) {
    constexpr std::uint32_t semaphore = 5, value = 3, core = 0, slot = 0, page = 4096;
    trn_cc_slot state{};
    std::uint64_t registers = 0, size = 0;
    std::optional<device> chip;
    run("server1.chip", [&](const trn_transport& door) {
        device& d = chip.emplace(door);
        d.check(trn_probe(d));
        d.check(trn_reset_device(d));
        const auto image = read_firmware("cc_core.img", MiB);
        const auto program = program_that_waits(semaphore, value);
        d.check(trn_cc_load(d, 1u << core, image.data(), image.size()));
        d.check(trn_cc_program(d, core, slot, program.data(),
                               static_cast<std::uint32_t>(program.size())));
        d.check(trn_cc_trigger(d, core, slot));
        d.check(trn_sleep(d, 100'000));
        d.check(trn_cc_slot_state(d, core, slot, &state));
        EXPECT_EQ(state.state, TRN_CC_RUNNING);
        d.check(trn_bar_address(d, d.info().register_bar, &registers, &size));
        registers += trn_cc_bar_offset(d, core);
    });
    drive("server0.chip", [&](device& d) {
        d.check(trn_write(d, 0, trn_hbm_address(d, 0, 64 * MiB), &value, sizeof value));
    });
    card near, far;
    use("server0", near);
    use("server1", far);
    meet("server0", near, far);
    meet("server1", far, near);
    const std::uint64_t increment =
        registers + TRN_SEMAPHORES_SEMAPHORE_INCREMENT_OFFSET(semaphore);
    std::uint32_t key = 0;
    run("server1.nic", [&](const trn_transport&) {
        ASSERT_EQ(trn_rdma_register(far.open, far.domain, increment & ~std::uint64_t{page - 1},
                                    page, TRN_RDMA_REMOTE_WRITE, &key),
                  0);
    });
    EXPECT_EQ(send(near, far, sizeof value, increment, key), std::uint32_t{TRN_RDMA_OK});
    run("server1.chip", [&](const trn_transport&) {
        chip->check(trn_sleep(*chip, 100'000));
        chip->check(trn_cc_slot_state(*chip, core, slot, &state));
        chip.reset();
    });
    EXPECT_EQ(state.state, TRN_CC_LOADED);
    EXPECT_EQ(state.error, TRN_CC_NO_ERROR);
    EXPECT_EQ(state.runs, 1u);
    close("server0", near);
    close("server1", far);
}

/// Removes the card of one server during a transfer, and reinserts it.
TEST_F(EfaBetweenServersTest, LostCardEndsOnlyItsOwnTransfers) {
    constexpr std::uint32_t size = 16 * MiB;  // 0.35 ms
    std::vector<std::uint8_t> bytes(size, 0x3c), back(size);
    drive("server0.chip", [&](device& d) {
        d.check(trn_write(d, 0, trn_hbm_address(d, 0, 64 * MiB), bytes.data(), size));
    });
    drive("server1.chip", [&](device&) {});
    card near, far;
    const auto connect = [&] {
        use("server1", far);
        meet("server1", far, near);
        meet("server0", near, far);
    };
    use("server0", near);
    auto& hub = *platform_.modules().find<pcie_switch>("server1.switch");
    const auto surprises = [&] {
        return hub.down_port(1).space().get<std::uint32_t>(0x100 + PCI_ERR_UNCOR_STATUS) &
               PCI_ERR_UNC_SURPDN;
    };
    connect();
    EXPECT_EQ(surprises(), 0u);
    sc_core::sc_spawn([&] {
        sc_core::wait(sc_core::sc_time(150, sc_core::SC_US));
        hub.inject("card_removed", {{"port", "1"}});
    });
    EXPECT_EQ(send(near, far, size), std::uint32_t{TRN_RDMA_UNRESPONSIVE});
    EXPECT_NE(surprises(), 0u);
    std::array<std::uint8_t, 2> vendor{};
    functions_.at("server1.nic").port->config_read(0, vendor);
    EXPECT_EQ(vendor[0], 0xff);
    drive("server1.chip", [&](device& d) {  // below the same switch
        const auto from = trn_hbm_address(d, 0, 128 * MiB), to = trn_hbm_address(d, 1, 128 * MiB);
        d.check(trn_write(d, 0, from, bytes.data(), size));
        d.check(trn_copy(d, 0, to, from, size));
        d.check(trn_read(d, 0, back.data(), to, size));
    });
    EXPECT_EQ(back, bytes);

    hub.inject("card_inserted", {{"port", "1"}});
    connect();
    EXPECT_EQ(send(near, far, size), std::uint32_t{TRN_RDMA_OK});
    drive("server1.chip", [&](device& d) {
        d.check(trn_read(d, 0, back.data(), trn_hbm_address(d, 0, 96 * MiB), size));
    });
    EXPECT_EQ(back, bytes);
    close("server0", near);
    close("server1", far);
}

}  // namespace
}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
// Four chips, two switches and cables: DMA by fabric address over switches and through other chips,
// under contention and with failures. The test takes the role of management firmware: ids, routes,
// claims.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "models/pcie/pcie/tlp.h"
#include "models/pcie/pcie_link/pcie_link.h"
#include "models/scale_up/neuron_link/fabric_identity_regs.h"
#include "models/scale_up/neuron_link/neuron_link.h"
#include "models/scale_up/neuron_link/neuron_link_regs.h"
#include "models/scale_up/neuron_switch/neuron_switch.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/values/pattern.h"

namespace trn::test {
namespace {

using neuron_link_regs::reg;
namespace identity = fabric_identity_regs;

constexpr std::uint64_t MiB = 1 << 20;
constexpr std::uint32_t valid = 1u << 31;
constexpr unsigned sled_port = 0, direct_port = 2;

/// Chips 0 and 1 are server 0, chips 2 and 3 server 1, all of rack 0.
unsigned id_of(unsigned chip) {
    return chip / 2 << 4 | chip % 2;
}
/// Fabric address of `axi` of a chip for a DMA engine of SENG `seng`.
std::uint64_t at_chip(unsigned chip, std::uint64_t axi, unsigned seng = 0) {
    return std::uint64_t{1} << 63 | std::uint64_t{seng} << 61 | std::uint64_t{id_of(chip)} << 51 |
           axi;
}

class FabricTest : public testing::Test {
protected:
    void boot(timing_mode timing = timing_mode::contended, const std::string& generation = "4",
              const std::string& lanes = "4") {
        log::replace_sink({});
        misuse::set_policy_of_all(misuse::policy::count);
        platform_ = std::make_unique<platform>(
            kinds(), platform_options{.board = "tests/integration/fabric/two_sleds.yaml",
                                      .set = {"generation=" + generation, "lanes=" + lanes},
                                      .timing = timing});
        for (const auto& f : platform_->functions())
            hosts_.push_back(std::make_unique<host_cpu>(*f.port, host_cpu::config{}));
        ASSERT_EQ(platform_->boot(sc_core::sc_time(1, sc_core::SC_SEC)).cause,
                  stop_reason::kind::condition);
        for (unsigned chip = 0; chip < 4; ++chip) {
            set(chip, reg::own_id, valid | id_of(chip));
            set(chip, reg::route_chip, valid | sled_port, 1 - chip % 2);
            set(chip, reg::route_server, valid | direct_port, 1 - chip / 2);
            claim(chip, identity::claim::level_chip, id_of(chip));
        }
    }
    /// Runs a program on each of these hosts at the same time.
    void drive(const std::vector<unsigned>& which,
               const std::function<void(device&, unsigned host)>& work) {
        for (const unsigned n : which)
            hosts_[n]->run([&, n] {
                device chip(hosts_[n]->transport());
                chip.check(trn_probe(chip));
                chip.check(trn_reset_device(chip));
                work(chip, n);
            });
        run_loop::goal goal{"the test", "the hosts"};
        goal.condition = [&] {
            for (const unsigned n : which)
                if (!hosts_[n]->idle()) return false;
            return true;
        };
        platform_->loop().run(std::move(goal));
        for (const unsigned n : which) hosts_[n]->rethrow();
    }

    template <class T>
    T& find(const std::string& path) {
        auto* found = platform_->modules().find<T>(path);
        if (found == nullptr) throw std::runtime_error("no " + path);
        return *found;
    }
    neuron_link& link_of(unsigned chip) {
        return find<neuron_link>("chip" + std::to_string(chip) + ".neuron_link");
    }
    pcie_link& sled_wire(unsigned chip) {
        return find<pcie_link>("sled_wire" + std::to_string(chip));
    }
    /// Writes a register as the chip's management processor.
    void set(unsigned chip, reg which, std::uint32_t value, unsigned index = 0) {
        tlm::tlm_generic_payload payload;
        prepare(payload, neuron_link_regs::offset(which, index), value);
        sc_core::sc_time ignored;
        link_of(chip).control.get_base_export()->b_transport(payload, ignored);
        ASSERT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
    }
    /// Sends a claim through the chip's port to the sled's switch.
    void claim(unsigned chip, std::uint64_t level, unsigned id) {
        auto word = static_cast<std::uint32_t>(identity::claim::level.set(id, level));
        tlm::tlm_generic_payload payload;
        prepare(payload, identity::offset(identity::reg::claim), word);
        pcie::tlp tlp;
        tlp.destination = pcie::tlp::space::config;
        payload.set_extension(&tlp);
        sc_core::sc_time ignored;
        link_of(chip).port[sled_port].send(payload, ignored);
        payload.clear_extension(&tlp);
        ASSERT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
    }

    /// Fills an address of the chip's stack with a pattern; returns the address.
    static std::uint64_t source(device& chip, std::uint64_t size, std::uint64_t seed) {
        std::vector<std::uint8_t> bytes(size);
        pattern(seed).fill(bytes);
        const auto at = trn_hbm_address(chip, 0, 64 * MiB);
        chip.check(trn_write(chip, 0, at, bytes.data(), size));
        return at;
    }
    static void expect_pattern(device& chip, std::uint64_t at, std::uint64_t size,
                               std::uint64_t seed, unsigned core = 0) {
        std::vector<std::uint8_t> bytes(size);
        chip.check(trn_read(chip, core, bytes.data(), at, size));
        EXPECT_EQ(pattern(seed).check(bytes), std::nullopt);
    }
    /// GB/s of payload on a link of Gen4 x4, with packets of 256 and 24 bytes.
    static constexpr double link_rate = 8.0 * 128 / 130 * 256 / 280;

    std::unique_ptr<platform> platform_;
    std::vector<std::unique_ptr<host_cpu>> hosts_;

private:
    static void prepare(tlm::tlm_generic_payload& payload, std::uint64_t offset,
                        std::uint32_t& value) {
        payload.set_command(tlm::TLM_WRITE_COMMAND);
        payload.set_address(offset);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
    }
};

/// Every chip copies to and from every chip including itself: over a switch, a cable, or both.
struct FabricCopies : FabricTest {
    static void between_all(device& chip, unsigned host) {
        constexpr std::uint64_t size = 300'001;  // unaligned
        const auto from = source(chip, size, host);
        for (unsigned other = 0; other < 4; ++other) {
            const auto to = at_chip(other, trn_hbm_address(chip, other, (128 + host) * MiB), other);
            chip.check(trn_copy(chip, other, to, from, size));
            expect_pattern(chip, to, size, host, 4 + other);
        }
    }
    void check_transit() {
        struct total final : statistics {
            void count(std::string_view name, std::uint64_t value) override {
                if (name == "transit_bytes") bytes += value;
            }
            std::uint64_t bytes = 0;
        } all;
        for (unsigned chip = 0; chip < 4; ++chip) link_of(chip).publish(all);
        // Each copy to the diagonally opposite chip and back was forwarded by one other chip per
        // direction.
        EXPECT_GE(all.bytes, 4u * 2 * 300'001);
    }
};

TEST_F(FabricCopies, ReachEveryChipFromEveryChip) {
    boot();
    drive({0, 1, 2, 3}, between_all);
    check_transit();
    EXPECT_EQ(misuse::count(misuse::no_route), 0u);
}

TEST_F(FabricCopies, MoveAndCountTheSameBytesInFunctionalTiming) {
    boot(timing_mode::functional);
    drive({0, 1, 2, 3}, between_all);
    check_transit();
}

TEST_F(FabricTest, CopyTakesTheTimeOfItsSlowestLink) {
    boot();
    drive({0}, [&](device& chip, unsigned host) {
        const auto from = source(chip, 4 * MiB, host);
        for (const unsigned other : {1u, 2u, 3u}) {  // a switch; a cable; a cable, a chip, a switch
            const auto start = trn_now(chip);
            chip.check(trn_copy(chip, 0, at_chip(other, 256 * MiB), from, 4 * MiB));
            const auto taken = static_cast<double>(trn_now(chip) - start);
            EXPECT_NEAR(taken, 4 * MiB / link_rate, 0.05 * 4 * MiB / link_rate) << other;
        }
    });
}

TEST_F(FabricTest, SendersToOneChipShareItsLinkEvenly) {
    boot();
    std::array<double, 4> taken{};
    // 0 and 1 write to 3 over their cables, which end at 2 and 3. Chip 2 forwards 0's data through
    // the switch; 2 itself writes to 3 too, so 0 and 2 share the cable of chip 3.
    drive({0, 2}, [&](device& chip, unsigned host) {
        const auto from = source(chip, 4 * MiB, host);
        // Starts both together.
        chip.check(trn_sleep(chip, 20'000'000 - trn_now(chip) % 20'000'000));
        const auto start = trn_now(chip);
        chip.check(trn_copy(chip, 0, at_chip(3, (256 + 16 * host) * MiB), from, 4 * MiB));
        taken[host] = static_cast<double>(trn_now(chip) - start);
    });
    const double shared = 2 * 4 * MiB / link_rate;
    EXPECT_NEAR(taken[0], shared, 0.06 * shared);
    EXPECT_NEAR(taken[2], shared, 0.06 * shared);
}

TEST_F(FabricTest, ShortCopyWaitsOnlyForTheInFlightPartOfALongOne) {
    boot();
    double taken = 0;
    drive({0, 2}, [&](device& chip, unsigned host) {
        const auto from = source(chip, 8 * MiB, host);
        // Starts both together.
        chip.check(trn_sleep(chip, 20'000'000 - trn_now(chip) % 20'000'000));
        // While the other's copy of 1.2 ms runs.
        if (host == 2) chip.check(trn_sleep(chip, 300'000));
        const auto start = trn_now(chip);
        const std::uint64_t size = host == 0 ? 8 * MiB : 64 << 10;
        chip.check(trn_copy(chip, 0, at_chip(3, (256 + 16 * host) * MiB), from, size));
        if (host == 2) taken = static_cast<double>(trn_now(chip) - start);
    });
    const double in_flight = (256 << 10) + (64 << 10), own = 64 << 10;
    EXPECT_LT(taken, (in_flight + own) / link_rate + 15'000);  // plus the driver's overhead
    EXPECT_GT(taken, own / link_rate);
}

/// The test writes the descriptors of the ring: data, immediately followed by a semaphore write.
TEST_F(FabricTest, SemaphoreWriteNeverOvertakesItsData) {
    boot();
    constexpr std::uint32_t rounds = 24, size = 64 << 10;
    bool done = false;
    drive({0, 3}, [&](device& chip, unsigned host) {
        const auto last = trn_hbm_address(chip, 2, 512 * MiB) + size - 4;
        if (host == 3) {  // reads the last word after each change of the semaphore
            std::int32_t seen = 0;
            for (int looks = 0; seen < static_cast<std::int32_t>(rounds) && looks < 100'000;
                 ++looks) {
                chip.check(trn_semaphore_read(chip, TRN_SYNC_CORE, 5, 0, &seen));
                std::uint32_t word = 0;
                chip.check(trn_read(chip, 1, &word, last, sizeof word));
                EXPECT_GE(word, static_cast<std::uint32_t>(seen));
            }
            EXPECT_EQ(seen, static_cast<std::int32_t>(rounds));
            done = true;
            return;
        }
        // A block whose last word is the round number, and a word 1 that is added to the semaphore.
        const auto blocks = trn_hbm_address(chip, 0, 64 * MiB);
        std::vector<std::uint8_t> block(size);
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            std::memcpy(block.data() + size - 4, &round, sizeof round);
            chip.check(trn_write(chip, 0, blocks + round * size, block.data(), size));
        }
        const std::uint32_t one = 1;
        chip.check(trn_write(chip, 0, blocks, &one, sizeof one));
        const auto ring = trn_hbm_address(chip, 0, 32 * MiB);
        chip.check(trn_ring_init(chip, 3, 2, ring, 64, ring + 4096, 64));
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            const std::array<trn_descriptor, 2> from{
                trn_m2s_descriptor(blocks + round * size, size, 1, 0),
                trn_m2s_descriptor(blocks, sizeof one, 1, 0)};
            const std::array<trn_descriptor, 2> to{
                trn_s2m_descriptor(at_chip(3, last + 4 - size), size, 1, 0),
                trn_s2m_descriptor(at_chip(3, trn_sbuf_address(chip, 5, 0x270'1800)), sizeof one, 1,
                                   0)};
            chip.check(trn_descriptors_write(chip, 0, ring, 2 * (round - 1), from.data(), 2));
            chip.check(trn_descriptors_write(chip, 0, ring + 4096, 2 * (round - 1), to.data(), 2));
        }
        chip.check(trn_ring_start(chip, 3, 2, 2 * rounds, 2 * rounds));
        chip.check(trn_sleep(chip, 5'000'000));
    });
    EXPECT_TRUE(done);
}

TEST_F(FabricTest, LinkFailureAbortsTheCopyAndTheNextIsRerouted) {
    boot();
    drive({0}, [&](device& chip, unsigned host) {
        const auto from = source(chip, 8 * MiB, host);
        const auto to = at_chip(1, 256 * MiB);
        // 8 MiB take 1.2 ms; the cable fails during the copy.
        const auto start = sc_core::sc_time_stamp();
        sc_core::sc_spawn([&] {
            sc_core::wait(sc_core::sc_time(400, sc_core::SC_US));
            sled_wire(1).inject("link_down", {});
        });
        EXPECT_EQ(trn_copy(chip, 0, to, from, 8 * MiB), TRN_ABORTED);
        EXPECT_LT(sc_core::sc_time_stamp() - start, sc_core::sc_time(5, sc_core::SC_MS));
        // Uses another engine, because cores 0 and 1 share the stopped one. Chips 2 and 3 forward
        // the copy: 0 -> cable -> 2 -> switch -> 3 -> cable -> 1.
        set(0, reg::route_chip, valid | direct_port, 1);
        set(2, reg::route_server, valid | sled_port, 0);
        claim(3, identity::claim::level_server, id_of(0));
        chip.check(trn_copy(chip, 2, to, from, 8 * MiB));
        expect_pattern(chip, to, 8 * MiB, host, 4);
    });
    EXPECT_GE(misuse::count(misuse::no_route) + misuse::count(misuse::port_down), 1u);
}

TEST_F(FabricTest, SilentChipDoesNotHangOthers) {
    boot();
    for (const auto* how : {"mute", "garbage"}) {
        link_of(1).inject(how, {});
        drive({0}, [&](device& chip, unsigned host) {
            const auto from = source(chip, 64 << 10, host);
            const auto start = trn_now(chip);
            EXPECT_EQ(trn_copy(chip, 0, at_chip(1, 256 * MiB), from, 64 << 10), TRN_ABORTED) << how;
            EXPECT_LT(trn_now(chip) - start, 5'000'000u);
            chip.check(trn_copy(chip, 2, at_chip(2, 256 * MiB), from, 64 << 10));
            expect_pattern(chip, at_chip(2, 256 * MiB), 64 << 10, host, 4);
        });
        link_of(1).inject("talk", {});
    }
    drive({0}, [&](device& chip, unsigned host) {
        chip.check(
            trn_copy(chip, 0, at_chip(1, 256 * MiB), source(chip, 64 << 10, host), 64 << 10));
    });
}

/// The remote memory is accessed through a pointer, so a remote copy costs the host about the same.
TEST_F(FabricTest, RemoteCopyCostsTheHostLittleMoreThanALocalOne) {
    boot(timing_mode::contended, "6", "16");
    drive({0}, [&](device& chip, unsigned host) {
        const auto from = source(chip, MiB, host);
        const auto local = trn_hbm_address(chip, 1, 256 * MiB);
        const auto remote = at_chip(3, 256 * MiB);  // a cable, a chip, a switch with two cables
        // Processor time of this thread: with a limit set, the process clock counts only ticks.
        const auto now = [] {
            timespec time{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
        };
        const auto seconds = [&](std::uint64_t to) {
            const auto start = now();
            for (int i = 0; i < 50; ++i) chip.check(trn_copy(chip, 0, to, from, MiB));
            return now() - start;
        };
        seconds(local), seconds(remote);  // touches the pages of both
        double near = 1e9, far = 1e9;
        for (int i = 0; i < 5; ++i) {
            near = std::min(near, seconds(local));
            far = std::min(far, seconds(remote));
        }
        std::printf("1 MiB: local %.1f us, remote %.1f us\n", near / 50 * 1e6, far / 50 * 1e6);
        EXPECT_LT(far, 1.5 * near);  // the goal is 1.2; caches of a shared machine add noise
    });
}

}  // namespace
}  // namespace trn::test

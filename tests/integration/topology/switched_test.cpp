// SPDX-License-Identifier: Apache-2.0
// Firmware on eight chips connected by sled and rack switches: discovery, and the handling of
// swapped, dead or missing cables and of silent, absent or faulty partners.
#include "models/processor/riscv/riscv_hart.h"
#include "platform/framework/config/diagnostics.h"
#include "tests/integration/topology/machine.h"
#include "tests/support/bar0.h"

namespace trn::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr unsigned link_error = 9;  // enum error_code of the firmware
constexpr unsigned server_chips = 1, rack_chips = 2, other_chips = 4;

/// Fabric address of a chip's AXI space (doc/models/scale_up/neuron_link.md).
std::uint64_t fabric(unsigned rack, unsigned server, unsigned chip, std::uint64_t axi) {
    return 1ull << 63 | std::uint64_t{rack} << 60 | std::uint64_t{server} << 55 |
           std::uint64_t{chip} << 51 | axi;
}

class Switched : public machine {
protected:
    void start(const edits& changes = {}) {
        build("switched.yaml", changes);
        if (!HasFatalFailure()) boot();
    }
    /// Checks that a chip can write another chip's memory and read it back.
    void expect_reaches(unsigned from, unsigned to) {
        drive({{from, [&] {
                    device chip(host(from).transport());
                    chip.check(trn_probe(chip));
                    chip.check(trn_reset_device(chip));
                    std::vector<std::uint8_t> bytes(50'000), back(bytes.size());
                    pattern(10 * from + to).fill(bytes);
                    const auto at = fabric(to / 4, to / 2 % 2, to % 2, (64ull + from) << 20);
                    chip.check(trn_write(chip, 0, at, bytes.data(), bytes.size()));
                    chip.check(trn_read(chip, 1, back.data(), at, back.size()));
                    EXPECT_EQ(back, bytes) << from << " to " << to;
                }}});
    }
    void expect_counts(unsigned chip, unsigned server, unsigned rack, unsigned other) {
        const auto t = topology_of(chip);
        EXPECT_EQ(t.reachable_server, server) << "chip " << chip;
        EXPECT_EQ(t.reachable_rack, rack) << "chip " << chip;
        EXPECT_EQ(t.reachable_other, other) << "chip " << chip;
    }
    void expect_healthy(unsigned chip) {
        const auto t = topology_of(chip);
        for (unsigned p = 0; p < 3; ++p)
            EXPECT_EQ(t.ports[p].fault, TRN_LINK_OK) << "chip " << chip << " port " << p;
        expect_counts(chip, server_chips, rack_chips, other_chips);
        EXPECT_EQ(misc(chip, TRN_MISC_RAM_HEALTH_STATUS_OFFSET), 0u);
    }
};

TEST_F(Switched, RefusesABoardWithAPlaceOutsideTheMachine) {
    const auto refusal = [&](const std::string& from, const std::string& to) -> std::string {
        try {
            build("switched.yaml", {{from, to}});
        } catch (const config_error& wrong) {
            return wrong.what();
        }
        return "built";
    };
    EXPECT_THAT(refusal("chip: [0, 1,", "chip: [0, 2,"),
                testing::AllOf(HasSubstr("E54"), HasSubstr("outside the machine's shape")));
    EXPECT_THAT(refusal("rack: [0, 0, 0, 0, 1,", "rack: [0, 0, 0, 0, 2,"),
                HasSubstr("outside the machine's shape"));
    EXPECT_THAT(refusal("shape_x: 2", "shape_x: 17"),
                HasSubstr("16 chips, 32 servers and 2 racks"));
}

TEST_F(Switched, PublishesACompleteMachine) {
    start();
    EXPECT_LT(sc_core::sc_time_stamp(), sc_core::sc_time(5, sc_core::SC_MS));
    for (unsigned chip = 0; chip < 8; ++chip) {
        expect_healthy(chip);
        EXPECT_EQ(misc(chip, TRN_MISC_RAM_SERVER_ID_OFFSET),
                  0x8000'8000u | chip / 2 | chip / 4 << 16);
        const auto t = topology_of(chip);
        EXPECT_EQ(t.kind, TRN_TOPOLOGY_SWITCHED);
        EXPECT_EQ(t.own.rack, chip / 4);
        EXPECT_EQ(t.own.server, chip / 2 % 2);
        EXPECT_EQ(t.own.chip, chip % 2);
        EXPECT_EQ(t.ports[0].partner.kind, TRN_PARTNER_SLED_SWITCH);
        EXPECT_EQ(t.ports[0].serial, 0x10u + chip / 2);
        EXPECT_EQ(t.ports[0].partner_port, chip % 2);
        EXPECT_EQ(t.ports[1].partner.kind, TRN_PARTNER_RACK_SWITCH);
        EXPECT_EQ(t.ports[1].serial, 0x20u + chip / 4);
        EXPECT_EQ(t.ports[2].partner.kind, TRN_PARTNER_CHIP);
        EXPECT_EQ(t.ports[2].serial, 0x5452'4e33'0000'0000u + (chip + 4) % 8 + 1);
        EXPECT_EQ(t.ports[2].generation, 6u);
        EXPECT_EQ(t.ports[2].lanes, 16u);
        EXPECT_FALSE(t.ports[3].connected);
        EXPECT_TRUE(errors(chip, link_error).empty());
        EXPECT_THAT(console(chip), Not(HasSubstr("warning")));
    }
    for (const unsigned to : {1u, 2u, 3u, 4u, 5u, 6u, 7u}) expect_reaches(0, to);
}

TEST_F(Switched, DriverReportsTheTopologyToTheHost) {
    start();
    drive({{5, [&] {
                device chip(host(5).transport());
                chip.check(trn_probe(chip));
                trn_topology found{};
                chip.check(trn_get_topology(chip, &found));
                EXPECT_EQ(found.own.rack, 1u);
                EXPECT_EQ(found.reachable_other, other_chips);
                // A device reset keeps the links up and publishes their state again.
                for (std::uint64_t at = 0x400; at < 0x540; at += 4)
                    chip.check(trn_bar_write_raw(chip, bar0::misc_ram + at, 0x55));
                chip.check(trn_reset_device(chip));
                trn_topology again{};
                chip.check(trn_get_topology(chip, &again));
                EXPECT_EQ(memcmp(&found.ports, &again.ports, sizeof found.ports), 0);
                EXPECT_EQ(again.reachable_other, other_chips);
            }}});
}

TEST_F(Switched, NamesTheEndOfASwappedCable) {
    start({{"across0.b <-> chip4.port2", "across0.b <-> chip6.port2"},
           {"across2.b <-> chip6.port2", "across2.b <-> chip4.port2"}});
    EXPECT_THAT(
        console(0),
        HasSubstr("port 2 leads to rack 1 server 1 chip 0, expected rack 1 server 0 chip 0"));
    EXPECT_THAT(
        console(4),
        HasSubstr("port 2 leads to rack 0 server 1 chip 0, expected rack 0 server 0 chip 0"));
    const auto t = topology_of(0);
    EXPECT_EQ(t.ports[2].fault, TRN_LINK_WRONG_PARTNER);
    EXPECT_EQ(t.ports[2].partner.place.server, 1u);
    EXPECT_EQ(t.ports[2].expected.place.server, 0u);
    EXPECT_EQ(t.ports[2].serial, 0x5452'4e33'0000'0007u);
    EXPECT_EQ(misc(0, TRN_MISC_RAM_HEALTH_STATUS_OFFSET),
              std::uint32_t{TRN_MISC_RAM_HEALTH_STATUS_LINK_INTERSERVER_MASK});
    const auto kept = errors(0, link_error);
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].first, 2u | TRN_LINK_WRONG_PARTNER << 8);
    EXPECT_EQ(kept[0].second, 0x01'01'01'00'01'01'00'00u);
    expect_healthy(1);
    // The neighbour on the sled has a correctly connected cable.
    run_ms(2);
    expect_counts(0, server_chips, rack_chips, other_chips);
    expect_reaches(0, 4);
    expect_reaches(6, 2);
}

TEST_F(Switched, NamesTheSledOfAWronglyConnectedSwitch) {
    start({{"to_sled1.b <-> sled0.port[1]", "to_sled1.b <-> sled1.port[0]"},
           {"to_sled2.b <-> sled1.port[0]", "to_sled2.b <-> sled0.port[1]"}});
    EXPECT_THAT(console(1),
                HasSubstr("port 0 leads to the sled switch of rack 0 server 1, expected the sled "
                          "switch of rack 0 server 0"));
    EXPECT_EQ(misc(2, TRN_MISC_RAM_HEALTH_STATUS_OFFSET),
              std::uint32_t{TRN_MISC_RAM_HEALTH_STATUS_LINK_SWITCH_MASK});
    run_ms(2);
    expect_reaches(0, 1);  // through the rack switch
    expect_reaches(1, 0);
}

TEST_F(Switched, DistinguishesPortsOfOneChip) {
    start({{"to_sled0.b <-> sled0.port[0]", "to_sled0.b <-> rack0.port[0]"},
           {"to_rack0.b <-> rack0.port[0]", "to_rack0.b <-> sled0.port[0]"}});
    EXPECT_THAT(console(0), HasSubstr("port 0 leads to the rack switch of rack 0, expected the "
                                      "sled switch of rack 0 server 0"));
    EXPECT_THAT(console(0), HasSubstr("port 1 leads to the sled switch of rack 0 server 0"));
}

TEST_F(Switched, ReportsAMissingCable) {
    start({{"  - across3.b <-> chip7.port2\n", ""},
           {"{bind: \"chip${i}.port2 <-> across${i}.a\", count: 4}",
            "{bind: \"chip${i}.port2 <-> across${i}.a\", count: 3}"},
           {"across: {type: pcie_link, count: 4", "across: {type: pcie_link, count: 3"}});
    EXPECT_THAT(console(7), HasSubstr("port 2 has no cable, expected rack 0 server 1 chip 1"));
    EXPECT_EQ(topology_of(7).ports[2].fault, TRN_LINK_NOT_CONNECTED);
    run_ms(2);
    expect_reaches(7, 3);
}

TEST_F(Switched, AvoidsADeadLinkAndReturnsWhenItRecovers) {
    start();
    struct way {
        const char* cable;
        unsigned chip, port, to;
        std::uint32_t unhealthy;
    };
    for (const auto& [cable, chip, port, to, unhealthy] :
         {way{"across1", 1, 2, 5, TRN_MISC_RAM_HEALTH_STATUS_LINK_INTERSERVER_MASK},
          way{"to_rack0", 0, 1, 2, TRN_MISC_RAM_HEALTH_STATUS_LINK_SWITCH_MASK},
          way{"to_sled6", 6, 0, 7, TRN_MISC_RAM_HEALTH_STATUS_LINK_SWITCH_MASK}}) {
        inject(cable, "link_down");
        run_ms(3);
        EXPECT_EQ(topology_of(chip).ports[port].fault, TRN_LINK_DOWN) << cable;
        EXPECT_EQ(topology_of(chip).ports[port].downs, 1u) << cable;
        EXPECT_EQ(misc(chip, TRN_MISC_RAM_HEALTH_STATUS_OFFSET), unhealthy) << cable;
        EXPECT_THAT(console(chip), HasSubstr("port " + std::to_string(port) + " is down"));
        expect_reaches(chip, to);
        expect_reaches(to, chip);
        inject(cable, "link_up");
        run_ms(3);
        EXPECT_THAT(console(chip), HasSubstr("port " + std::to_string(port) + " works again"));
        for (unsigned n = 0; n < 8; ++n) expect_healthy(n);
        expect_reaches(chip, to);
    }
}

TEST_F(Switched, UsesADegradedLinkAndReportsIt) {
    start();
    inject("to_rack2", "lane_loss", {{"lanes", 4}});
    run_ms(3);
    const auto t = topology_of(2);
    EXPECT_EQ(t.ports[1].fault, TRN_LINK_DEGRADED);
    EXPECT_LT(t.ports[1].lanes, t.ports[1].lanes_full);
    EXPECT_THAT(console(2), HasSubstr("port 1 is degraded: Gen6"));
    expect_reaches(2, 0);
}

TEST_F(Switched, ContinuesWithoutAnUnpoweredSledAndReintegratesIt) {
    start();
    constexpr std::uint32_t size = 16u << 20;
    const auto copy = [&](unsigned from, unsigned to, trn_status ends) {
        device chip(host(from).transport());
        chip.check(trn_probe(chip));
        chip.check(trn_reset_device(chip));
        std::vector<std::uint8_t> bytes(size);
        pattern(from).fill(bytes);
        const auto here = trn_hbm_address(chip, 0, 64ull << 20);
        chip.check(trn_write(chip, 0, here, bytes.data(), size));
        const auto there = fabric(to / 4, to / 2 % 2, to % 2, 256ull << 20);
        chip.check(trn_sleep(chip, 200'000'000 - trn_now(chip)));  // both at the same time
        EXPECT_EQ(trn_copy(chip, 0, there, here, size), ends) << from << " to " << to;
        if (ends != TRN_OK) return;
        std::vector<std::uint8_t> back(size);
        chip.check(trn_read(chip, 1, back.data(), there, size));
        EXPECT_EQ(back, bytes);
    };
    sc_core::sc_spawn([&] {
        sc_core::wait(sc_core::sc_time(200.1, sc_core::SC_MS) - sc_core::sc_time_stamp());
        inject("power1", "power_loss");  // chips 2 and 3
    });
    drive({{0, [&] { copy(0, 2, TRN_ABORTED); }}, {1, [&] { copy(1, 4, TRN_OK); }}});
    EXPECT_LT(sc_core::sc_time_stamp(), sc_core::sc_time(205, sc_core::SC_MS));

    run_ms(3);
    expect_counts(0, server_chips, rack_chips - 2, other_chips);
    for (const unsigned chip : {4u, 6u})  // 6 has lost its link to the other rack
        expect_counts(chip, server_chips, rack_chips, other_chips - 2);
    EXPECT_THAT(console(6), HasSubstr("port 2 is down, expected rack 0 server 1 chip 0"));
    EXPECT_EQ(topology_of(6).ports[2].fault, TRN_LINK_DOWN);
    EXPECT_EQ(topology_of(6).ports[2].downs, 1u);
    EXPECT_EQ(misc(6, TRN_MISC_RAM_HEALTH_STATUS_OFFSET),
              std::uint32_t{TRN_MISC_RAM_HEALTH_STATUS_LINK_INTERSERVER_MASK});
    expect_reaches(0, 1);
    expect_reaches(6, 0);  // neither it nor its neighbour has a direct link: chip 4 or 5 forwards

    consoles_.clear();
    inject("power1", "power_return");
    boot();
    run_ms(3);
    for (const unsigned chip : {2u, 3u}) EXPECT_THAT(console(chip), HasSubstr("power-on"));
    for (unsigned chip = 0; chip < 8; ++chip) expect_healthy(chip);
    EXPECT_THAT(console(6), HasSubstr("port 2 works again"));
    expect_reaches(0, 2);
    expect_reaches(3, 6);
}

/// A faulty partner, during the boot of its neighbours.
struct Partner : Switched {
    /// \param limit_ms of simulated time, in which all but chip 4 are ready
    void start_with(const edits& changes, const char* fault, double limit_ms) {
        build("switched.yaml", changes);
        if (fault) inject("chip4.neuron_link", fault);
        run_ms(limit_ms);
        for (unsigned chip = 0; chip < 8; ++chip)
            EXPECT_TRUE(chip == 4 || ready(chip)) << "chip " << chip << console(chip);
        expect_reaches(1, 5);
        expect_reaches(0, 6);  // through a neighbour on the sled
        expect_reaches(6, 0);
    }
};

TEST_F(Partner, SilentPartnerDelaysNoOther) {
    start_with({}, "mute", 10);
    EXPECT_THAT(console(0), HasSubstr("port 2: no response, expected rack 1 server 0 chip 0"));
    EXPECT_EQ(topology_of(0).ports[2].fault, TRN_LINK_SILENT);
    EXPECT_TRUE(ready(4));
}

TEST_F(Partner, GarbageAnswersAreRejected) {
    start_with({}, "garbage", 10);
    EXPECT_THAT(console(0), HasSubstr("port 2: invalid response, expected rack 1 server 0 chip 0"));
    EXPECT_EQ(topology_of(0).ports[2].fault, TRN_LINK_GARBAGE);
}

TEST_F(Partner, PartnerThatDoesNotBootTimesOut) {
    // Its firmware hangs in both slots before it requests link training.
    start_with({{"    firmware: ${firmware}\n    boot_rom",
                 "    firmware: ${firmware}\n    recovery: false\n    boot_rom"},
                {"chip: [0, 1, 0, 1, 0, 1, 0, 1]",
                 "chip: [0, 1, 0, 1, 0, 1, 0, 1]\n      recovery: [false, false, false, false, "
                 "true, false, false, false]"},
                {"    recovery: false\n", ""}},
               nullptr, 80);
    EXPECT_FALSE(ready(4));
    EXPECT_THAT(console(0), HasSubstr("port 2 is down, expected rack 1 server 0 chip 0"));
    EXPECT_EQ(topology_of(5).reachable_server, 0u);
}

/// Limits the instructions spent on links, which determine the boot time of a rack of 144 chips.
TEST_F(Switched, CostsAChipFewInstructions) {
    start();
    auto* cpu = platform_->modules().find<riscv_hart>("chip0.management.cpu");
    const auto boot = cpu->core().retired();
    EXPECT_LT(boot, 1'000'000u);  // of which links: 80,000
    inject("across0", "flap");
    run_ms(5);
    EXPECT_LT(cpu->core().retired() - boot, 80'000u);
    EXPECT_EQ(topology_of(0).ports[2].downs, 1u);
}

TEST_F(Switched, RediscoversARestartedPartner) {
    start();
    platform_->methods().call(
        "poke",
        {{"space", "chip4.management.resets.in"}, {"address", 0x28u}, {"value", 0x0bad'c0deu}});
    run_ms(10);
    for (unsigned n = 0; n < 8; ++n) expect_healthy(n);
    expect_reaches(0, 4);
    expect_reaches(4, 3);
}

}  // namespace
}  // namespace trn::test

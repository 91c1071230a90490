// SPDX-License-Identifier: Apache-2.0
// A pod of four servers: the topology found by firmware, and the election of its hosts (contract
// 11), which read each other's misc RAM through windows opened by firmware.
#include "tests/integration/topology/machine.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t limit = 1'000'000'000;  // nanoseconds, of an attempt
constexpr unsigned nodes = 4, chips = 2;

class Pod : public machine {
protected:
    struct outcome {
        trn_status status = TRN_BUSY;
        trn_pod pod{};
        std::string error;
    };

    void start(const edits& changes = {}) {
        build("pod.yaml", changes);
        if (!HasFatalFailure()) boot();
    }
    /// Each node's driver loads its devices and takes part in the election, all at the same time.
    std::array<outcome, nodes> elect(std::vector<unsigned> which = {0, 1, 2, 3}) {
        std::array<outcome, nodes> all;
        std::vector<std::pair<unsigned, std::function<void()>>> programs;
        for (const unsigned node : which)
            programs.emplace_back(node * chips, [this, node, &all] {
                std::vector<std::unique_ptr<device>> owned;
                std::vector<trn_device*> devices;
                trn_options options{};
                options.platform = TRN_HOST_ULTRASERVER;
                for (unsigned c = 0; c < chips; ++c) {
                    auto& one = *owned.emplace_back(
                        std::make_unique<device>(host(node * chips + c).transport(), options));
                    one.check(trn_probe(one));
                    one.check(trn_reset_device(one));
                    devices.push_back(one);
                }
                auto& mine = all[node];
                mine.status = trn_pod_elect_node(devices.data(), chips, limit, &mine.pod);
                mine.error = trn_last_error(devices[0]);
                trn_pod words{};
                owned[0]->check(trn_pod_status(*owned[0], &words));
                EXPECT_EQ(words.status, mine.pod.status);
                EXPECT_EQ(words.node, mine.pod.node);
            });
        for (const unsigned node : which)  // SystemC processes cannot be created while it runs
            for (unsigned c = 0; c < chips; ++c) host(node * chips + c);
        drive(programs);
        return all;
    }
};

TEST_F(Pod, FirmwareFindsTheWholePod) {
    start();
    for (unsigned chip = 0; chip < nodes * chips; ++chip) {
        const auto t = topology_of(chip);
        EXPECT_EQ(t.kind, TRN_TOPOLOGY_TORUS);
        EXPECT_EQ(t.reachable_server, 1u);
        EXPECT_EQ(t.reachable_rack, 6u);
        for (const unsigned p : {0u, 1u, 4u, 5u}) {
            EXPECT_EQ(t.ports[p].fault, TRN_LINK_OK) << console(chip);
            EXPECT_EQ(t.ports[p].partner_port, p ^ 1);
            EXPECT_EQ(t.ports[p].generation, 5u);
        }
        EXPECT_FALSE(t.ports[2].connected);
        EXPECT_EQ(misc(chip, TRN_MISC_RAM_SERVER_ID_OFFSET), 0x8000'8000u | chip / 2);
        // Written only by the election.
        EXPECT_EQ(misc(chip, TRN_MISC_RAM_LEFT_SERIAL_LO_OFFSET), 0u);
        EXPECT_EQ(misc(chip, TRN_MISC_RAM_HEALTH_STATUS_OFFSET), 0u);
    }
}

TEST_F(Pod, ElectsNodeIdsByTheRulesOfTheContract) {
    start();
    const auto all = elect();
    // Serials of the primaries: 11, 41, 31, 21. The lowest is node 0, the one opposite is node 2;
    // of the others, the one whose left neighbour's serial is below its right neighbour's is node
    // 1.
    for (unsigned node = 0; node < nodes; ++node) {
        EXPECT_EQ(all[node].status, TRN_OK) << node << ": " << all[node].error;
        EXPECT_EQ(all[node].pod.nodes, 4u);
        EXPECT_EQ(all[node].pod.links, 3u);
        EXPECT_EQ(all[node].pod.node, node);
        EXPECT_EQ(all[node].pod.serial, 0x5452'4e33'0000'0011u);
    }
    for (unsigned chip = 0; chip < nodes * chips; ++chip)
        for (std::uint64_t at = 0x180; at < 0x190; at += 4) EXPECT_EQ(misc(chip, at), 0u);
}

TEST_F(Pod, CountsNodesFromTheLowestSerialOn) {
    start({{"0x5452_4e33_0000_0011", "0x5452_4e33_0000_0051"}});
    const auto all = elect();  // primaries 51, 41, 31, 21: server 3 is node 0
    for (unsigned node = 0; node < nodes; ++node) {
        EXPECT_EQ(all[node].status, TRN_OK) << node << ": " << all[node].error;
        EXPECT_EQ(all[node].pod.serial, 0x5452'4e33'0000'0021u);
    }
    EXPECT_EQ(all[3].pod.node, 0u);
    EXPECT_EQ(all[1].pod.node, 2u);
    // Left of 0 is 1 (41), right is 3 (21); left of 2 is 3 (21), right is 1 (41).
    EXPECT_EQ(all[0].pod.node, 3u);
    EXPECT_EQ(all[2].pod.node, 1u);
}

TEST_F(Pod, TwoNodePodElectsOverItsLinks) {
    start();
    for (const auto* cable : {"pod2", "pod3", "pod6", "pod7"}) inject(cable, "link_down");
    run_ms(2);
    const auto all = elect();
    for (unsigned node = 0; node < nodes; ++node) {
        EXPECT_EQ(all[node].status, TRN_OK) << node << ": " << all[node].error;
        EXPECT_EQ(all[node].pod.nodes, 2u);
        EXPECT_EQ(all[node].pod.links, 1u);  // left
    }
    EXPECT_EQ(all[0].pod.node, 0u);
    EXPECT_EQ(all[1].pod.node, 1u);
    EXPECT_EQ(all[2].pod.node, 1u);
    EXPECT_EQ(all[3].pod.node, 0u);
    EXPECT_EQ(all[2].pod.serial, 0x5452'4e33'0000'0021u);
}

TEST_F(Pod, SingleNodePodFailsTheElection) {
    start();
    const auto all = elect({2});
    EXPECT_EQ(all[2].status, TRN_TIMED_OUT);
    EXPECT_EQ(all[2].pod.status, 2u);
    EXPECT_EQ(all[2].pod.node, 0xffu);
    EXPECT_EQ(all[2].pod.nodes, 0u);
    EXPECT_THAT(all[2].error, HasSubstr("secondary 1: the neighbour on link"));
}

TEST_F(Pod, FirmwareFindsASwappedCableAndItsNodesFailTheElection) {
    // Servers 0 and 1: chip 0's cable leads to chip 1 and the other way round.
    start({{"pod0.b <-> chip2.port4", "pod0.b <-> chip3.port4"},
           {"pod1.b <-> chip3.port4", "pod1.b <-> chip2.port4"}});
    EXPECT_THAT(
        console(0),
        HasSubstr("port 5 leads to rack 0 server 1 chip 1, expected rack 0 server 1 chip 0"));
    EXPECT_THAT(
        console(3),
        HasSubstr("port 4 leads to rack 0 server 0 chip 0, expected rack 0 server 0 chip 1"));
    EXPECT_EQ(misc(0, TRN_MISC_RAM_HEALTH_STATUS_OFFSET),
              std::uint32_t{TRN_MISC_RAM_HEALTH_STATUS_LINK_INTERSERVER_MASK});
    const auto all = elect({0, 1});
    for (const unsigned node : {0u, 1u}) {
        EXPECT_NE(all[node].status, TRN_OK);
        EXPECT_EQ(all[node].pod.status, 2u);
        EXPECT_EQ(all[node].pod.node, 0xffu);
        EXPECT_EQ(misc(node * chips, TRN_MISC_RAM_ELECTION_STATUS_OFFSET), 0x00ff'0002u);
    }
}

TEST_F(Pod, RequiresDevicesInOrder) {
    start();
    host(0);
    host(1);
    drive({{0, [&] {
                device second(host(1).transport()), first(host(0).transport());
                for (auto* one : {&first, &second}) {
                    one->check(trn_probe(*one));
                    one->check(trn_reset_device(*one));
                }
                trn_device* wrong[] = {second.get(), first.get()};
                trn_pod pod{};
                EXPECT_EQ(trn_pod_elect_node(wrong, 2, limit, &pod), TRN_INVALID_ARGUMENT);
                EXPECT_THAT(trn_last_error(second), HasSubstr("device 0 of the node has index 1"));
            }}});
}

}  // namespace
}  // namespace trn::test

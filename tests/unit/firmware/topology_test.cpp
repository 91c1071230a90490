// SPDX-License-Identifier: Apache-2.0
// Expected links and routing of the firmware (doc/topology.md), on models of complete machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "firmware/mgmt/routes.h"
#include "firmware/mgmt/topology.h"
}

namespace {

constexpr unsigned no_port = NO_PORT;

topology shaped(topology_kind kind, unsigned x, unsigned y, unsigned z, place own = {}) {
    return {kind, static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y),
            static_cast<std::uint8_t>(z), own};
}

std::string expected(const topology& t, unsigned port) {
    const auto there = topology_expects(&t, port);
    char name[48];
    const std::string text = topology_name(&there, name, sizeof name);
    return there.kind == PARTNER_CHIP ? text + " port " + std::to_string(there.port) : text;
}

TEST(Topology, TorusJoinsEveryPortToItsPairedPort) {
    const auto corner = shaped(TOPOLOGY_TORUS, 4, 4, 4, {0, 3, 0});
    EXPECT_EQ(expected(corner, 0), "rack 0 server 3 chip 1 port 1");
    EXPECT_EQ(expected(corner, 1), "rack 0 server 3 chip 3 port 0");
    EXPECT_EQ(expected(corner, 2), "rack 0 server 3 chip 4 port 3");
    EXPECT_EQ(expected(corner, 3), "rack 0 server 3 chip 12 port 2");
    EXPECT_EQ(expected(corner, 4), "rack 0 server 2 chip 0 port 5");
    EXPECT_EQ(expected(corner, 5), "rack 0 server 0 chip 0 port 4");
    EXPECT_EQ(expected(corner, 6), "no device");
    const auto flat = shaped(TOPOLOGY_RING, 12, 1, 1, {0, 0, 11});
    EXPECT_EQ(expected(flat, 0), "rack 0 server 0 chip 0 port 1");
    EXPECT_EQ(expected(flat, 1), "rack 0 server 0 chip 10 port 0");
    EXPECT_EQ(expected(flat, 2), "no device");
    EXPECT_EQ(expected(flat, 4), "no device");
}

TEST(Topology, SwitchedMachineHasTwoSwitchesAndAPartnerInTheOtherRack) {
    const auto t = shaped(TOPOLOGY_SWITCHED, 4, 18, 2, {1, 17, 3});
    EXPECT_EQ(expected(t, PORT_SLED), "the sled switch of rack 1 server 17");
    EXPECT_EQ(expected(t, PORT_RACK), "the rack switch of rack 1");
    EXPECT_EQ(expected(t, PORT_OTHER_RACK), "rack 0 server 17 chip 3 port 2");
    EXPECT_EQ(expected(t, 3), "no device");
    EXPECT_EQ(expected(shaped(TOPOLOGY_SWITCHED, 4, 1, 1), PORT_RACK), "no device");
    EXPECT_EQ(expected(shaped(TOPOLOGY_NONE, 4, 4, 4), 0), "no device");
}

TEST(Topology, ServersAreNumberedAcrossRacks) {
    const auto id = [](const topology& t, std::uint32_t first = 0x8000'8000) {
        return topology_server_id(&t, first);
    };
    EXPECT_EQ(id(shaped(TOPOLOGY_SWITCHED, 4, 18, 2, {1, 17, 3})), 0x8001'8000u | 35u);
    EXPECT_EQ(id(shaped(TOPOLOGY_TORUS, 4, 4, 4, {0, 3, 0})), 0x8000'8003u);
    EXPECT_EQ(id(shaped(TOPOLOGY_TORUS, 4, 4, 1)), 0x8000'8000u);
    EXPECT_EQ(id(shaped(TOPOLOGY_NONE, 4, 4, 4, {1, 2, 3}), 0x8002'8007), 0x8002'8007u);
    EXPECT_EQ(id(shaped(TOPOLOGY_SWITCHED, 4, 18, 2, {1, 17, 3}), 0x8002'8024), 0x8003'8000u | 71u);
}

// --- Verdicts

struct Verdict : testing::Test {
    topology t = shaped(TOPOLOGY_SWITCHED, 4, 18, 2, {0, 3, 1});
    port found{};

    Verdict() {
        found.connected = found.up = found.identified = true;
        found.partner = {PARTNER_CHIP, {1, 3, 1}, PORT_OTHER_RACK};
    }
    std::string on(unsigned port) {
        found.fault = topology_judge(&t, port, &found);
        char text[128];
        return topology_complaint(&t, port, &found, text, sizeof text);
    }
};

TEST_F(Verdict, NamesTheChipAtTheEndOfASwappedCable) {
    EXPECT_EQ(on(2), "port 2 is well");
    EXPECT_TRUE(topology_usable(&found));
    found.partner.place = {1, 4, 1};
    EXPECT_EQ(on(2), "port 2 leads to rack 1 server 4 chip 1, expected rack 1 server 3 chip 1");
    EXPECT_EQ(found.fault, LINK_WRONG_PARTNER);
    EXPECT_FALSE(topology_usable(&found));
}

TEST_F(Verdict, DistinguishesSledSwitchesFromNeighbourAndRackSwitches) {
    found.partner = {PARTNER_SLED_SWITCH, {0, 3, 0}, 7};
    EXPECT_EQ(on(PORT_SLED), "port 0 is well");
    found.partner.place.server = 4;
    EXPECT_EQ(on(PORT_SLED),
              "port 0 leads to the sled switch of rack 0 server 4, expected the sled switch of "
              "rack 0 server 3");
    found.partner = {PARTNER_RACK_SWITCH, {0, 9, 9}, 7};
    EXPECT_EQ(on(PORT_RACK), "port 1 is well");
    EXPECT_EQ(on(PORT_SLED),
              "port 0 leads to the rack switch of rack 0, expected the sled switch of rack 0 "
              "server 3");
}

TEST_F(Verdict, DistinguishesAWrongPortFromAWrongChip) {
    found.partner.port = 5;
    EXPECT_EQ(on(2), "port 2 leads to port 5 of rack 1 server 3 chip 1, expected its port 2");
}

TEST_F(Verdict, ReportsSilenceGarbageLinkDownAndMissingCable) {
    found.silent = true;
    EXPECT_EQ(on(2), "port 2: no response, expected rack 1 server 3 chip 1");
    found.silent = false;
    found.garbage = true;
    EXPECT_EQ(on(2), "port 2: invalid response, expected rack 1 server 3 chip 1");
    found.up = false;
    EXPECT_EQ(on(2), "port 2 is down, expected rack 1 server 3 chip 1");
    found.connected = false;
    EXPECT_EQ(on(2), "port 2 has no cable, expected rack 1 server 3 chip 1");
    EXPECT_EQ(on(3), "port 3 is well");  // this port has no cable by design
}

TEST_F(Verdict, WaitsForABootingPartner) {
    found.identified = false;
    EXPECT_EQ(on(2), "port 2 is well");
    EXPECT_FALSE(topology_usable(&found));
    EXPECT_EQ(on(5), "port 5 leads to an unidentified device, expected no device");
}

TEST_F(Verdict, ReportsASecondChipAtTheSamePlace) {
    found.partner = {PARTNER_SLED_SWITCH, {0, 3, 0}, 7};
    found.duplicate = true;
    EXPECT_EQ(on(PORT_SLED),
              "port 0: the sled switch of rack 0 server 3 knows another rack 0 server 3 chip 1");
    EXPECT_FALSE(topology_usable(&found));
}

TEST_F(Verdict, AcceptsALinkWithFewerLanes) {
    found.degraded = true;
    found.generation = 3;
    found.lanes = 4;
    found.lanes_full = 16;
    EXPECT_EQ(on(2), "port 2 is degraded: Gen3, 4 of 16 lanes");
    EXPECT_TRUE(topology_usable(&found));
}

// --- Routes: packets are routed through a machine by the words that neighbours publish

using where = std::tuple<unsigned, unsigned, unsigned>;  // rack, server, chip

struct machine {
    topology shape;
    struct chip {
        topology t;
        std::array<port, TOPOLOGY_PORTS> ports{};
        routes table{};
        announcement state{};
    };
    std::map<where, chip> chips;
    std::map<std::pair<where, unsigned>, unsigned> used;  // uses of ports counted by hops()

    machine(topology_kind kind, unsigned x, unsigned y, unsigned z) : shape(shaped(kind, x, y, z)) {
        for (unsigned r = 0; r < topology_racks(&shape); ++r)
            for (unsigned s = 0; s < topology_servers_per_rack(&shape); ++s)
                for (unsigned c = 0; c < topology_chips_per_server(&shape); ++c) add({r, s, c});
    }
    void add(const where& at) {
        auto& made = chips[at];
        const auto [r, s, c] = at;
        made.t = shape;
        made.t.own = {static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(s),
                      static_cast<std::uint8_t>(c)};
        for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
            auto& port = made.ports[p];
            port.partner = topology_expects(&made.t, p);
            port.connected = port.up = port.identified = port.partner.kind != PARTNER_NONE;
        }
    }
    static where at(const place& p) { return {p.rack, p.server, p.chip}; }

    void cut(const where& chip, unsigned port) {
        auto& end = chips.at(chip).ports[port];
        end.up = false;
        end.fault = LINK_DOWN;
        if (end.partner.kind != PARTNER_CHIP) return;
        auto& other = chips.at(at(end.partner.place)).ports[end.partner.port];
        other.up = false;
        other.fault = LINK_DOWN;
    }

    /// Exchanges the partners' words until nothing changes; returns the number of rounds.
    unsigned settle() {
        for (unsigned round = 1;; ++round) {
            bool changed = false;
            for (auto& [where, chip] : chips) changed |= learn(chip);
            for (auto& [where, chip] : chips) {
                const auto now = routes_announce(&chip.t, chip.ports.data());
                changed |= memcmp(&now, &chip.state, sizeof now) != 0;
                chip.state = now;
                chip.table = routes_find(&chip.t, chip.ports.data());
            }
            if (!changed) return round;
            if (round > 40) return 0;
        }
    }
    /// Updates a chip's routes; returns whether a switch needs an update.
    bool learn(chip& c) {
        bool news = false;
        for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
            auto& port = c.ports[p];
            if (port.partner.kind == PARTNER_CHIP) {
                port.state = chips.at(at(port.partner.place)).state;
                continue;
            }
            for (unsigned s = 0; s < topology_servers_per_rack(&shape); ++s)
                port.chips[s] = announced(c, p, s);
            port.racks = racks_beside(c, p);
            for (unsigned r = 0; r < topology_racks(&shape); ++r) {
                const auto now = rack_chips_beside(c, p, r);
                news |= std::exchange(port.rack_chips[r], now) != now;
            }
        }
        return news;
    }
    /// Reports the claims of the other chips at the same switch.
    void claims_beside(const chip& c, unsigned p,
                       const std::function<void(const chip& by, claim, unsigned rack)>& received) {
        for (auto& [where, other] : chips) {
            const auto [r, s, n] = where;
            if (&other == &c || r != c.t.own.rack || (p == PORT_SLED && s != c.t.own.server))
                continue;
            const auto claims = routes_claims(&other.t, other.ports.data(), p);
            if (claims & CLAIM_RACK) received(other, CLAIM_RACK, r);
            if (claims & CLAIM_OTHER_RACK) received(other, CLAIM_OTHER_RACK, r ^ 1);
        }
    }
    std::uint32_t racks_beside(const chip& c, unsigned p) {
        std::uint32_t racks = 0;
        claims_beside(c, p, [&](auto&, claim, unsigned rack) { racks |= 1u << rack; });
        return racks;
    }
    std::uint16_t rack_chips_beside(const chip& c, unsigned p, unsigned of) {
        unsigned most = 0;
        claims_beside(c, p, [&](const chip& by, claim claimed, unsigned rack) {
            if (rack == of)
                most = std::max(most, routes_claimed_chips(&by.t, by.ports.data(), claimed));
        });
        return static_cast<std::uint16_t>(most);
    }
    /// Claims known to the switch at port `p`.
    std::uint16_t announced(const chip& c, unsigned p, unsigned server) {
        if (p == PORT_SLED && server != c.t.own.server) return 0;
        std::uint16_t mask = 0;
        for (auto& [where, other] : chips) {
            const auto [r, s, n] = where;
            if (r == c.t.own.rack && s == server &&
                routes_claims(&other.t, other.ports.data(), p) & CLAIM_SELF)
                mask = static_cast<std::uint16_t>(mask | 1u << n);
        }
        return mask;
    }

    unsigned way(const chip& c, const where& to) const {
        const auto [r, s, n] = to;
        if (r != c.t.own.rack) return c.table.rack[r];
        if (s != c.t.own.server) return c.table.server[s];
        return c.table.chip[n];
    }
    /// Finds the output port of a switch from the claims of chips whose ports are up.
    std::optional<where> through_switch(const chip& from, unsigned p, const where& to) {
        const auto [r, s, n] = to;
        std::optional<where> by_server, by_rack;
        for (auto& [where, chip] : chips) {
            const auto [rack, server, number] = where;
            if (rack != from.t.own.rack) continue;
            if (p == PORT_SLED && server != from.t.own.server) continue;
            const auto claims = routes_claims(&chip.t, chip.ports.data(), p);
            if (where == to && claims & CLAIM_SELF) return where;
            if (&chip == &from) continue;
            if (claims & CLAIM_SERVER && rack == r && server == s && !by_server) by_server = where;
            const bool leads = rack == r ? claims & CLAIM_RACK : claims & CLAIM_OTHER_RACK;
            if (leads && !by_rack) by_rack = where;
        }
        return by_server ? by_server : by_rack;
    }
    /// Number of hops from one chip to another; 0 if it is unreachable.
    unsigned hops(const where& from, const where& to) {
        where at_chip = from;
        for (unsigned hop = 1; hop <= 16; ++hop) {
            auto& chip = chips.at(at_chip);
            const unsigned p = way(chip, to);
            if (p == no_port || !chip.ports[p].up) return 0;
            ++used[{at_chip, p}];
            if (chip.ports[p].partner.kind == PARTNER_CHIP) {
                at_chip = at(chip.ports[p].partner.place);
            } else {
                const auto next = through_switch(chip, p, to);
                if (!next) return 0;
                at_chip = *next;
            }
            if (at_chip == to) return hop;
        }
        return 0;
    }
    /// Number of pairs without a route, and the longest route of the others.
    std::pair<unsigned, unsigned> lost_and_longest() {
        unsigned lost = 0, longest = 0;
        for (auto& [from, one] : chips)
            for (auto& [to, other] : chips) {
                if (from == to) continue;
                const unsigned n = hops(from, to);
                lost += n == 0;
                longest = std::max(longest, n);
            }
        return {lost, longest};
    }
};

using outcome = std::pair<unsigned, unsigned>;  // pairs without a route, hops of the longest route

TEST(Routes, PodRoutesAreShortestPaths) {
    machine pod(TOPOLOGY_TORUS, 4, 4, 4);
    EXPECT_LE(pod.settle(), 5u);
    EXPECT_EQ(pod.lost_and_longest(), outcome(0, 6));
    const auto& chip = pod.chips.at({0, 0, 0});
    const auto count = routes_count(&chip.t, chip.ports.data(), &chip.table);
    EXPECT_EQ(count.server, 15u);
    EXPECT_EQ(count.rack, 48u);
    EXPECT_EQ(count.other, 0u);
}

/// Checks how often all-to-all traffic uses each port, by dimension.
void expect_equal_use(machine whole, const std::vector<unsigned>& of_dimension) {
    whole.settle();
    whole.lost_and_longest();
    for (const auto& [port, times] : whole.used)
        EXPECT_EQ(times, of_dimension.at(port.second / 2)) << "port " << port.second;
    EXPECT_EQ(whole.used.size(), whole.chips.size() * of_dimension.size() * 2);
}

TEST(Routes, TorusRoutesBalanceBothDirectionsOfADimension) {
    expect_equal_use(machine(TOPOLOGY_TORUS, 4, 4, 1), {8, 8});
    expect_equal_use(machine(TOPOLOGY_RING, 12, 1, 1), {18});
    expect_equal_use(machine(TOPOLOGY_TORUS, 4, 4, 4), {32, 32, 32});
}

TEST(Routes, RingOf12UsesTheShorterDirection) {
    machine ring(TOPOLOGY_RING, 12, 1, 1);
    ring.settle();
    EXPECT_EQ(ring.lost_and_longest(), outcome(0, 6));
    ring.cut({0, 0, 4}, 0);
    ring.settle();
    const auto& chip = ring.chips.at({0, 0, 4});
    EXPECT_EQ(ring.hops({0, 0, 3}, {0, 0, 4}), 1u);
    EXPECT_EQ(chip.table.chip[5], 1);
    EXPECT_EQ(ring.hops({0, 0, 4}, {0, 0, 5}), 11u);
    EXPECT_EQ(ring.hops({0, 0, 0}, {0, 0, 5}), 7u);
}

/// Checks that with any one cable cut, every chip reaches every other chip.
void cut_any(topology_kind kind, unsigned x, unsigned y, unsigned z, unsigned longest) {
    const machine whole(kind, x, y, z);
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        if (!whole.chips.begin()->second.ports[p].connected) continue;
        machine broken = whole;
        broken.settle();
        broken.cut(whole.chips.rbegin()->first, p);
        EXPECT_GT(broken.settle(), 0u);
        EXPECT_EQ(broken.lost_and_longest().first, 0u) << "port " << p;
        EXPECT_LE(broken.lost_and_longest().second, longest) << "port " << p;
    }
}

TEST(Routes, PodRoutesAvoidADeadLink) {
    cut_any(TOPOLOGY_TORUS, 4, 4, 4, 7);
}

/// Cuts each pair of the 32 cables of a torus (496 pairs): every chip stays reachable.
TEST(Routes, TorusRoutesAvoidAnyTwoDeadLinks) {
    const machine whole(TOPOLOGY_TORUS, 4, 4, 1);
    std::vector<std::pair<where, unsigned>> cables;
    for (const auto& [at, chip] : whole.chips)
        for (const unsigned p : {0u, 2u}) cables.emplace_back(at, p);
    machine settled = whole;
    settled.settle();
    for (std::size_t i = 0; i < cables.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            machine broken = settled;
            broken.cut(cables[i].first, cables[i].second);
            broken.cut(cables[j].first, cables[j].second);
            ASSERT_GT(broken.settle(), 0u);
            const auto [lost, longest] = broken.lost_and_longest();
            ASSERT_EQ(lost, 0u) << i << " " << j;
            ASSERT_LE(longest, 6u) << i << " " << j;
        }
}

/// Each hop reduces the distance by one, so no two packets can wait for each other
/// (doc/topology.md).
TEST(Routes, DamagedTorusRoutesGetCloserWithEveryHop) {
    machine torus(TOPOLOGY_TORUS, 4, 4, 1);
    for (const unsigned chip : {0u, 2u, 5u, 7u, 8u}) torus.cut({0, 0, chip}, 0);
    for (const unsigned chip : {1u, 3u, 12u}) torus.cut({0, 0, chip}, 2);
    ASSERT_GT(torus.settle(), 0u);
    for (const auto& [from, chip] : torus.chips)
        for (unsigned to = 0; to < 16; ++to) {
            if (std::get<2>(from) == to) continue;
            const unsigned hops = torus.hops(from, {0, 0, to});
            const auto& next = chip.ports[chip.table.chip[to]].partner.place;
            ASSERT_GT(hops, 0u);
            EXPECT_EQ(next.chip == to ? 0u : torus.hops(machine::at(next), {0, 0, to}), hops - 1);
        }
}

TEST(Routes, OnlyDisconnectedChipsHaveNoRoute) {
    machine torus(TOPOLOGY_TORUS, 4, 4, 1);
    torus.settle();
    for (unsigned p = 0; p < 4; ++p) torus.cut({0, 0, 6}, p);
    ASSERT_GT(torus.settle(), 0u);
    EXPECT_EQ(torus.lost_and_longest().first, 30u);  // from 15 chips to it, and back
    const auto& chip = torus.chips.at({0, 0, 0});
    EXPECT_EQ(chip.table.chip[6], no_port);
    EXPECT_EQ(routes_count(&chip.t, chip.ports.data(), &chip.table).server, 14u);
}

TEST(Routes, PodRoutesReachAServerThroughAnyChipWithALink) {
    machine pod(TOPOLOGY_TORUS, 4, 4, 4);
    for (unsigned c = 0; c < 15; ++c)
        for (const unsigned p : {4u, 5u}) pod.cut({0, 2, c}, p);
    ASSERT_GT(pod.settle(), 0u);
    EXPECT_EQ(pod.lost_and_longest().first, 0u);
}

/// Dead links split a server into parts that are connected only through other servers. Packets to
/// the server must enter its larger part, because a table has one row for the whole server.
TEST(Routes, SplitServerRoutesLeadToTheLargerPart) {
    machine alone(TOPOLOGY_TORUS, 4, 4, 4), row = alone;
    const auto expect_lost = [](machine& pod, const std::vector<unsigned>& part) {
        ASSERT_GT(pod.settle(), 0u);
        for (auto& [from, one] : pod.chips)
            for (auto& [to, other] : pod.chips) {
                if (from == to) continue;
                const auto in_part = [&](const where& chip) {
                    return std::get<1>(chip) == 2 && std::ranges::count(part, std::get<2>(chip));
                };
                const unsigned hops = pod.hops(from, to);
                EXPECT_EQ(hops == 0, in_part(to) && !in_part(from))
                    << std::get<1>(from) << "/" << std::get<2>(from) << " to " << std::get<1>(to)
                    << "/" << std::get<2>(to);
            }
    };
    alone.settle();
    for (unsigned p = 0; p < 4; ++p) alone.cut({0, 2, 6}, p);
    expect_lost(alone, {6});
    row.settle();
    for (unsigned c = 4; c < 8; ++c)
        for (const unsigned p : {2u, 3u}) row.cut({0, 2, c}, p);
    expect_lost(row, {4, 5, 6, 7});
}

TEST(Routes, SwitchedMachineRoutesAvoidADeadLink) {
    cut_any(TOPOLOGY_SWITCHED, 4, 6, 2, 4);
}

/// Cuts power of the sled at which all direct links of another sled end.
TEST(Routes, SledRoutesCrossTheRackWhenTheSledPartnerIsDead) {
    machine rack(TOPOLOGY_SWITCHED, 4, 6, 2);
    rack.settle();
    for (unsigned c = 0; c < 4; ++c) rack.cut({1, 3, c}, PORT_OTHER_RACK);
    EXPECT_GT(rack.settle(), 0u);
    EXPECT_EQ(rack.lost_and_longest(), outcome(0, 3));
    for (unsigned s = 0; s < 6; ++s)
        for (unsigned c = 0; c < 4; ++c) rack.cut({1, s, c}, PORT_OTHER_RACK);
    rack.settle();
    const auto& chip = rack.chips.at({1, 3, 0});
    EXPECT_EQ(routes_count(&chip.t, chip.ports.data(), &chip.table).other, 0u);
}

/// All chips count the same machine, regardless of their routes to other chips.
TEST(Routes, OnlyPoweredChipsCount) {
    machine rack(TOPOLOGY_SWITCHED, 4, 6, 2);
    rack.settle();
    const auto count = [&](const where& at) {
        const auto& chip = rack.chips.at(at);
        const auto now = routes_count(&chip.t, chip.ports.data(), &chip.table);
        return std::tuple(now.server, now.rack, now.other);
    };
    // A sled without power: its switch is off, and all cables of its chips are down.
    for (unsigned c = 0; c < 4; ++c)
        for (unsigned p = 0; p < 3; ++p) rack.cut({1, 3, c}, p);
    rack.cut({0, 0, 1}, PORT_OTHER_RACK);
    ASSERT_GT(rack.settle(), 0u);
    EXPECT_EQ(count({0, 0, 0}), std::tuple(3, 20, 20));  // by its link
    EXPECT_EQ(count({0, 0, 1}), std::tuple(3, 20, 20));  // by the link of a neighbour on the sled
    EXPECT_EQ(count({0, 3, 0}), std::tuple(3, 20, 20));  // by the link of another chip of its rack
    EXPECT_EQ(count({1, 5, 3}), std::tuple(3, 16, 24));
    EXPECT_EQ(count({1, 3, 0}), std::tuple(0, 0, 0));
    rack.cut({0, 0, 2}, PORT_RACK);  // reaches its rack through a neighbour
    ASSERT_GT(rack.settle(), 0u);
    EXPECT_EQ(count({0, 0, 2}), std::tuple(3, 20, 20));
}

TEST(Routes, SwitchedMachineRoutesHaveAtMostTwoHops) {
    machine rack(TOPOLOGY_SWITCHED, 4, 6, 2);
    rack.settle();
    EXPECT_EQ(rack.lost_and_longest(), outcome(0, 2));
    EXPECT_EQ(rack.hops({0, 0, 0}, {0, 0, 3}), 1u);
    EXPECT_EQ(rack.hops({0, 0, 0}, {0, 5, 3}), 1u);
    EXPECT_EQ(rack.hops({0, 0, 0}, {1, 0, 0}), 1u);
    EXPECT_EQ(rack.hops({0, 0, 0}, {1, 5, 3}), 2u);
    const auto& chip = rack.chips.at({1, 2, 3});
    const auto count = routes_count(&chip.t, chip.ports.data(), &chip.table);
    EXPECT_EQ(count.server, 3u);
    EXPECT_EQ(count.rack, 20u);
    EXPECT_EQ(count.other, 24u);
}

TEST(Routes, RoutesAreRestoredWhenADeadLinkRecovers) {
    machine pod(TOPOLOGY_TORUS, 4, 4, 4);
    pod.settle();
    const auto before = pod.chips.at({0, 1, 5}).table;
    const auto healthy = pod.chips;
    pod.cut({0, 1, 5}, 0);
    pod.settle();
    EXPECT_NE(memcmp(&pod.chips.at({0, 1, 5}).table, &before, sizeof before), 0);
    for (auto& [at, chip] : pod.chips) chip.ports = healthy.at(at).ports;
    pod.settle();
    EXPECT_EQ(memcmp(&pod.chips.at({0, 1, 5}).table, &before, sizeof before), 0);
}

TEST(Routes, SingleChipHasNoRoutes) {
    const auto alone = shaped(TOPOLOGY_NONE, 1, 1, 1);
    const std::array<port, TOPOLOGY_PORTS> ports{};
    const auto none = routes_find(&alone, ports.data());
    EXPECT_EQ(none.chip[1], no_port);
    EXPECT_EQ(none.server[1], no_port);
    EXPECT_EQ(none.rack[1], no_port);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Order of ranks in rings: links and directions used by each hop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"

namespace trn {
namespace {

struct machine {
    trn_topology_kind kind;
    std::uint32_t x, y, z;
};

trn_topology topology_of(const machine& m) {
    trn_topology topology{};
    topology.kind = m.kind;
    topology.x = m.x;
    topology.y = m.y;
    topology.z = m.z;
    return topology;
}

std::vector<trn_place> all_of(const machine& m) {
    std::vector<trn_place> places;
    for (std::uint32_t server = 0; server < m.z; ++server)
        for (std::uint32_t chip = 0; chip < m.x * m.y; ++chip)
            places.push_back({.rack = 0, .server = server, .chip = chip});
    return places;
}

using orders = std::vector<std::vector<std::uint32_t>>;

orders rings_of(const std::vector<trn_place>& places, const machine& m) {
    const auto topology = topology_of(m);
    const auto ranks = static_cast<std::uint32_t>(places.size());
    std::vector<std::uint32_t> room(std::size_t{TRN_COLL_RINGS} * ranks);
    const auto count = trn_coll_rings(places.data(), &topology, ranks, room.data());
    EXPECT_LE(count, TRN_COLL_RINGS);
    orders rings;
    for (std::size_t n = 0; n < count; ++n)
        rings.emplace_back(room.begin() + static_cast<std::ptrdiff_t>(n * ranks),
                           room.begin() + static_cast<std::ptrdiff_t>((n + 1) * ranks));
    return rings;
}

/// A chip and its port, for the shorter direction.
using cable_end = std::tuple<std::uint32_t, std::uint32_t, int>;

/// The only link of a hop. Port -1: the hop needs more than one.
cable_end link_of(const trn_place& from, const trn_place& to, const machine& m) {
    const std::array sizes{m.x, m.y, m.z};
    const std::array here{from.chip % m.x, from.chip / m.x, from.server};
    const std::array there{to.chip % m.x, to.chip / m.x, to.server};
    int port = -1, moves = 0;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        const auto ahead = (there[n] + sizes[n] - here[n]) % sizes[n];
        if (ahead == 0) continue;
        const auto way = std::min(ahead, sizes[n] - ahead);
        moves += static_cast<int>(way);
        port = static_cast<int>(2 * n) + (ahead == way ? 0 : 1);
    }
    return {from.server, from.chip, moves == 1 ? port : -1};
}

/// How often rings use each link in each direction.
std::map<cable_end, int> loads_of(const orders& rings, const std::vector<trn_place>& places,
                                  const machine& m) {
    std::map<cable_end, int> loads;
    for (const auto& ring : rings)
        for (std::size_t n = 0; n < ring.size(); ++n) {
            const auto end = link_of(places[ring[n]], places[ring[(n + 1) % ring.size()]], m);
            EXPECT_GE(std::get<int>(end), 0) << "a hop over several links";
            ++loads[end];
        }
    return loads;
}

void expect_orders(const orders& rings, std::size_t ranks) {
    for (auto ring : rings) {
        std::ranges::sort(ring);
        ASSERT_EQ(ring.size(), ranks);
        for (std::uint32_t n = 0; n < ranks; ++n) EXPECT_EQ(ring[n], n);
    }
}

void expect_no_link_twice(const std::vector<trn_place>& places, const machine& m,
                          std::size_t count) {
    SCOPED_TRACE(fmt::format("{}x{}x{}, {} ranks", m.x, m.y, m.z, places.size()));
    const auto rings = rings_of(places, m);
    EXPECT_EQ(rings.size(), count);
    expect_orders(rings, places.size());
    for (const auto& [end, load] : loads_of(rings, places, m)) EXPECT_EQ(load, 1);
}

TEST(CollectiveOrder, TorusServerHasFourLinkDisjointRings) {
    for (const auto& [x, y] : {std::pair{4u, 4u}, {3u, 3u}, {3u, 5u}}) {
        const machine torus{TRN_TOPOLOGY_TORUS, x, y, 1};
        expect_no_link_twice(all_of(torus), torus, 4);
    }
}

TEST(CollectiveOrder, RowOrSingleCycleIsABidirectionalRing) {
    for (const std::uint32_t chips : {3u, 6u, 12u}) {
        const machine ring{TRN_TOPOLOGY_RING, chips, 1, 1};
        expect_no_link_twice(all_of(ring), ring, 2);
    }
    for (const auto& [x, y] : {std::pair{4u, 1u}, {2u, 2u}, {2u, 4u}, {4u, 2u}, {3u, 4u}}) {
        const machine torus{TRN_TOPOLOGY_TORUS, x, y, 1};
        expect_no_link_twice(all_of(torus), torus, 2);
    }
}

TEST(CollectiveOrder, ChipSubsetIsABidirectionalRingWhenAllAreNeighbours) {
    const machine torus{TRN_TOPOLOGY_TORUS, 4, 4, 1};
    const auto some = [&](const std::vector<std::uint32_t>& chips) {
        std::vector<trn_place> places;
        for (const auto chip : chips) places.push_back({.rack = 0, .server = 0, .chip = chip});
        return places;
    };
    expect_no_link_twice(some({0, 1, 2, 3, 4, 5, 6, 7}), torus, 2);
    expect_no_link_twice(some({3, 2, 1, 0}), torus, 2);
    expect_no_link_twice(some({5, 6, 9, 10}), torus, 2);
    for (const auto& chips : std::vector<std::vector<std::uint32_t>>{
             {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}, {0, 5, 10, 15}}) {
        const auto rings = rings_of(some(chips), torus);
        EXPECT_EQ(rings.size(), 1u);
        expect_orders(rings, chips.size());
    }
}

TEST(CollectiveOrder, RanksMayBeAtAnyChip) {
    const machine torus{TRN_TOPOLOGY_TORUS, 4, 4, 4};
    auto places = all_of(torus);
    std::ranges::reverse(places);
    std::swap(places[3], places[40]);
    std::swap(places[17], places[63]);
    expect_no_link_twice(places, torus, 4);
}

TEST(CollectiveOrder, JoinedServersHaveFourRingsThatLeaveAtDifferentChips) {
    const machine pod{TRN_TOPOLOGY_TORUS, 4, 4, 4};
    expect_no_link_twice(all_of(pod), pod, 4);
    auto two = all_of(pod);
    two.resize(32);
    expect_no_link_twice(two, pod, 4);
    const machine pair{TRN_TOPOLOGY_TORUS, 4, 4, 2};
    expect_no_link_twice(all_of(pair), pair, 4);
}

TEST(CollectiveOrder, ServersWithoutAClosedCycleHaveOneOrder) {
    const machine pod{TRN_TOPOLOGY_TORUS, 4, 4, 4};
    auto three = all_of(pod);
    three.resize(48);
    EXPECT_EQ(rings_of(three, pod).size(), 1u);
    auto apart = all_of(pod);
    apart.erase(apart.begin() + 48, apart.end());
    apart.erase(apart.begin() + 16, apart.begin() + 32);
    EXPECT_EQ(rings_of(apart, pod).size(), 1u) << "servers 0 and 2";
}

TEST(CollectiveOrder, SwitchedMachineHasOneOrder) {
    const machine rack{TRN_TOPOLOGY_SWITCHED, 4, 4, 1};
    std::vector<trn_place> places;
    for (std::uint32_t n = 0; n < 16; ++n)
        places.push_back({.rack = 0, .server = n / 4, .chip = n % 4});
    const auto rings = rings_of(places, rack);
    EXPECT_EQ(rings.size(), 1u);
    expect_orders(rings, places.size());
}

}  // namespace
}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "platform/app/drawing/board_vocabulary.h"
#include "platform/app/drawing/layout.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "tests/unit/netlist/sample_kinds.h"

namespace {

using namespace trn;
using namespace trn::drawing;
using testing::HasSubstr;

symbol symbol_of(const plan::module& m) {
    if (m.built_as == nullptr) return symbol::group;
    if (m.name.starts_with("chip")) return symbol::chip;
    if (m.name.starts_with("switch")) return symbol::crossing;
    return m.name.starts_with("wire") ? symbol::cable : symbol::nothing;
}

/// A switch with one cable to each of `chips` chips; the modules are strips of plugs.
plan star(unsigned chips) {
    return plan_text(
        "board: star\nmodules:\n  chip: {type: socket_strip, count: " + std::to_string(chips) +
            "}\n  wire: {type: socket_strip, count: " + std::to_string(chips) +
            "}\n  switch: {type: socket_strip, outlets: 32}\nbind:\n"
            "  - switch.feed <-> none\n"
            "  - {bind: \"chip${i}.feed <-> wire${i}.feed\", count: " +
            std::to_string(chips) +
            "}\n"
            "  - {bind: \"wire${i}.outlet[0] <-> switch.outlet[${i}]\", count: " +
            std::to_string(chips) + "}\n",
        "star.yaml", test::sample_kinds(), {});
}

const vocabulary words{symbol_of,
                       [](const plan&, const plan::module&) {
                           return cable{"2 x8", 64'000'000'000};
                       },
                       [](const plan&, const plan::module&) { return std::string("<strip>"); }};

bool overlap(const box& a, const box& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

/// Checks that members of a group are adjacent and inside the group's box.
void expect_room_for_all(const topology& t) {
    const layout places(t);
    for (const auto& p : t.parts)
        for (const auto m : p.members) {
            const auto& inner = places.box_of(m);
            const auto& outer = places.box_of(static_cast<std::uint32_t>(&p - t.parts.data()));
            EXPECT_TRUE(inner.x >= outer.x && inner.y >= outer.y &&
                        inner.right() <= outer.right() && inner.bottom() <= outer.bottom())
                << t.parts[m].path;
            for (const auto other : p.members)
                EXPECT_FALSE(other != m && overlap(inner, places.box_of(other)))
                    << t.parts[m].path << " and " << t.parts[other].path;
        }
}

TEST(Topology, CablesAreDrawnAsEdgesBetweenTheirEnds) {
    const auto t = read_topology(star(3), words);
    ASSERT_EQ(t.connections.size(), 3u);
    EXPECT_EQ(t.count(symbol::chip), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(t.parts[t.connections[i].a].path, "chip" + std::to_string(i));
        EXPECT_EQ(t.parts[t.connections[i].b].path, "switch");
        EXPECT_EQ(t.connections[i].made_of.text, "2 x8");
    }
}

TEST(Topology, IsPrintedAsGraphvizText) {
    const auto board = star(1);
    const auto text = to_dot(board, read_topology(board, words));
    EXPECT_THAT(text, HasSubstr("graph \"star\" {"));
    EXPECT_THAT(text, HasSubstr("\"chip0\" -- \"switch\" [label=\"2 x8\\n64 GB/s\"];"));
}

TEST(Topology, SvgTextIsEscaped) {
    const auto board = star(2);
    const auto text = to_svg(board, read_topology(board, words));
    EXPECT_THAT(text, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_THAT(text, HasSubstr("chip to switch: 2 of 2 x8, 64 GB/s each way"));
    EXPECT_THAT(text, testing::Not(HasSubstr("<strip>")));
    EXPECT_THAT(text, HasSubstr("&lt;strip&gt;"));
    EXPECT_EQ(text, to_svg(board, read_topology(board, words)));
}

TEST(Topology, BoxesDoNotOverlap) {
    for (const unsigned chips : {1u, 2u, 4u, 5u, 16u})
        expect_room_for_all(read_topology(star(chips), words));
}

TEST(Topology, RatesArePrintedWithTheirUnit) {
    EXPECT_EQ(rate_text(256'000'000'000), "256 GB/s");
    EXPECT_EQ(rate_text(1'280'000'000'000), "1.28 TB/s");
}

TEST(Topology, UALinkCablesShowTheirOwnRate) {
    const auto board = plan_text(R"(board: b
modules:
  a: {type: neuron_switch, part: ualink}
  b: {type: neuron_switch, part: ualink}
  wire: {type: pcie_link, protocol: ualink, generation: 1, lanes: 4, links: 2}
bind:
  - a.port[0] <-> wire.a
  - wire.b <-> b.port[0]
)",
                                 "board.yaml", kinds(), {});
    EXPECT_THAT(to_dot(board, read_topology(board, board_vocabulary())),
                HasSubstr("2 x4 UALink\\n200 GB/s"));
}

/// Every board of the project can be drawn.
TEST(Topology, EveryBoardFitsItsPicture) {
    for (const auto& one : list_boards()) {
        SCOPED_TRACE(one.name);
        const auto t = read_topology(load_board(one.name, kinds()), board_vocabulary());
        EXPECT_GT(t.count(symbol::chip), 0u);
        EXPECT_GT(t.count(symbol::host), 0u);
        EXPECT_GE(t.connections.size(), t.count(symbol::chip));
        expect_room_for_all(t);
    }
}

}  // namespace

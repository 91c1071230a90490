// SPDX-License-Identifier: Apache-2.0
// Server ids that firmware derives from the straps of each chip of each board: misc RAM +0x70.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "models/kinds.h"
#include "platform/framework/netlist/expansion/boards.h"

extern "C" {
#include "firmware/mgmt/topology.h"
}

namespace {

std::uint32_t number(const std::string& text) {
    return static_cast<std::uint32_t>(std::stoul(text, nullptr, 0));
}

std::string parent(const std::string& path) {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
}

/// Ids of a board's servers, by the part of the board that contains the server's host.
std::map<std::string, std::set<std::uint32_t>> ids_of(const std::string& name,
                                                      const std::vector<std::string>& set = {}) {
    const auto board = trn::load_board(name, trn::kinds(), set);
    std::map<std::string, std::set<std::uint32_t>> ids;
    for (const auto& module : board.modules)
        if (module.type == "root_complex") ids[parent(module.path)];
    for (const auto& module : board.modules) {
        if (module.type != "reset_controller") continue;
        std::map<std::string, std::string> straps;
        for (const auto& [key, value] : board.parameters_of(module)) straps[key] = value;
        const auto byte = [&](const char* key) {
            return static_cast<std::uint8_t>(number(straps.at(key)));
        };
        static const std::map<std::string, topology_kind> shapes{{"none", TOPOLOGY_NONE},
                                                                 {"ring", TOPOLOGY_RING},
                                                                 {"torus", TOPOLOGY_TORUS},
                                                                 {"switched", TOPOLOGY_SWITCHED}};
        const topology machine{.kind = shapes.at(straps.at("topology")),
                               .x = byte("shape_x"),
                               .y = byte("shape_y"),
                               .z = byte("shape_z"),
                               .own = {byte("rack"), byte("server_in_rack"), byte("chip")}};
        const auto first =
            0x8000'8000 | number(straps.at("server_id")) | number(straps.at("rack_id")) << 16;
        auto server = parent(module.path);
        while (!ids.contains(server)) server = parent(server);
        ids[server].insert(topology_server_id(&machine, first));
    }
    return ids;
}

TEST(ServerIds, AreValidOnEveryBoardAndUniquePerServer) {
    for (const auto& board : trn::list_boards()) {
        std::set<std::uint32_t> seen;
        for (const auto& [server, ids] : ids_of(board.name)) {
            ASSERT_EQ(ids.size(), 1u) << board.name << " " << server;
            const auto id = *ids.begin();
            EXPECT_EQ(id & 0x8000'8000, 0x8000'8000u) << board.name << " " << server;
            EXPECT_TRUE(seen.insert(id & 0x7fff).second) << board.name << " " << server;
        }
        EXPECT_FALSE(seen.empty()) << board.name;
    }
}

TEST(ServerIds, StartAtTheBoardsParameters) {
    for (const auto& board : trn::list_boards()) {
        const auto ids = ids_of(board.name, {"server_id=7", "rack_id=3"});
        std::set<std::uint32_t> servers, racks;
        for (const auto& [server, of] : ids)
            for (const auto id : of) {
                servers.insert(id & 0x7fff);
                racks.insert(id >> 16 & 0x7fff);
            }
        EXPECT_EQ(*servers.begin(), 7u) << board.name;
        EXPECT_EQ(*servers.rbegin(), 7 + ids.size() - 1) << board.name;
        EXPECT_EQ(*racks.begin(), 3u) << board.name;
    }
}

}  // namespace

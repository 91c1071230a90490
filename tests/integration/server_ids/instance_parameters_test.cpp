// SPDX-License-Identifier: Apache-2.0
// Instance parameters of a board are visible in the metadata service of every server.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "models/kinds.h"
#include "platform/framework/netlist/expansion/boards.h"

namespace {

TEST(InstanceParameters, ReachTheMetadataServiceOfEveryServer) {
    std::size_t boards = 0;
    for (const auto& listed : trn::list_boards()) {
        const auto has_service = [](const trn::plan& board) {
            for (const auto& module : board.modules)
                if (module.type == "instance_metadata") return true;
            return false;
        };
        if (!has_service(trn::load_board(listed.name, trn::kinds(), {}))) continue;
        ++boards;
        const auto board = trn::load_board(
            listed.name, trn::kinds(), {"user_data=#!/bin/sh", "role=trainer", "tokens=required"});
        for (const auto& module : board.modules) {
            if (module.type != "instance_metadata") continue;
            std::map<std::string, std::string> given;
            for (const auto& [key, value] : board.parameters_of(module)) given[key] = value;
            EXPECT_EQ(given["user_data"], "#!/bin/sh") << module.path;
            EXPECT_EQ(given["role"], "trainer") << module.path;
            EXPECT_EQ(given["tokens"], "required") << module.path;
            EXPECT_NE(given["product"], "") << module.path;
        }
    }
    EXPECT_GE(boards, 11u);
}

}  // namespace

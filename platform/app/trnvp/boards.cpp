// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/boards.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

std::string as_text(const std::vector<board_entry>& boards) {
    std::size_t width = 0;
    for (const auto& b : boards) width = std::max(width, b.name.size());
    std::string out;
    for (const auto& b : boards)
        out += fmt::format("{:{}}  {}\n", printable(b.name), width, printable(b.description));
    if (boards.empty()) out = fmt::format("no boards in {}\n", boards_folder().string());
    return out;
}

std::string as_json(const std::vector<board_entry>& boards) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& b : boards)
        list.push_back(
            {{"name", b.name}, {"description", b.description}, {"file", b.file.string()}});
    return list.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_boards(cli::command* command, int& status) {
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "as JSON");
    command->examples({{"trnvp boards", "names and descriptions"},
                       {"trnvp boards --json", "the same with the boards' files, for programs"}});
    command->callback([json, &status] {
        const auto boards = list_boards();
        print_to(stdout, "{}", *json ? as_json(boards) : as_text(boards));
        status = 0;
    });
}

}  // namespace trn

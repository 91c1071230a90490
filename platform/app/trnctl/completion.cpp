// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnctl/completion.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/framework/command_line/completion.h"
#include "platform/framework/config/wildcards.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "sw-stubs/trnctl/commands.h"
#include "sw-stubs/trnctl/session.h"

namespace trn {

namespace {

using json = session::json;
using names = std::vector<std::string>;
using words = std::vector<cli::candidate>;

names modules_with(session& platform, const char* list) {
    names all;
    for (const auto& entry : platform.call("list", {{"what", list}})) {
        const auto& modules =
            entry.contains("modules") ? entry["modules"] : json{entry.at("module")};
        for (const auto& module : modules) all.push_back(module.get<std::string>());
    }
    return all;
}

/// The fault's name, or the names of its arguments.
names of_inject(session& platform, const names& given) {
    if (given.empty()) return modules_with(platform, "faults");
    names all;
    for (const auto& group : platform.call("list", {{"what", "faults"}})) {
        const auto matches = [&](const json& module) {
            return matches_name(given[0], module.get<std::string>());
        };
        if (!std::ranges::any_of(group["modules"], matches)) continue;
        for (const auto& fault : group["faults"]) {
            if (given.size() == 1) all.push_back(fault["fault"].get<std::string>());
            if (given.size() == 1 || fault["fault"] != given[1]) continue;
            for (const auto& argument : fault["arguments"])
                all.push_back(argument["name"].get<std::string>() + "=");
        }
    }
    return all;
}

names of_registers(session& platform, const names& given) {
    if (given.empty()) return modules_with(platform, "registers");
    names all;
    if (given.size() == 1)
        for (const auto& entry : platform.call("registers", {{"module", given[0]}}))
            all.push_back(entry.at("name").get<std::string>());
    return all;
}

names of_snapshots(session& platform) {
    names all;
    for (const auto& entry : platform.call("snapshots", json::object()))
        all.push_back(entry.at("name").get<std::string>());
    return all;
}

names of_platform(const cli::unfinished_line& line) {
    const auto connect = line.values.find("--connect");
    if (connect == line.values.end() || line.commands.empty()) return {};
    constexpr std::chrono::milliseconds limit{500};  // the user waits at the prompt
    const auto platform = connect_session(connect->second, {}, {}, limit);
    const auto& command = line.commands[0];
    if (command == "inject") return of_inject(*platform, line.positionals);
    if (command == "registers") return of_registers(*platform, line.positionals);
    if (command == "restore") return of_snapshots(*platform);
    return {};
}

}  // namespace

std::vector<cli::candidate> trnctl_words(const cli::unfinished_line& line) {
    words all;
    if (line.option.empty()) try {
            for (auto& name : of_platform(line)) all.push_back({std::move(name), ""});
        } catch (const std::exception&) {
            // No platform there: the command itself says so.
        }
    if (line.option == "--board")
        for (auto& board : list_boards()) all.push_back({board.name, board.description});
    return all;
}

void add_completion(cli::command& app) {
    const auto shell = std::make_shared<std::string>();
    auto* command = app.add_subcommand("completion", "a script that lets a shell complete words");
    command->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->transform(cli::one_of({"bash", "zsh", "fish"}));
    command->examples({{"trnctl completion bash", "prints it"},
                       {"trnctl completion bash > trnctl.bash", "for `source trnctl.bash`"}});
    command->callback([shell] { print("{}", cli::completion_script(*shell, "trnctl")); });
}

}  // namespace trn

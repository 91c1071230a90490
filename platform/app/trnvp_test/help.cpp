// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_test/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "models/kinds.h"
#include "platform/app/commands/family.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/kind_text.h"
#include "platform/app/platform.h"
#include "platform/app/scenario/files/step_document.h"
#include "platform/app/scenario/steps/step_kinds.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/output.h"
#include "platform/framework/process/child_process.h"
#include "sw-stubs/trnctl/fault_text.h"

namespace trn {

namespace {

/// Names may be written with '_' too, as everywhere on command lines.
std::optional<misuse::rule> find_rule(std::string name) {
    std::ranges::replace(name, '_', '-');
    return misuse::find(name);
}

std::string rule_text(const misuse::rule& rule) {
    return fmt::format(
        "{} {}: {}\n  {}see doc/rules.md: what, why, how it is seen, how to mend it\n", rule.id,
        rule.name, rule.text,
        rule.on_demand ? "only checked when a policy names it (--misuse log:" +
                             std::string(rule.name) + ")\n  "
                       : "");
}

/// Boards that have all kinds of modules with faults together.
constexpr std::array boards_with_faults{"trn3-gen1", "trn1-2xl"};

/// The list `faults` of a board, by a child: a process can build one board.
nlohmann::json faults_of(const char* board) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    if (!file) throw std::system_error(errno, std::generic_category(), "a temporary file");
    child_process child(fork());
    if (child.pid() == 0) {
        platform built(kinds(), {.board = board});
        print_to(file.get(), "{}", built.methods().call("list", {{"what", "faults"}}).dump());
        std::fflush(file.get());
        _exit(0);
    }
    child.wait();
    std::rewind(file.get());
    return nlohmann::json::parse(file.get());
}

/// Adds a section for each type of module that has the fault. Returns the names of all faults.
std::vector<std::string> explain_fault(const std::string& name, std::vector<std::string>& found) {
    std::vector<std::string> names, types;
    for (const auto* board : boards_with_faults)
        for (const auto& group : faults_of(board)) {
            const auto type = group.at("type").get<std::string>();
            if (std::ranges::find(types, type) != types.end()) continue;
            types.push_back(type);
            for (const auto& fault : group.at("faults")) {
                names.push_back(fault.at("fault").get<std::string>());
                if (same_word(names.back(), name))
                    found.push_back(
                        fmt::format("fault of a module of type {} (doc/faults.md)\n{}\n", type,
                                    fault_text(fault)));
            }
        }
    return names;
}

/// Several of these may have the same name: a step and a kind, for example.
std::string explain(const std::string& name) {
    std::vector<std::string> found;
    if (const auto* step = scenario::find_step(name))
        found.push_back("step of a scenario (doc/steps.md)\n" + scenario::step_text(*step));
    if (const auto* k = find_kind(kinds(), name))
        found.push_back("kind of module (doc/kinds.md)\n" + kind_text(*k));
    if (const auto rule = find_rule(name)) found.push_back("misuse rule\n" + rule_text(*rule));
    if (!found.empty()) return fmt::format("{}", fmt::join(found, "\n"));
    const auto faults = explain_fault(name, found);
    if (!found.empty()) return fmt::format("{}", fmt::join(found, "\n"));

    std::vector<std::string_view> known(faults.begin(), faults.end());
    for (const auto& step : scenario::step_kinds()) known.push_back(step.name);
    for (const auto& k : kinds()) known.push_back(k.name);
    for (const auto& rule : misuse::rules()) {
        known.push_back(rule.name);
        known.push_back(rule.id);
    }
    for (const auto& command : family()) known.push_back(command.name);
    const auto hint = did_you_mean(name, known);
    throw user_error(fmt::format("no command, step, kind, fault or rule '{}'{}", printable(name),
                                 hint.empty() ? "" : ": " + hint));
}

}  // namespace

void add_help(cli::command* command, int& status) {
    auto name = std::make_shared<std::string>();
    command
        ->add_option("STEP|KIND|FAULT|RULE", *name,
                     "`copy`, `udma`, `hbm_corrected`, `TRN-DMA-003`, for example")
        ->required();
    command->examples({{"trnvp help copy", "keys of a step of scenarios"},
                       {"trnvp help TRN-DMA-003", "what a misuse rule says"}});
    command->callback([name, &status] {
        status = 0;
        for (const auto& [member, about, program] : family())
            if (*name == member)
                return print_to(stdout, "trnvp {}: {}\n  trnvp {} --help lists its options\n",
                                member, about, member);
        print_to(stdout, "{}", explain(*name));
    });
}

}  // namespace trn

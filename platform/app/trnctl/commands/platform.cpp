// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "platform/app/trnctl/commands/commands.h"

namespace trn {

namespace {

void add_list(cli::command& app, invocation& line) {
    const auto kind = std::make_shared<std::string>();
    auto* command = add_command(app, line, "list",
                                "modules, consoles and faults of the platform, or one of its lists",
                                [kind, &line](session& s) { list(s, *kind, line.out); });
    command->examples({{"trnctl --connect sockets list faults", "faults with their arguments"},
                       {"trnctl --board trn3-chip list", "of a board"}});
    command
        ->add_option("what", *kind,
                     "modules, consoles, faults, functions, harts, engines, spaces, memories, "
                     "registers or misuse")
        ->transform(cli::one_of({"modules", "consoles", "faults", "functions", "harts", "engines",
                                 "spaces", "memories", "registers", "misuse"}));
}

void add_parameters(cli::command& app, invocation& line) {
    struct choice {
        std::string name;
        bool inside = false;
    };
    const auto chosen = std::make_shared<choice>();
    auto* command = add_command(
        app, line, "params",
        "parameters of a module or the board, and where their values come from",
        [chosen, &line](session& s) { parameters(s, chosen->name, chosen->inside, line.out); });
    command->examples({{"trnctl --connect sockets params chip0.hbm0", "of a module"},
                       {"trnctl --connect sockets --json params chip0.hbm0.size", "one, as JSON"},
                       {"trnctl --board trn3-chip params", "of a board"}});
    command->add_option("name", chosen->name,
                        "full name of a module or of one parameter; without: the board's");
    command->add_flag("--inside", chosen->inside, "also those of all modules inside");
}

void add_inject(cli::command& app, invocation& line) {
    const auto fault = std::make_shared<fault_choice>();
    auto* command =
        add_command(app, line, "inject", "inject a fault into a module, or into all that match",
                    [fault, &line](session& s) { inject(line.running(s), *fault, line.out); });
    command->examples(
        {{"trnctl --connect sockets inject chip0.hbm0 hbm_corrected offset=32MiB", "one module"},
         {"trnctl --connect sockets inject 'chip*.hbm*' hbm_repair_fails", "all that match"}});
    command->add_option("module", fault->module, "chip0.hbm0, or a pattern: 'chip*.hbm0'")
        ->required();
    command->add_option("fault", fault->fault, "of `list faults`")->required();
    command->add_option("arguments", fault->arguments, "NAME=VALUE, as in `list faults`")
        ->type_name("NAME=VALUE");
}

void add_named_snapshot(cli::command& app, invocation& line, const std::string& verb,
                        const std::string& help) {
    const auto name = std::make_shared<std::string>();
    add_command(
        app, line, verb, help,
        [name, &line, verb](session& s) { snapshot(line.running(s), verb, *name, line.out); })
        ->examples({{fmt::format("trnctl --connect sockets {} booted", verb), help},
                    {fmt::format("trnctl --connect sockets --json {} booted", verb),
                     "the same, with the result as JSON"}})
        ->add_option("name", *name, "of the state")
        ->required();
}

void add_reset(cli::command& app, invocation& line) {
    const auto cores = std::make_shared<std::optional<std::uint32_t>>();
    auto* command = add_command(app, line, "reset", "reset the device or some cores",
                                [cores, &line](session& s) { reset(s, *cores, line.out); });
    command->examples({{"trnctl --connect sockets reset --cores 0x3", "cores 0 and 1"},
                       {"trnctl --connect sockets reset", "the device"}});
    command->add_option("--cores", *cores, "map of cores, such as 0x3");
}

void add_run_state(cli::command& app, invocation& line, const std::string& name,
                   const std::string& method, const std::string& help) {
    add_command(app, line, name, help,
                [&line, method](session& s) { run_state(line.running(s), method, line.out); })
        ->examples({{fmt::format("trnctl --connect sockets {}", name), "of a platform"},
                    {fmt::format("trnctl --connect sockets --json {}", name), "as JSON"}});
}

}  // namespace

void add_platform(cli::command& app, invocation& line) {
    add_list(app, line);
    add_parameters(app, line);
    add_inject(app, line);
    add_run_state(app, line, "pause", "pause", "stop simulated time");
    add_run_state(app, line, "step", "step", "execute the events of the next simulated time");
    add_run_state(app, line, "continue", "run", "resume simulated time");
    add_run_state(app, line, "status", "status", "simulated time, and whether it is paused");
    add_named_snapshot(app, line, "snapshot",
                       "keep the state of the platform in memory, by this name");
    add_named_snapshot(app, line, "restore", "restore it; the platform is paused");
    add_command(app, line, "snapshots", "kept states and their simulated times",
                [&line](session& s) { snapshot(line.running(s), "", "", line.out); })
        ->examples({{"trnctl --connect sockets snapshots", "names and times"},
                    {"trnctl --connect sockets --json snapshots", "as JSON"}});
    add_reset(app, line);
}

}  // namespace trn

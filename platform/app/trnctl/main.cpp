// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <systemc>

#include "models/kinds.h"
#include "platform/app/kinds_option.h"
#include "platform/app/report_file.h"
#include "platform/app/trace_name.h"
#include "platform/app/trnctl/commands/commands.h"
#include "platform/app/trnctl/completion.h"
#include "platform/app/trnctl/error_text.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/command_line/program.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/output.h"
#include "platform/framework/tlm/base_protocol.h"

namespace trn {

namespace {

void add_target(cli::command& app, session_options& target) {
    app.add_option("--connect", target.connect,
                   "folder of a running platform's sockets, or its control address");
    app.add_option("--board", target.board, "start this board here, and end with it");
    add_kinds_option(app, target.kind_libraries, kinds());
    app.add_option("--firmware", target.firmware, "firmware for --board")->needs("--board");
    app.add_option("--set", target.set, "NAME=VALUE for a parameter of --board")
        ->allow_extra_args(false)
        ->needs("--board");
    app.add_option_function<std::string>(
           "--timing",
           [&target](const std::string& mode) { target.functional = mode == "functional"; },
           "whether resources of --board are contended")
        ->transform(cli::one_of({"contended", "functional"}))
        ->needs("--board");
    app.add_option("--seed", target.seed, "of --board's random streams")->needs("--board");
    add_hart_option(app, target.hart);
    add_protocol_option(app, target.protocol);
    app.add_option("--misuse", target.misuse,
                   "log or count when software breaks a rule of doc/rules.md; "
                   "log:tile-race,... also checks rules that are checked on demand")
        ->allow_extra_args(false)
        ->needs("--board");
    app.add_option("--trace", target.trace,
                   "write --board's event trace; .perfetto-trace for Perfetto")
        ->check(trace_name())
        ->needs("--board");
    app.add_option("--chip", target.chip, "function to use (default: the only one)");
    app.add_option("--token-file", target.token_file, "token for a remote control address");
}

void add_commands(cli::command& app, invocation& line) {
    add_transfers(app, line);
    add_coll(app, line);
    add_memory_and_registers(app, line);
    add_collective_cores(app, line);
    add_programs(app, line);
    add_profiles(app, line);
    add_semaphores_and_events(app, line);
    add_platform(app, line);
    add_status(app, line);
    add_completion(app);
}

void group(cli::command& app) {
    app.group_options("A board of its own",
                      {"--board", "--kinds", "--firmware", "--set", "--timing", "--seed", "--hart",
                       "--perf-map", "--misuse", "--check-protocol", "--trace"});
    app.group_options("A running platform", {"--connect", "--token-file"});
    app.group_subcommands("Transfer commands", {"copy", "memset", "bench", "demo", "coll"});
    app.group_subcommands("Memory and register commands",
                          {"peek", "poke", "deposit", "registers", "signals"});
    app.group_subcommands("Program commands", {"program", "profile", "cc", "sem", "event"});
    app.group_subcommands("Status commands", {"list", "params", "info", "status", "topology",
                                              "power", "misuse", "monitor"});
    app.group_subcommands("Platform commands", {"pause", "step", "continue", "inject", "snapshot",
                                                "restore", "snapshots", "reset", "completion"});
}

int execute(int argc, char** argv) {
    cli::command app{"works on a trnvp platform as a host would", "trnctl"};
    invocation line;
    app.require_subcommand(1);
    add_target(app, line.target);
    app.add_flag("--json", line.out.json, "one JSON object per line");
    add_commands(app, line);
    group(app);
    app.examples(
        {{"trnctl --board trn3-chip copy host hbm0@16MiB 1MiB --verify", "starts a board for it"},
         {"trnctl --connect sockets info", "of a platform that runs with --listen sockets"}});
    if (const int mistaken = parse_command_line(app, argc, argv, trnctl_words)) return mistaken;
    if (!line.chosen) return 0;  // --help
    line.chosen(*open_session(line.target));
    print_protocol_violations();
    return trace::failure().empty() && !base_protocol::failed() ? 0 : 1;
}

bool is_of_user(const std::exception& error) {
    const auto* failed = dynamic_cast<const device_error*>(&error);
    return failed != nullptr ? failed->status == TRN_INVALID_ARGUMENT
                             : dynamic_cast<const user_error*>(&error) != nullptr;
}

int run(int argc, char** argv) {
    try {
        const int status = execute(argc, argv);
        finish_standard_output();
        return status;
    } catch (const config_error& wrong) {
        print_to(stderr, "{}\n", wrong.what());
        return 2;
    } catch (const std::exception& wrong) {
        print_to(stderr, "trnctl: {}\n", error_text(wrong));
        return is_of_user(wrong) ? 2 : 1;
    }
}

}  // namespace

}  // namespace trn

int sc_main(int argc, char** argv) {
    return trn::run(argc, argv);
}

int main(int argc, char** argv) {
    return trn::run_program(argc, argv);
}

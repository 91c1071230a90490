// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry/state_json.h"
#include "platform/app/telemetry/views/attributes_json.h"
#include "platform/app/telemetry/views/ls_json.h"
#include "platform/app/telemetry/views/ls_table.h"
#include "platform/app/telemetry/views/topology.h"
#include "platform/app/telemetry_program/tool.h"
#include "platform/framework/config/json.h"
#include "platform/framework/output.h"

namespace {

using namespace trn;
using namespace trn::telemetry;

struct options {
    source_choice source;
    bool wide = false, all_processes = false, topology = false;
    bool json = false, state = false, attributes = false, schema = false;
    std::optional<double> watch;
};

void show(const options& chosen, const machine_state& state) {
    if (chosen.state) return print_raw(stdout, config::to_ascii(to_json(state)) + "\n");
    if (chosen.attributes)
        return print_raw(stdout, config::to_ascii(attributes_json(state)) + "\n");
    if (chosen.json)
        return print_raw(stdout, config::to_ascii(ls_json(state, chosen.all_processes)) + "\n");
    const bool watches = chosen.watch.has_value();
    const auto terminal = size_of_terminal();
    print_raw(stdout, ls_table(state, {.wide = chosen.wide,
                                       .all_processes = chosen.all_processes,
                                       .coloured = is_coloured(),
                                       .columns = watches ? terminal.columns : 0}));
    if (chosen.topology) print_raw(stdout, topology_text(state));
}

int list(options& chosen) {
    if (chosen.json + chosen.state + chosen.attributes + chosen.schema > 1)
        throw source_usage("--json-output, --state, --attributes and --schema exclude each other");
    if (chosen.schema) {
        print_raw(stdout, state_schema().dump(2) + "\n");
        return 0;
    }
    if (!chosen.source.file.empty() && chosen.source.time.empty() && !chosen.watch)
        chosen.source.time = "end";
    const auto source = open_source(chosen.source);
    const auto wanted = chosen.state ? detail::all : detail::devices;
    if (!chosen.watch) {
        show(chosen, source->read(wanted));
        return 0;
    }
    end_on_signals();
    const bool clears =
        size_of_terminal().columns != 0 && !chosen.json && !chosen.state && !chosen.attributes;
    while (!should_end()) {
        const auto state = source->read(wanted);
        if (clears) print_raw(stdout, "\033[H\033[2J");
        show(chosen, state);
        std::fflush(stdout);
        if (std::ferror(stdout) != 0) return 1;
        wait_for(*chosen.watch);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    cli::command app{"lists Neuron devices, as neuron-ls does", "trn-ls"};
    options chosen;
    app.add_flag("-w,--wide", chosen.wide, "longer commands, and the state of each device");
    app.add_flag("-a,--show-all-procs", chosen.all_processes,
                 "also processes that only look at devices");
    app.add_flag("-t,--topology", chosen.topology, "also connections and links");
    app.add_flag("-j,--json-output,--json", chosen.json, "a JSON list of devices");
    app.add_flag("--state", chosen.state, "all that is known, as JSON (doc/telemetry.md)");
    app.add_flag("--attributes", chosen.attributes,
                 "device attributes and topology groups for schedulers, as JSON");
    app.add_flag("--schema", chosen.schema, "the JSON schema of --state and of recordings");
    app.add_option("--watch", chosen.watch, "again after each interval, in seconds")
        ->check(cli::in_range(0.05, 3600.0));
    add_source_options(app, chosen.source);
    app.group_options("Output", {"--wide", "--show-all-procs", "--topology", "--json-output",
                                 "--state", "--attributes", "--schema", "--watch"});
    app.examples(
        {{"trn-ls", "devices of this machine, by the driver's sysfs"},
         {"trn-ls --connect sockets --topology", "of a platform that runs with --listen sockets"},
         {"trn-ls --file run.jsonl --at '2 ms' --json-output",
          "of a recording, at a simulated time"}});
    return run_tool(app, "trn-ls", argc, argv, [&] { return list(chosen); });
}

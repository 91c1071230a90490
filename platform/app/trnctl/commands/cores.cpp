// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/trnctl/commands/commands.h"

namespace trn {

namespace {

constexpr unsigned last_cc_core = 15;  // of the chip with most

struct load_options {
    unsigned core = 0;
    std::string image = {};  ///< file
};

void add_load(cli::command& cores, invocation& line) {
    const auto options = std::make_shared<load_options>();
    auto* load =
        add_command(cores, line, "load", "reset the device, load and start a firmware", {});
    load->examples({{"trnctl --connect sockets cc load 3 cc_example.elf", "into core 3"},
                    {"trnctl --board trn3-chip cc load 0 cc_core.img", "a packed image"}});
    load->callback([options, &line] {
        line.chosen = [options, &line, image = read_collective_firmware(options->image)](
                          session& s) { load_cores(s, 1u << options->core, image, line.out); };
    });
    load->add_option("core", options->core, "number of the core")
        ->required()
        ->check(cli::in_range(0u, last_cc_core));
    load->add_option("file", options->image, "an ELF file, or a packed image")->required();
}

void add_log(cli::command& cores, invocation& line) {
    const auto core = std::make_shared<unsigned>(0);
    auto* log = add_command(
        cores, line, "log", "what its firmware has logged",
        [core, &line](session& s) { print_core_log(line.running(s), *core, line.out); });
    log->examples({{"trnctl --connect sockets cc log 3", "of core 3"},
                   {"trnctl --connect sockets --json cc log 3", "as JSON"}});
    log->add_option("core", *core, "number of the core")
        ->required()
        ->check(cli::in_range(0u, last_cc_core));
}

void add_sync(cli::command& app, invocation& line, const std::string& name, const std::string& help,
              const std::vector<std::string>& verbs,
              void (*execute)(session&, const sync_options&, const output&)) {
    const auto options = std::make_shared<sync_options>();
    auto* command = add_command(app, line, name, help, [options, &line, execute](session& s) {
        execute(s, *options, line.out);
    });
    command->examples(
        {{fmt::format("trnctl --connect sockets {} {} 3 --core 1", name, verbs.front()),
          "number 3 of core 1"},
         {fmt::format("trnctl --connect sockets {} set 3 1 --top-sp 0", name),
          "number 3 of TOP_SP 0"}});
    command->add_option("verb", options->verb, "operation")
        ->required()
        ->transform(cli::one_of(verbs));
    command->add_option("index", options->index, "0..255")->required();
    command->add_option("value", options->value, "for set, inc and dec");
    command->add_option("--core", options->core, "0..7");
    command->add_option("--top-sp", options->top_sp, "0..15");
}

}  // namespace

void add_collective_cores(cli::command& app, invocation& line) {
    auto* cores = add_command_group(app, "cc", "firmware of the CC-Cores");
    cores->examples({{"trnctl --connect sockets cc load 3 cc_example.elf", "into core 3"},
                     {"trnctl --connect sockets cc log 3", "what it has logged"}});
    add_load(*cores, line);
    add_log(*cores, line);
}

void add_semaphores_and_events(cli::command& app, invocation& line) {
    add_sync(app, line, "sem", "semaphores of a core or TOP_SP", {"read", "set", "inc", "dec"},
             semaphore);
    add_sync(app, line, "event", "events of a core or TOP_SP", {"get", "set"}, event);
}

}  // namespace trn

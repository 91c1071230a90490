// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "platform/app/trnctl/commands/commands.h"

namespace trn {

namespace {

struct misuse_options {
    std::string policy = {};
    bool clear = false;
};

void add_misuse(cli::command& app, invocation& line) {
    const auto options = std::make_shared<misuse_options>();
    auto* command = add_command(app, line, "misuse", "misuse rules that software broke",
                                [options, &line](session& s) {
                                    misuse_rules(s, options->policy, options->clear, line.out);
                                });
    command->add_option("--policy", options->policy,
                        "set first: log, count or fail, or fail:RULE,...");
    command->examples({{"trnctl --connect sockets misuse", "what was broken, and how often"},
                       {"trnctl --connect sockets misuse --policy log --clear",
                        "from now on, with a line for each"}});
    command->add_flag("--clear", options->clear, "clear the counts");
}

void add_monitor(cli::command& app, invocation& line) {
    const auto seconds = std::make_shared<std::optional<double>>();
    auto* command =
        add_command(app, line, "monitor", "UART, power and DMA counters, until the platform ends",
                    [seconds, &line](session& s) { monitor(s, *seconds, line.out); });
    command->examples({{"trnctl --connect sockets monitor --for 0.2", "for a moment"},
                       {"trnctl --connect sockets --json monitor --for 0.2", "as lines of JSON"}});
    command->add_option("--for", *seconds, "seconds")->check(cli::non_negative_number());
}

}  // namespace

void add_status(cli::command& app, invocation& line) {
    add_command(app, line, "info", "properties of the chip",
                [&line](session& s) { info(s, line.out); })
        ->examples({{"trnctl --connect sockets info", "of the only chip"},
                    {"trnctl --connect sockets --json info", "as JSON"}});
    add_command(app, line, "topology", "chips, the partners of their links, and faults",
                [&line](session& s) { topology(s, line.target.chip, line.out); })
        ->examples({{"trnctl --board trn3-sled topology", "of a sled"},
                    {"trnctl --connect sockets topology", "of a running platform"}});
    add_command(app, line, "power", "power samples and error counts",
                [&line](session& s) { power(s, line.out); })
        ->examples({{"trnctl --connect sockets power", "of the only chip"},
                    {"trnctl --connect sockets --json power", "as JSON"}});
    add_misuse(app, line);
    add_monitor(app, line);
}

}  // namespace trn

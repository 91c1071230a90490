// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/board_options.h"

#include <fmt/format.h>

#include "platform/app/commands/misuse_option.h"
#include "platform/app/commands/vcd_options.h"
#include "platform/framework/command_line/command_line.h"

namespace trn {

void board_options::add_to(CLI::App& command) {
    command.add_option("board", build.board, "a name from 'trnvp boards', or a path")->required();
    command.add_option("--firmware", build.firmware,
                       "flash image or ELF to boot (default: the board's)");
    command.add_option("--set", build.set, "NAME=VALUE for a parameter of the board")
        ->allow_extra_args(false);
    command.add_option("--timing", timing, "model contention for resources (default) or not")
        ->transform(one_of({"contended", "functional"}));
    command.add_option("--time-policy", policy, "time policy: lockstep, free, realtime:FACTOR");
    command.add_option("--seed", build.seed, "of every random stream");
    command.add_option("--trace", build.trace,
                       "write the event trace here; .perfetto-trace for Perfetto");
    add_vcd_options(command, build.vcd, build.vcd_signals);
    add_misuse_option(command, misuse);
    command.add_option("--record", record,
                       "record all input from outside in this folder, for 'trnvp replay'");
    command.add_option("--fidelity-report", fidelity_report,
                       "report the accessed registers and their sources; .json or .md");
}

platform_options board_options::checked() const {
    check_vcd(build.vcd, build.vcd_signals);
    auto all = build;
    all.timing = timing == "functional" ? timing_mode::functional : timing_mode::contended;
    const auto parsed = time_policy::parse(policy);
    if (!parsed)
        throw user_error(
            fmt::format("--time-policy: '{}' is not lockstep, free or realtime:FACTOR", policy));
    all.time.policy = *parsed;
    return all;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "models/misuse_rules.h"
#include "platform/app/commands/boards.h"
#include "platform/app/commands/exec.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/guest.h"
#include "platform/app/commands/help.h"
#include "platform/app/commands/inspect.h"
#include "platform/app/commands/replay.h"
#include "platform/app/commands/report.h"
#include "platform/app/commands/run.h"
#include "platform/app/commands/test.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/command_line/program.h"
#include "platform/framework/misuse/misuse.h"

int sc_main(int argc, char** argv) {
    trn::misuse::set_rules(trn::misuse::all_rules);
    int status = 0;
    trn::cli::command app{"a virtual platform of AWS Trainium chips", "trnvp"};
    app.require_subcommand(1);
    app.examples({{"trnvp run trn3-chip --until ready", "boots a chip"},
                  {"trnvp test scenarios/copy_sizes.yaml", "runs scenarios"},
                  {"trnvp help copy", "explains a step, a kind or a rule"}});
    trn::add_boards(app, status);
    trn::add_inspect(app, status);
    trn::add_exec(app, status);
    trn::add_test(app, status);
    trn::add_report(app, status);
    trn::add_run(app, status);
    trn::add_guest(app, status);
    trn::add_replay(app, status);
    trn::add_help(app, status);
    return trn::guarded([&] {
        const int mistaken = trn::parse_command_line(app, argc, argv);
        return mistaken != 0 ? mistaken : status;
    });
}

int main(int argc, char** argv) {
    return trn::run_program(argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <systemc>

#include "platform/commands/boards.h"
#include "platform/commands/exec.h"
#include "platform/commands/guest.h"
#include "platform/commands/inspect.h"
#include "platform/commands/replay.h"
#include "platform/commands/run.h"
#include "platform/commands/test.h"
#include "platform/kernel/program.h"

int sc_main(int argc, char** argv) {
    int status = 0;
    CLI::App app{"a virtual platform of AWS Trainium chips", "trnvp"};
    app.require_subcommand(1);
    trn::add_boards(app, status);
    trn::add_inspect(app, status);
    trn::add_exec(app, status);
    trn::add_test(app, status);
    trn::add_run(app, status);
    trn::add_guest(app, status);
    trn::add_replay(app, status);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    return status;
}

int main(int argc, char** argv) {
    return trn::run_program(argc, argv);
}

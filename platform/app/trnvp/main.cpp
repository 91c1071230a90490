// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "platform/app/commands/family.h"
#include "platform/app/trnvp/boards.h"
#include "platform/app/trnvp/contract.h"
#include "platform/app/trnvp/exec.h"
#include "platform/app/trnvp/inspect.h"
#include "platform/app/trnvp/replay.h"
#include "platform/app/trnvp/run.h"
#include "platform/framework/command_line/program.h"

int sc_main(int argc, char** argv) {
    return trn::run_family_program(argc, argv,
                                   {{"boards", trn::add_boards},
                                    {"inspect", trn::add_inspect},
                                    {"contract", trn::add_contract},
                                    {"exec", trn::add_exec},
                                    {"run", trn::add_run},
                                    {"replay", trn::add_replay}});
}

int main(int argc, char** argv) {
    const int missing = trn::exec_program_of_command(argc, argv);
    return missing != 0 ? missing : trn::run_program(argc, argv);
}

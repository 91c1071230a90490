// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "platform/app/commands/family.h"
#include "platform/app/trnvp_test/help.h"
#include "platform/app/trnvp_test/test.h"
#include "platform/framework/command_line/program.h"

int sc_main(int argc, char** argv) {
    return trn::run_family_program(argc, argv, {{"test", trn::add_test}, {"help", trn::add_help}});
}

int main(int argc, char** argv) {
    return trn::run_program(argc, argv);
}

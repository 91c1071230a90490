// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "platform/app/commands/family.h"
#include "platform/app/trnvp_guest/guest.h"
#include "platform/framework/command_line/program.h"

int sc_main(int argc, char** argv) {
    return trn::run_family_program(argc, argv, {{"guest", trn::add_guest}});
}

int main(int argc, char** argv) {
    return trn::run_program(argc, argv);
}

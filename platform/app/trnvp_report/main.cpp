// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "platform/app/commands/family.h"
#include "platform/app/trnvp_report/report.h"
#include "platform/framework/command_line/program.h"

int sc_main(int argc, char** argv) {
    return trn::run_family_program(argc, argv, {{"report", trn::add_report}});
}

int main(int argc, char** argv) {
    return trn::run_program(argc, argv);
}

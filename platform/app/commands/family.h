// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>

#include "platform/framework/command_line/options.h"

namespace trn {

/// A command of `trnvp`. It is in the program trnvp, or in one beside it, such as trnvp-test, so
/// that a build of trnvp alone compiles and links less.
struct family_command {
    const char *name, *about, *program;
};

/// All commands, in the order of --help.
std::span<const family_command> family();

/// What trnvp does first: if a word of the command line is the command of another program, replaces
/// this process by that program, with the same arguments. It is searched beside this program, then
/// in PATH. \returns 0 if trnvp itself has the command or there is none; 2 if the program is
/// missing, which is printed
int exec_program_of_command(int argc, char** argv);

/// A command that a program has, and the function that adds its options and callback.
struct own_command {
    const char* name;
    void (*add)(cli::command* command, int& status);
};

/// sc_main() of each program of the family. Help and errors are those of `trnvp`, also for a
/// program that was started by its own name ("trnvp-test scenarios").
int run_family_program(int argc, char** argv, std::initializer_list<own_command> own);

}  // namespace trn

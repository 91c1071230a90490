// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trn {

/// The body of main(): calls sc_main() in a process with settings for a simulator. Closed standard
/// streams are opened as /dev/null. Exceeding the file size limit fails the write and does not end
/// the process. SystemC prints no banner. The heap (some 5 MiB per chip) is in huge pages where the
/// host has them, which needs a second start of the program; it reduces page faults and TLB misses,
/// and costs no memory, since the heap is dense. A user's GLIBC_TUNABLES is not changed.
int run_program(int argc, char** argv);

/// Replaces this process by a program that calls run_program(), which then need not start again.
/// `program`: a path, or a name to search in PATH. Returns on failure, with errno.
void exec_simulator(const char* program, char** argv);

}  // namespace trn

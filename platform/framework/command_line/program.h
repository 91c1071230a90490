// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trn {

/// The body of main(): calls sc_main() in a process that suits a simulator. Standard streams that
/// the caller closed lead to /dev/null, and a file size limit fails the write instead of ending the
/// process. SystemC prints no banner, and the models, some 5 MiB of heap for each chip of which
/// little is touched at a time, lie in huge pages where the host has them (it starts this program a
/// second time for that). Huge pages cost no memory, since the heap is dense: fewer page faults and
/// misses of the TLB. GLIBC_TUNABLES, if the user has set it, stays as it is.
int run_program(int argc, char** argv);

}  // namespace trn

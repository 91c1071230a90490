// SPDX-License-Identifier: Apache-2.0
#include "platform/kernel/program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <systemc>

namespace trn {

namespace {

/// The C library reads its tunables before main() only, so they take another start. Programs that
/// this one starts get none of it.
void ask_for_huge_pages(char** argv) {
    constexpr auto name = "GLIBC_TUNABLES", ours = "glibc.malloc.hugetlb=1";
    const char* const set = getenv(name);
    if (set == nullptr) {
        std::error_code unknown;
        const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
        setenv(name, ours, 1);
        execv(program.c_str(), argv);  // where that cannot be done, small pages do
        unsetenv(name);
    } else if (set == std::string_view(ours)) {
        unsetenv(name);
    }
}

}  // namespace

int run_program(int argc, char** argv) {
    ask_for_huge_pages(argv);
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

}  // namespace trn

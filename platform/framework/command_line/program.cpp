// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <systemc>

namespace trn {

namespace {

/// Opens closed standard streams: otherwise the next file or socket would get their descriptor, and
/// would receive what the program prints.
void open_standard_streams() {
    int opened = 0;
    while ((opened = open("/dev/null", O_RDWR)) >= 0 && opened <= STDERR_FILENO) continue;
    if (opened >= 0) close(opened);
}

// Blocks below 4 MiB, such as the memories of management processors, are part of the heap, since
// only blocks of their own that are longer than a huge page get one. CMakePresets.json sets the
// same for tests.
constexpr auto tunables = "GLIBC_TUNABLES",
               huge_pages = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4194304";

/// The C library reads its tunables before main(), so the program must be started again. The
/// variable is removed for programs that this one starts.
void ask_for_huge_pages(char** argv) {
    const char* const set = getenv(tunables);
    if (set == nullptr) {
        std::error_code unknown;
        const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
        exec_simulator(program.c_str(), argv);  // on failure, continue with small pages
    } else if (set == std::string_view(huge_pages)) {
        unsetenv(tunables);
    }
}

/// Reading a board takes more than 32 KiB of stack; deep boards and sanitizers need more.
bool has_stack() {
    constexpr rlim_t min_stack = 512 << 10;
    rlimit stack{};
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= min_stack) return true;
    std::fprintf(stderr, "%s: a stack of %llu KiB is too small: ulimit -s %llu\n",
                 program_invocation_short_name,
                 static_cast<unsigned long long>(stack.rlim_cur >> 10),
                 static_cast<unsigned long long>(min_stack >> 10));
    return false;
}

}  // namespace

void exec_simulator(const char* program, char** argv) {
    const bool chosen_by_user = getenv(tunables) != nullptr;
    if (!chosen_by_user) setenv(tunables, huge_pages, 1);
    execvp(program, argv);
    const int why = errno;
    if (!chosen_by_user) unsetenv(tunables);
    errno = why;
}

int run_program(int argc, char** argv) {
    open_standard_streams();
    if (!has_stack()) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, the kernel drops the statuses of children
    ask_for_huge_pages(argv);
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

}  // namespace trn

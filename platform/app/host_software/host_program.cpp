// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_software/host_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdint>

#include "platform/app/guest/machine.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/share_folder.h"
#include "platform/framework/process/child_process.h"
#include "platform/framework/process/output_log.h"
#include "platform/framework/process/throw_errno.h"
#include "platform/framework/process/work_folder.h"
#include "platform/framework/unique_fd.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

constexpr const char* compiler = "riscv64-linux-gnu-gcc";
constexpr std::chrono::seconds wall_limit{60};
constexpr std::uint64_t largest_program = 64 << 20;
constexpr int not_started = 126;  // status of start_bound()

void run(const child_process::command& words, const fs::path& source) {
    const unique_fd output(memfd_create("output of a compiler", MFD_CLOEXEC));
    const unique_fd no_input(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!output || !no_input) throw_errno("output of a compiler");
    auto started = child_process::start_bound(
        words, {.input = no_input.get(), .output = output.get(), .private_files = true});
    if (!started.wait_for(wall_limit))
        throw compile_error(fmt::format("{}: {} took longer than {} s and was ended",
                                        source.string(), compiler, wall_limit.count()));
    const int status = started.wait().shell_status();
    if (status == 0) return;
    if (status == not_started)
        throw compile_error(fmt::format("there is no {}: './dev setup' installs it", compiler));
    throw compile_error(
        fmt::format("{} does not compile:\n{}", source.string(), read_log(output.get())));
}

}  // namespace

std::string compile_host_program(const fs::path& source) {
    const auto stub = share_folder("stub-riscv64", {"stub-riscv64", "../stub-riscv64"}, "stub.o");
    if (stub.empty())
        throw compile_error(
            fmt::format("the driver stub for hosts inside is not built: {} was missing ('./dev "
                        "setup', then build again)",
                        compiler));
    const work_folder scratch("trnvp-program");
    const auto program = scratch / "program";
    run({compiler, "-std=gnu11", "-O2", "-g1", "-static", "-Wall", "-I",
         (stub / "include").string(), fs::absolute(source).string(), (stub / "stub.o").string(),
         "-lm", "-pthread", "-o", program.string()},
        source);
    const auto bytes = read_file(program, largest_program);
    return {bytes.begin(), bytes.end()};
}

std::string host_command(const std::vector<std::string>& words) {
    return shell_text(words);
}

}  // namespace trn

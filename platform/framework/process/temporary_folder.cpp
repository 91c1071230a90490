// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "platform/framework/process/throw_errno.h"

namespace trn {

namespace {

/// Starts a shell that leads a process group and reads `input`. The scripts ignore SIGINT and
/// SIGTERM, which reach all processes of a terminal or a cluster's job: they run until this process
/// ends.
child_process start_shell(int input, const char* script, const std::string& first,
                          const std::string& second) {
    return child_process::spawn({"/bin/sh", "-c", script, first, second}, {.input = input});
}

}  // namespace

std::filesystem::path make_temporary_folder(const std::string& prefix) {
    auto name = (std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) throw_errno("cannot make " + name);
    return name;
}

unique_fd unnamed_file(const std::string& prefix) {
    auto name = (std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string();
    unique_fd file(mkostemp(name.data(), O_CLOEXEC));
    if (!file) throw_errno("cannot make " + name);
    unlink(name.c_str());
    return file;
}

temporary_folder::temporary_folder(const std::string& prefix)
    : path_(make_temporary_folder(prefix)) {
    try {
        start_guards();
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
        throw;
    }
}

void temporary_folder::start_guards() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
    const unique_fd input(ends[0]);
    alive_ = unique_fd(ends[1]);
    leader_.emplace(start_shell(input.get(), R"(trap "" INT TERM; read -r end)", "sh", ""));
    // Kills the processes first: they could make files while rm removes the folder.
    remover_.emplace(start_shell(input.get(),
                                 R"(trap "" INT TERM; read -r end; kill -s KILL -- "-$1"
                              rm -rf -- "$0" || { sleep 1; rm -rf -- "$0"; })",
                                 path_.string(), std::to_string(leader_->pid())));
}

temporary_folder::~temporary_folder() {
    alive_ = {};
    remover_->wait();
    leader_->wait();
}

}  // namespace trn

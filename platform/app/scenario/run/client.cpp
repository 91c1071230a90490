// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/client.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/framework/process/output_log.h"
#include "platform/framework/process/throw_errno.h"

namespace trn::scenario {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> with_folder(std::vector<std::string> words, const std::string& folder) {
    constexpr std::string_view name = "{sockets}";
    for (auto& word : words)
        for (std::size_t place = 0; (place = word.find(name, place)) != std::string::npos;
             place += folder.size())
            word.replace(place, name.size(), folder);
    return words;
}

/// Sets variables for child programs. The process runs a single scenario, so its own environment
/// may change.
void set_environment(const std::string& folder) {
    std::error_code ignored;
    const auto beside = fs::read_symlink("/proc/self/exe", ignored).parent_path().string();
    const char* path = std::getenv("PATH");
    setenv("PATH", (beside + ":" + (path == nullptr ? "/usr/bin:/bin" : path)).c_str(), 1);
    setenv("TRNVP_SOCKETS", folder.c_str(), 1);
}

}  // namespace

client::client(platform& board, client_run& client)
    : board_(board),
      run_(client),
      folder_(std::in_place, "trnvp-client"),
      endpoints_(board),
      output_(memfd_create("output of a client", MFD_CLOEXEC)),
      ended_(board.loop().io()),
      limit_(board.loop().io()),
      trim_(board.loop().io()) {
    if (!output_) throw_errno("output of a client");
    endpoints_.open_folder(folder_->path());
    set_environment(folder_->path());
    const unique_fd no_input(open("/dev/null", O_RDONLY | O_CLOEXEC));
    program_.emplace(child_process::spawn(with_folder(run_.command, folder_->path()),
                                          {.input = no_input.get(), .output = output_.get()},
                                          folder_->group()));
    watch();
}

client::~client() {
    endpoints_.drop_clients();
}

void client::watch() {
    ended_.assign(program_->end_descriptor().release());
    ended_.async_wait(ended_.wait_read, [this](boost::system::error_code e) {
        if (!e) has_ended_ = true;  // an error means that this object was destroyed
    });
    limit_.expires_after(std::chrono::nanoseconds(run_.wall_limit_ns));
    limit_.async_wait([this](boost::system::error_code e) {
        if (e || has_ended_) return;
        run_.late = true;
        program_->kill(SIGKILL);
    });
    trim();
}

/// A program may print without limit: releases the memory of output that is not kept.
void client::trim() {
    trim_log(output_.get());
    trim_.expires_after(std::chrono::milliseconds(100));
    trim_.async_wait([this](boost::system::error_code e) {
        if (!e) trim();
    });
}

void client::finish() {
    limit_.cancel();
    trim_.cancel();
    folder_.reset();  // ends the remaining processes of the program
    run_.status = program_->wait().shell_status();
    while (board_.loop().io().poll_one() != 0) {
    }
    run_.output = read_log(output_.get());
}

}  // namespace trn::scenario

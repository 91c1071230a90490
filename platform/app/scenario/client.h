// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/endpoints/endpoints.h"
#include "platform/framework/process/child_process.h"
#include "platform/framework/process/temporary_folder.h"
#include "platform/framework/unique_fd.h"

namespace trn::scenario {

/// A program of the user's that a step lets work on the platform, and how that went.
struct visit {
    std::vector<std::string> command;  ///< the program, looked for as execvp() does, and its words
    std::uint64_t wall_limit_ns = 0;

    int status = 0;           ///< its exit status, 128 + the signal that killed it
    bool late = false;        ///< killed at its limit
    std::string output = {};  ///< what it printed to stdout and stderr, the last 256 KiB
};

/// A visit under way: sockets as `trnvp run --listen` opens them, in a folder of their own, and the
/// program. Nothing is left of either afterwards, nor when this process dies.
class client {
public:
    /// \throws listen_error, std::system_error: it cannot be started
    client(platform& on, visit& what);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    bool over() const { return over_; }
    /// Ends the program if it has not ended; the platform does what it asked for with its last
    /// breath.
    void finish();

private:
    void watch();
    void trim();

    platform& on_;
    visit& what_;
    std::optional<temporary_folder> folder_;  // and its processes
    endpoints endpoints_;
    unique_fd output_;
    std::optional<child_process> program_;
    boost::asio::posix::stream_descriptor ended_;
    boost::asio::steady_timer limit_, trim_;
    bool over_ = false;
};

}  // namespace trn::scenario

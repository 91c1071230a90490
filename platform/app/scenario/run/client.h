// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <optional>

#include "platform/app/endpoints/endpoints.h"
#include "platform/app/scenario/context/client_run.h"
#include "platform/framework/process/child_process.h"
#include "platform/framework/process/temporary_folder.h"
#include "platform/framework/unique_fd.h"

namespace trn::scenario {

/// A running client program, and sockets as of `trnvp run --listen` in a temporary folder. Program
/// and folder are removed at the end, also when this process dies.
class client {
public:
    /// \throws listen_error, std::system_error when the program cannot be started
    client(platform& board, client_run& client);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    bool has_ended() const { return has_ended_; }
    /// Ends the program if it still runs, and completes its last requests.
    void finish();

private:
    void watch();
    void trim();

    platform& board_;
    client_run& run_;
    // Removes the folder and ends the processes of the program.
    std::optional<temporary_folder> folder_;
    endpoints endpoints_;
    unique_fd output_;
    std::optional<child_process> program_;
    boost::asio::posix::stream_descriptor ended_;
    boost::asio::steady_timer limit_, trim_;
    bool has_ended_ = false;
};

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn {

/// Sends a file or standard input to a console, starting at the program's first poll, and limited
/// to what the console accepts at a time. A file is sent without regard to wall time; a pipe
/// or terminal keeps the run alive until its end.
class console_input {
public:
    /// `path` "-" is standard input. Throws std::invalid_argument when the file cannot be read.
    console_input(run_loop& loop, console& receiver, const std::string& path);
    ~console_input();

    /// Call when the program polls for input.
    void polled();

private:
    void read_more();
    void receive();
    void feed();
    void end();

    run_loop& loop_;
    console& console_;
    std::optional<boost::asio::posix::stream_descriptor> stream_;  // a pipe or terminal
    int file_ = -1;                                                // a file
    std::optional<std::uint64_t> attachment_;
    std::array<char, 4096> buffer_{};
    std::string_view rest_;  // unsent part of the buffer
    bool wanted_ = false;    // the program has polled
};

}  // namespace trn

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

/// Types a file, or what comes through standard input, at a console: from when the program first
/// looks at the console, and no more at a time than the console takes. A file is typed without
/// regard to wall-clock time; a pipe or terminal keeps the run waiting until it ends.
class console_input {
public:
    /// `path` "-" is standard input. Throws std::invalid_argument when it cannot be read.
    console_input(run_loop& loop, console& to, const std::string& path);
    ~console_input();

    /// The program looks for input.
    void polled();

private:
    void read_more();
    void receive();
    void feed();
    void end();

    run_loop& loop_;
    console& to_;
    std::optional<boost::asio::posix::stream_descriptor> stream_;  // what cannot be read at once
    int file_ = -1;                                                // what can
    std::optional<std::uint64_t> attachment_;
    std::array<char, 4096> buffer_{};
    std::string_view rest_;  // of the buffer
    bool wanted_ = false;    // the program has looked
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/guest/machine.h"
#include "platform/framework/process/child_process.h"

namespace trn {

/// Restores the settings of the terminal, if there is one, after a guest has used it.
class terminal_guard {
public:
    terminal_guard();
    ~terminal_guard();
    terminal_guard(const terminal_guard&) = delete;
    terminal_guard& operator=(const terminal_guard&) = delete;

private:
    termios before_{};
    const bool has_terminal_;
};

/// Runs the QEMU of one server.
class running_guest {
public:
    running_guest(std::string name, guest_machine machine);
    ~running_guest();
    running_guest(const running_guest&) = delete;
    running_guest& operator=(const running_guest&) = delete;

    /// Starts the only guest: its console is that of this process.
    void start();
    /// Starts one of several guests: `print` receives its output.
    void start(boost::asio::io_context& io, std::function<void(std::string_view)> print);

    /// How QEMU ended; nothing until it has ended and all its output has been printed.
    std::optional<child_process::end_state> ended();
    void end();
    const std::string& name() const { return name_; }
    const guest_machine& machine() const { return machine_; }

private:
    std::vector<std::string> announced() const;
    void read();

    const std::string name_;
    const guest_machine machine_;
    std::optional<terminal_guard> terminal_;
    std::optional<child_process> qemu_;
    std::optional<boost::asio::posix::stream_descriptor> output_;
    std::function<void(std::string_view)> print_;
    std::array<char, 4096> bytes_{};
};

}  // namespace trn

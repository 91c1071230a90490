// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/running_guest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "platform/framework/output.h"
#include "platform/framework/unique_fd.h"

namespace trn {

terminal_guard::terminal_guard() : has_terminal_(tcgetattr(STDIN_FILENO, &before_) == 0) {}

terminal_guard::~terminal_guard() {
    if (has_terminal_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

running_guest::running_guest(std::string name, guest_machine machine)
    : name_(std::move(name)), machine_(std::move(machine)) {}

running_guest::~running_guest() {
    end();
}

void running_guest::start() {
    terminal_.emplace();
    // The monitor's socket gives QEMU's rights to everybody who can open it.
    qemu_.emplace(child_process::start_bound(announced(), {.private_files = true}));
}

void running_guest::start(boost::asio::io_context& io,
                          std::function<void(std::string_view)> print) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
    const unique_fd theirs(ends[1]);
    output_.emplace(io, ends[0]);
    print_ = std::move(print);
    const unique_fd no_input(open("/dev/null", O_RDONLY | O_CLOEXEC));
    qemu_.emplace(child_process::start_bound(
        announced(), {.input = no_input.get(), .output = theirs.get(), .private_files = true}));
    read();
}

std::optional<child_process::end_state> running_guest::ended() {
    if (output_ && output_->is_open()) return std::nullopt;
    return qemu_->poll();
}

void running_guest::end() {
    if (qemu_) qemu_->end(std::chrono::seconds(2));
}

std::vector<std::string> running_guest::announced() const {
    auto command = machine_.command();
    print_to(stderr, "{}\n", shell_text(command));
    return command;
}

void running_guest::read() {
    output_->async_read_some(boost::asio::buffer(bytes_), [this](auto error, std::size_t n) {
        if (error == boost::asio::error::operation_aborted) return;
        if (error) output_->close();
        std::string text(bytes_.data(), n);
        std::erase(text, '\r');  // line ends of the serial console
        print_(text);
        if (!error) read();
    });
}

}  // namespace trn

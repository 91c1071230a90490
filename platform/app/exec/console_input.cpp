// SPDX-License-Identifier: Apache-2.0
#include "platform/app/exec/console_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace trn {

namespace asio = boost::asio;

console_input::console_input(run_loop& loop, console& receiver, const std::string& path)
    : loop_(loop), console_(receiver) {
    // Opened again: O_NONBLOCK on a terminal's descriptor would also affect standard output.
    const auto* const file = path == "-" ? "/dev/stdin" : path.c_str();
    int descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0 && path == "-")  // standard input is a socket, which cannot be opened
        descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    std::array<char, 1> nothing;
    // open() succeeds for a folder, but read() fails.
    if (descriptor < 0 || (read(descriptor, nothing.data(), 0) < 0 && errno != EAGAIN)) {
        const int why = errno;
        if (descriptor >= 0) close(descriptor);
        throw std::invalid_argument("--input: " + path + ": " + std::strerror(why));
    }
    // epoll refuses regular files and /dev/null, which never block
    boost::system::error_code plain;
    stream_.emplace(loop_.io());
    stream_->assign(descriptor, plain);
    if (plain) {
        stream_.reset();
        file_ = descriptor;
    } else {
        attachment_ = loop_.attach("the console's input");
        receive();
    }
}

console_input::~console_input() {
    end();
}

void console_input::polled() {
    wanted_ = true;
    feed();
}

void console_input::feed() {
    while (wanted_) {
        if (rest_.empty() && file_ >= 0) read_more();
        if (rest_.empty()) return;
        const auto taken = console_.type(rest_);
        rest_.remove_prefix(taken);
        if (rest_.empty() && stream_) receive();
        if (!rest_.empty()) return;
    }
}

void console_input::read_more() {
    const auto count = read(file_, buffer_.data(), buffer_.size());
    if (count <= 0) return end();
    rest_ = {buffer_.data(), static_cast<std::size_t>(count)};
}

// Waits before it reads: a FIFO that no process has opened for writing yet reads as ended. A file
// supports no wait.
void console_input::receive() {
    stream_->async_wait(stream_->wait_read, [this](auto error) {
        if (error == asio::error::operation_aborted) return;
        std::size_t count = 0;
        if (!error || error == asio::error::operation_not_supported)
            count = stream_->read_some(asio::buffer(buffer_), error);
        if (error == asio::error::would_block) return receive();
        if (error) return end();
        rest_ = {buffer_.data(), count};
        feed();
    });
}

void console_input::end() {
    if (file_ >= 0) close(std::exchange(file_, -1));
    if (attachment_) loop_.detach(*std::exchange(attachment_, std::nullopt));
    stream_.reset();
}

}  // namespace trn

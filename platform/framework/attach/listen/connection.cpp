// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/listen/connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

namespace trn {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

bool try_again(const error_code& e) {
    return e == asio::error::would_block || e == asio::error::try_again ||
           e == asio::error::interrupted;
}

}  // namespace

connection::connection(listener::stream socket, std::size_t largest_backlog)
    : socket_(std::move(socket)), largest_backlog_(largest_backlog) {
    error_code gone;  // the first read reports errors
    socket_.non_blocking(true, gone);
}

void connection::start(std::string_view unsent) {
    send(unsent);
    read();
}

void connection::close() {
    if (!std::exchange(open_, false)) return;
    error_code ignored;
    socket_.close(ignored);
    closed();
}

void connection::end_sending() {
    ending_ = true;
    if (open_ && !awaiting_) write();
}

// Deferred: the caller of send() or received() may still use this object.
void connection::close_later() {
    post([this] { close(); });
}

void connection::post(std::function<void()> later) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), later = std::move(later)] {
        if (self->open_) later();
    });
}

void connection::read() {
    if (!open_) return;
    socket_.async_wait(socket_.wait_read, [self = shared_from_this()](const error_code&) {
        if (!self->open_) return;
        std::array<char, 16384> bytes;
        error_code failed;
        const auto size = self->socket_.read_some(asio::buffer(bytes), failed);
        if (try_again(failed)) return self->read();
        if (failed) return self->close();
        self->received({bytes.data(), size});
    });
}

void connection::send(std::string_view text) {
    if (!open_ || text.empty()) return;
    if (sent_ > output_.size() / 2) output_.erase(0, std::exchange(sent_, 0));
    output_ += text;
    if (unsent().size() > largest_backlog_) return close_later();
    if (!awaiting_) write();
}

void connection::write() {
    while (!unsent().empty()) {
        error_code failed;
        sent_ += socket_.write_some(asio::buffer(unsent().data(), unsent().size()), failed);
        if (try_again(failed)) {
            awaiting_ = true;
            return socket_.async_wait(socket_.wait_write,
                                      [self = shared_from_this()](const error_code&) {
                                          self->awaiting_ = false;
                                          if (self->open_) self->write();
                                      });
        }
        if (failed) return close_later();
    }
    output_.clear();
    sent_ = 0;
    error_code gone;  // the next read reports errors
    if (ending_) socket_.shutdown(socket_.shutdown_send, gone);
}

}  // namespace trn

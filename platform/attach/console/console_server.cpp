// SPDX-License-Identifier: Apache-2.0
#include "platform/attach/console/console_server.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <utility>

namespace trn {

namespace asio = boost::asio;
using boost::system::error_code;

class console_server::client : public std::enable_shared_from_this<client> {
public:
    client(listener::stream socket, console_log& log, std::string module)
        : socket_(std::move(socket)), log_(log), module_(std::move(module)) {}

    void read() {
        socket_.async_read_some(asio::buffer(typed_),
                                [self = shared_from_this()](error_code e, std::size_t n) {
                                    if (e || !self->open_) return self->close();
                                    self->log_.type(self->module_, {self->typed_.data(), n});
                                    self->read();
                                });
    }
    void send(std::string_view text) {
        if (!open_ || text.empty()) return;
        backlog_ += text.size();
        output_.emplace_back(text);
        if (backlog_ > largest_backlog) {
            asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
        } else if (output_.size() == 1) {
            write();
        }
    }
    void close() {
        error_code ignored;
        if (std::exchange(open_, false)) socket_.close(ignored);
    }
    bool open() const { return open_; }

private:
    void write() {
        asio::async_write(socket_, asio::buffer(output_.front()),
                          [self = shared_from_this()](error_code e, std::size_t) {
                              if (e || !self->open_) return self->close();
                              self->backlog_ -= self->output_.front().size();
                              self->output_.pop_front();
                              if (!self->output_.empty()) self->write();
                          });
    }

    listener::stream socket_;
    console_log& log_;
    const std::string module_;
    std::array<char, 256> typed_;
    std::deque<std::string> output_;
    std::size_t backlog_ = 0;
    bool open_ = true;
};

console_server::console_server(asio::io_context& io, console_log& log, std::string module,
                               const std::filesystem::path& path)
    : log_(log),
      module_(std::move(module)),
      door_(listener::on_unix(io, path,
                              [this](listener::stream socket) { welcome(std::move(socket)); })) {
    log_.listen([this](std::string_view from, std::string_view text) {
        if (from != module_) return;
        for (const auto& weak : clients_)
            if (const auto alive = weak.lock()) alive->send(text);
    });
}

console_server::~console_server() {
    for (const auto& weak : clients_)
        if (const auto alive = weak.lock()) alive->close();
}

void console_server::welcome(listener::stream socket) {
    std::erase_if(clients_, [](const auto& weak) {
        const auto alive = weak.lock();
        return !alive || !alive->open();
    });
    const auto* output = log_.find(module_);
    if (clients_.size() >= most_clients || !output) return;
    const auto created = std::make_shared<client>(std::move(socket), log_, module_);
    clients_.push_back(created);
    created->send(output->tail);
    created->read();
}

}  // namespace trn

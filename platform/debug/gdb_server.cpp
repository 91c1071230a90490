// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/gdb_server.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <optional>
#include <sstream>

#include "platform/debug/gdb_packet.h"
#include "platform/debug/gdb_stub.h"

namespace trn {

namespace asio = boost::asio;
using boost::system::error_code;
using rpc::json;

std::string monitor_command(control& methods, std::string_view command) {
    std::istringstream words{std::string(command)};
    std::string method, word;
    words >> method;
    if (method.empty() || method == "help") {
        std::string text = "METHOD [name=value...]:\n";
        for (const auto& [name, m] : methods.methods().all())
            text += fmt::format("  {} {}\n      {}\n", name, m.takes, m.description);
        return text;
    }
    json params = json::object();
    while (words >> word) {
        const auto equal = word.find('=');
        if (equal == std::string::npos) return fmt::format("error: '{}' is not name=value\n", word);
        const auto value = json::parse(word.substr(equal + 1), nullptr, false);
        params[word.substr(0, equal)] = value.is_discarded() ? json(word.substr(equal + 1)) : value;
    }
    try {
        return methods.call(method, params).dump(2, ' ', false, json::error_handler_t::replace) +
               "\n";
    } catch (const rpc::error& e) {
        return fmt::format("error: {}\n", e.what());
    }
}

class gdb_server::session : public std::enable_shared_from_this<session> {
public:
    static constexpr std::size_t largest_backlog = 4 << 20;  ///< bytes that GDB has not read yet

    session(gdb_server& server, listener::stream socket)
        : socket_(std::move(socket)),
          loop_(server.methods_.loop()),
          attachment_(loop_.attach("debugger")),
          reader_({[this](std::string_view body) {
                       if (stub_) stub_->packet(body);
                   },
                   [this] {
                       if (stub_) stub_->interrupt();
                   },
                   [this](std::string_view raw) { send(std::string(raw)); }}) {
        stub_.emplace(
            gdb::stub::environment{loop_, server.harts_,
                                   [&methods = server.methods_](std::string_view command) {
                                       return monitor_command(methods, command);
                                   },
                                   [this](std::string_view body) { send(gdb::frame(body)); },
                                   [this] { reader_.without_acknowledgement(); }});
    }
    ~session() { close(); }

    void start() { read(); }
    void close() {
        if (!std::exchange(open_, false)) return;
        error_code ignored;
        socket_.close(ignored);
        stub_.reset();
        loop_.detach(attachment_);
    }
    bool open() const { return open_; }
    bool unsent() const { return !output_.empty(); }
    gdb::stub* stub() { return stub_ ? &*stub_ : nullptr; }

private:
    void read() {
        if (!open_) return;
        socket_.async_read_some(asio::buffer(chunk_),
                                [self = shared_from_this()](error_code e, std::size_t n) {
                                    if (e) return self->close();
                                    if (self->open_) self->reader_.feed({self->chunk_.data(), n});
                                    self->read();
                                });
    }
    void send(std::string text) {
        if (!open_) return;
        backlog_ += text.size();
        output_.push_back(std::move(text));
        if (backlog_ > largest_backlog) {
            asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
            return;
        }
        if (output_.size() == 1) write();
    }
    void write() {
        asio::async_write(socket_, asio::buffer(output_.front()),
                          [self = shared_from_this()](error_code e, std::size_t) {
                              if (e) return self->close();
                              self->backlog_ -= self->output_.front().size();
                              self->output_.pop_front();
                              if (!self->output_.empty() && self->open_) self->write();
                          });
    }

    listener::stream socket_;
    run_loop& loop_;
    const std::uint64_t attachment_;
    gdb::packet_reader reader_;
    std::optional<gdb::stub> stub_;
    std::array<char, 4096> chunk_;
    std::deque<std::string> output_;
    std::size_t backlog_ = 0;
    bool open_ = true;
};

gdb_server::gdb_server(control& methods) : methods_(methods), harts_(find_harts()) {
    const auto client = [this]() -> gdb::stub* {
        return session_ && session_->open() ? session_->stub() : nullptr;
    };
    for (std::size_t i = 0; i < harts_.size(); ++i)
        harts_[i].target->on_stop([client, i] {
            if (auto* stub = client()) stub->hart_stopped(i);
        });
    methods_.loop().on_pause_change([client](bool paused, const std::string& why) {
        auto* stub = client();
        if (paused && stub) stub->platform_paused(why);
    });
}

gdb_server::~gdb_server() {
    if (session_) session_->close();
}

std::string gdb_server::listen(const std::string& address) {
    if (harts_.empty()) throw listen_error("there is no hart to debug on this board");
    auto& io = methods_.loop().io();
    const auto to = [this](listener::stream client) { welcome(std::move(client)); };
    door_ = address.find('/') != std::string::npos ? listener::on_unix(io, address, to)
                                                   : listener::on_tcp(io, address, false, to);
    return door_->address();
}

void gdb_server::exited(int status) {
    if (!session_ || !session_->open()) return;
    session_->stub()->exited(status);
    // The answer is written by handlers of the loop, which nobody drives any more.
    const auto end = run_loop::wall_clock::now() + std::chrono::seconds(1);
    auto& io = methods_.loop().io();
    while (session_->open() && session_->unsent() && run_loop::wall_clock::now() < end)
        io.run_one_until(end);
}

void gdb_server::welcome(listener::stream client) {
    if (session_ && session_->open()) return;  // one at a time; closing the socket tells the other
    session_ = std::make_shared<session>(*this, std::move(client));
    session_->start();
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/attach/control/server.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <fstream>
#include <utility>

namespace trn {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// Takes the same time wherever the difference is.
bool equal_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() && !b.empty(); ++i)
        difference |=
            static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i % b.size()]);
    return difference == 0;
}

}  // namespace

/// One client. Lives as long as an operation on its socket or an answer to it is pending.
class control_server::session final : public rpc::caller,
                                      public std::enable_shared_from_this<session> {
public:
    session(listener::stream socket, control& methods, std::optional<std::string> token,
            std::shared_ptr<std::size_t> clients)
        : socket_(std::move(socket)),
          methods_(methods),
          token_(std::move(token)),
          clients_(std::move(clients)) {
        static unsigned count = 0;
        who = fmt::format("control client {}", ++count);
        attachment = methods_.loop().attach(who);
        ++*clients_;
    }
    ~session() override { close(); }

    void start() { read(); }

    void close() {
        if (closed_) return;
        closed_ = true;
        error_code ignored;
        socket_.close(ignored);
        methods_.forget(*this);
        methods_.loop().detach(attachment);
        --*clients_;
    }

    void notify(std::string_view method, const rpc::json& params) override {
        send(rpc::notification(method, params));
    }

private:
    void read() {
        if (closed_) return;
        socket_.async_read_some(asio::buffer(chunk_),
                                [self = shared_from_this()](error_code e, std::size_t n) {
                                    if (e) return self->close();
                                    self->input_.append(self->chunk_.data(), n);
                                    self->serve_line();
                                });
    }

    // One request per handler, so that a client with many of them shares the loop with simulated
    // time.
    void serve_line() {
        if (closed_) return;
        const auto end = input_.find('\n', searched_);
        if (end == std::string::npos) {
            searched_ = input_.size();
            if (input_.size() > largest_message) {
                if (!overlong_)
                    send(rpc::error_response(
                        nullptr, rpc::code::invalid_request,
                        fmt::format("a message is at most {} bytes", largest_message)));
                overlong_ = true;
            }
            if (overlong_) {
                input_.clear();
                searched_ = 0;
            }
            return read();
        }
        auto line = input_.substr(0, end);
        input_.erase(0, end + 1);
        searched_ = 0;
        if (!std::exchange(overlong_, false)) execute(line);
        asio::post(socket_.get_executor(), [self = shared_from_this()] { self->serve_line(); });
    }

    void execute(std::string_view line) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) return;
        // The first line decides whether this is a client of ours at all: a web page that posts to
        // this port is not.
        if (!greeted && !introduces_itself(line)) return;
        rpc::execute(
            methods_.methods(), line, *this,
            [self = shared_from_this()](std::string text) { self->send(std::move(text)); });
        if (!greeted) closing_ = true;
    }

    bool introduces_itself(std::string_view line) {
        const auto refuse = [this](std::string_view why) {
            closing_ = true;
            send(rpc::error_response(nullptr, rpc::code::refused, why));
            return false;
        };
        const auto request = rpc::json::parse(line, nullptr, false);
        if (!request.is_object() || request.value("method", rpc::json()) != "hello")
            return refuse("say hello first");
        if (!token_) return true;
        const auto params = request.value("params", rpc::json());
        const auto token = params.is_object() ? params.value("token", rpc::json()) : rpc::json();
        if (!token.is_string() || !equal_secret(token.get_ref<const std::string&>(), *token_))
            return refuse("the token is missing or wrong");
        return true;
    }

    void send(std::string text) {
        if (closed_) return;
        backlog_ += text.size() + 1;
        output_.push_back(std::move(text) + "\n");
        // Closed from a handler of its own: the sender may be in the middle of something.
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
                              if (self->closed_) return;
                              self->backlog_ -= self->output_.front().size();
                              self->output_.pop_front();
                              if (!self->output_.empty()) return self->write();
                              if (self->closing_) self->close();
                          });
    }

    listener::stream socket_;
    control& methods_;
    const std::optional<std::string> token_;
    std::shared_ptr<std::size_t> clients_;
    std::array<char, 16384> chunk_;
    std::string input_;
    std::size_t searched_ = 0;  // of input_, without a line end
    bool overlong_ = false;     // dropping the rest of a message that was too long
    std::deque<std::string> output_;
    std::size_t backlog_ = 0;
    bool closing_ = false;  // after the last answer
    bool closed_ = false;
};

control_server::control_server(control& methods) : methods_(methods) {}

control_server::~control_server() {
    doors_.clear();
    for (const auto& weak : sessions_)
        if (const auto alive = weak.lock()) alive->close();
}

std::size_t control_server::clients() const {
    return *clients_;
}

void control_server::welcome(listener::stream client, const std::optional<std::string>& token) {
    std::erase_if(sessions_, [](const auto& weak) { return weak.expired(); });
    if (clients() >= most_clients) {
        const auto text =
            rpc::error_response(nullptr, rpc::code::refused,
                                fmt::format("{} clients are attached already", most_clients)) +
            "\n";
        error_code ignored;
        client.non_blocking(true, ignored);
        client.write_some(asio::buffer(text), ignored);
        return;
    }
    const auto created = std::make_shared<session>(std::move(client), methods_, token, clients_);
    sessions_.push_back(created);
    created->start();
}

void control_server::listen_unix(const std::filesystem::path& path) {
    doors_.push_back(listener::on_unix(methods_.loop().io(), path, [this](listener::stream client) {
        welcome(std::move(client), std::nullopt);
    }));
}

std::string control_server::listen_tcp(const tcp_options& options) {
    auto door = listener::on_tcp(methods_.loop().io(), options.address, options.allow_remote,
                                 [this, token = options.token](listener::stream client) {
                                     welcome(std::move(client), token);
                                 });
    if (!door->loopback() && !options.token)
        throw listen_error(fmt::format(
            "cannot listen on {}: a remote address needs a token (--token-file)", options.address));
    doors_.push_back(std::move(door));
    return doors_.back()->address();
}

std::string read_token(const std::filesystem::path& file) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0)
        throw listen_error("cannot read the token file " + file.string());
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw listen_error(
            fmt::format("the token file {} can be read by others; chmod 600 it", file.string()));
    std::ifstream in(file);
    std::string token;
    std::getline(in, token);
    if (token.size() < 16)
        throw listen_error(
            fmt::format("the token in {} has fewer than 16 characters", file.string()));
    return token;
}

}  // namespace trn

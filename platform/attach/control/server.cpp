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
#include <functional>
#include <list>
#include <utility>

namespace trn {

namespace asio = boost::asio;
using asio::ip::tcp;
using unix_stream = asio::local::stream_protocol;
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
template <typename protocol>
class control_server::session final : public rpc::caller,
                                      public std::enable_shared_from_this<session<protocol>> {
public:
    session(typename protocol::socket socket, control& methods, std::optional<std::string> token,
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
                                [self = this->shared_from_this()](error_code e, std::size_t n) {
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
        asio::post(socket_.get_executor(),
                   [self = this->shared_from_this()] { self->serve_line(); });
    }

    void execute(std::string_view line) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) return;
        // The first line decides whether this is a client of ours at all: a web page that posts to
        // this port is not.
        if (!greeted && !introduces_itself(line)) return;
        rpc::execute(
            methods_.methods(), line, *this,
            [self = this->shared_from_this()](std::string text) { self->send(std::move(text)); });
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
            asio::post(socket_.get_executor(),
                       [self = this->shared_from_this()] { self->close(); });
            return;
        }
        if (output_.size() == 1) write();
    }

    void write() {
        asio::async_write(socket_, asio::buffer(output_.front()),
                          [self = this->shared_from_this()](error_code e, std::size_t) {
                              if (e) return self->close();
                              if (self->closed_) return;
                              self->backlog_ -= self->output_.front().size();
                              self->output_.pop_front();
                              if (!self->output_.empty()) return self->write();
                              if (self->closing_) self->close();
                          });
    }

    typename protocol::socket socket_;
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

class control_server::door_base {
public:
    virtual ~door_base() = default;
};

/// A listening socket and the clients that came through it.
template <typename protocol>
class control_server::door final : public door_base {
public:
    door(control_server& server, typename protocol::acceptor acceptor,
         std::optional<std::string> token, std::filesystem::path path)
        : server_(server),
          acceptor_(std::move(acceptor)),
          token_(std::move(token)),
          path_(std::move(path)) {
        accept();
    }
    ~door() override {
        error_code ignored;
        acceptor_.close(ignored);
        if (!path_.empty()) std::filesystem::remove(path_, ignored);
        for (const auto& weak : sessions_)
            if (const auto alive = weak.lock()) alive->close();
    }

private:
    void accept() {
        acceptor_.async_accept([this](error_code e, typename protocol::socket socket) {
            if (e == asio::error::operation_aborted) return;  // `this` is gone
            if (!e) welcome(std::move(socket));
            accept();
        });
    }

    void welcome(typename protocol::socket socket) {
        std::erase_if(sessions_, [](const auto& weak) { return weak.expired(); });
        if (server_.clients() >= most_clients) {
            const auto text =
                rpc::error_response(nullptr, rpc::code::refused,
                                    fmt::format("{} clients are attached already", most_clients)) +
                "\n";
            error_code ignored;
            socket.non_blocking(true, ignored);
            socket.write_some(asio::buffer(text), ignored);
            return;
        }
        const auto created = std::make_shared<session<protocol>>(
            std::move(socket), server_.methods_, token_, server_.clients_);
        sessions_.push_back(created);
        created->start();
    }

    control_server& server_;
    typename protocol::acceptor acceptor_;
    const std::optional<std::string> token_;
    const std::filesystem::path path_;
    std::list<std::weak_ptr<session<protocol>>> sessions_;
};

control_server::control_server(control& methods) : methods_(methods) {}
control_server::~control_server() = default;
std::size_t control_server::clients() const {
    return *clients_;
}

void control_server::listen_unix(const std::filesystem::path& path) {
    const auto fail = [&](std::string_view why) {
        throw listen_error(fmt::format("cannot listen on {}: {}", path.string(), why));
    };
    if (path.string().size() > 107) fail("a socket's path has at most 107 characters");
    auto& io = methods_.loop().io();
    error_code e;
    const unix_stream::endpoint endpoint(path.string());
    if (std::filesystem::is_socket(path, e)) {
        unix_stream::socket old(io);
        old.connect(endpoint, e);
        if (!e) fail("another trnvp listens there");
        std::filesystem::remove(path, e);
    }
    unix_stream::acceptor acceptor(io, endpoint.protocol());
    acceptor.bind(endpoint, e);
    if (e) fail(e.message());
    // Before listen(), so that nobody gets in while the mode is still the umask's.
    if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) fail("cannot restrict it to its owner");
    acceptor.listen(static_cast<int>(most_clients), e);
    if (e) fail(e.message());
    doors_.push_back(
        std::make_unique<door<unix_stream>>(*this, std::move(acceptor), std::nullopt, path));
}

std::string control_server::listen_tcp(const tcp_options& options) {
    const auto fail = [&](std::string_view why) {
        throw listen_error(fmt::format("cannot listen on {}: {}", options.address, why));
    };
    const auto colon = options.address.rfind(':');
    if (colon == std::string::npos || colon == 0) fail("expected HOST:PORT");
    auto& io = methods_.loop().io();
    error_code e;
    auto host = options.address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const auto found = tcp::resolver(io).resolve(host, options.address.substr(colon + 1),
                                                 tcp::resolver::passive, e);
    if (e || found.empty()) fail(e ? e.message() : "no such host");
    const tcp::endpoint endpoint = *found.begin();
    if (!endpoint.address().is_loopback()) {
        if (!options.allow_remote) fail("not a loopback address; --allow-remote permits it");
        if (!options.token) fail("a remote address needs a token (--token-file)");
    }
    tcp::acceptor acceptor(io, endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint, e);
    if (!e) acceptor.listen(static_cast<int>(most_clients), e);
    if (e) fail(e.message());
    const auto local = acceptor.local_endpoint();
    doors_.push_back(std::make_unique<door<tcp>>(*this, std::move(acceptor), options.token,
                                                 std::filesystem::path()));
    return fmt::format("{}:{}", local.address().to_string(), local.port());
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

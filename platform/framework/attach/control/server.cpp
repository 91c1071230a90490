// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/server.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "platform/framework/attach/listen/connection.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/json.h"

namespace trn {

namespace {

// Compares in constant time, so that the duration does not reveal the position of a difference.
bool equal_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() && !b.empty(); ++i)
        difference |=
            static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i % b.size()]);
    return difference == 0;
}

}  // namespace

/// One client. Lives while an operation on its socket or a response is pending.
class control_server::session final : public rpc::caller, public connection {
public:
    session(listener::stream socket, control_server& server, std::optional<std::string> token)
        : connection(std::move(socket), largest_backlog),
          methods_(server.methods_),
          waiting_(server.waiting_),
          token_(std::move(token)),
          clients_(server.clients_) {
        static unsigned count = 0;
        name = fmt::format("control client {}", ++count);
        attachment = methods_.loop().attach(name);
    }
    ~session() override { close(); }

    void notify(std::string_view method, const rpc::json& params) override {
        send_line(rpc::notification(method, params));
    }

    rpc::json hand_over() {
        return {{"who", name},
                {"greeted", greeted},
                {"token", token_ ? rpc::json(*token_) : rpc::json()},
                {"input", input_},
                {"overlong", overlong_},
                {"closing", closing_},
                {"unsent", unsent()},
                {"topics", methods_.topics(*this)}};
    }
    void take_over(const rpc::json& state) {
        name = state["who"];
        if (state["greeted"]) introduced();
        input_ = state["input"];
        overlong_ = state["overlong"];
        methods_.subscribe(*this, state["topics"]);
        send(state["unsent"].get_ref<const std::string&>());
        if (state["closing"]) return end();
        post([this] { serve_line(); });  // after all other clients have been taken over
    }

    /// The client has not called hello in time.
    void turn_away() {
        if (!closing_) refuse("call hello first");
        close();
    }

private:
    void received(std::string_view bytes) override {
        input_ += bytes;
        serve_line();
    }
    void closed() override {
        methods_.forget(*this);
        methods_.loop().detach(attachment);
        waiting_.leave(this);
        if (greeted) --*clients_;
    }
    void introduced() {
        greeted = true;
        waiting_.leave(this);
        ++*clients_;
    }
    /// Stops serving the client after the last response; further input is ignored. The client
    /// disconnects, or the waiting room disconnects it.
    void end() {
        closing_ = true;
        end_sending();
    }

    // Serves one request per handler, so that a client with many requests does not stop simulated
    // time.
    void serve_line() {
        if (closing_) {
            input_.clear();
            return read();
        }
        const auto end = input_.find('\n', searched_);
        if (end == std::string::npos) {
            searched_ = input_.size();
            if (!greeted && input_.size() > largest_greeting) {
                refuse("call hello first");
                this->end();
                return read();
            }
            if (input_.size() > largest_message) {
                if (!overlong_)
                    send_line(rpc::error_response(
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
        post([this] { serve_line(); });
    }

    void execute(std::string_view line) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) return;
        // The first line must be a hello: a web page can post other text to this port.
        const bool first = !greeted;
        if (first && !introduces_itself(line)) return end();
        const auto self = std::static_pointer_cast<session>(shared_from_this());
        rpc::execute(methods_.methods(), line, *this,
                     [self](const std::string& text) { self->send_line(text); });
        if (!greeted) return end();
        if (first) introduced();
    }

    bool refuse(std::string_view why) {
        send_line(rpc::error_response(nullptr, rpc::code::refused, why));
        return false;
    }
    bool introduces_itself(std::string_view line) {
        const auto request = config::parse_json(line);
        if (!request.is_object() || request.value("method", rpc::json()) != "hello")
            return refuse("call hello first");
        if (*clients_ >= max_clients)
            return refuse(fmt::format("{} clients are attached already", max_clients));
        if (!token_) return true;
        const auto params = request.value("params", rpc::json());
        const auto token = params.is_object() ? params.value("token", rpc::json()) : rpc::json();
        if (!token.is_string() || !equal_secret(token.get_ref<const std::string&>(), *token_))
            return refuse("the token is missing or wrong");
        return true;
    }

    void send_line(const std::string& text) { send(text + "\n"); }

    control& methods_;
    waiting_room& waiting_;
    const std::optional<std::string> token_;
    const std::shared_ptr<std::size_t> clients_;
    std::string input_;
    std::size_t searched_ = 0;  // bytes of input_ that contain no line end
    bool overlong_ = false;     // skipping the rest of a message that was too long
    bool closing_ = false;      // the last response has been sent
};

control_server::control_server(control& methods, const waiting_room::limits& waiting)
    : methods_(methods), waiting_(methods.loop().io(), waiting) {}

control_server::~control_server() {
    endpoints_.clear();
    drop_clients();
}

void control_server::drop_clients() {
    for (const auto& weak : std::exchange(sessions_, {}))
        if (const auto alive = weak.lock()) alive->close();
}

void control_server::hand_over(handover& handed_over) {
    for (const auto& weak : sessions_)
        if (const auto alive = weak.lock(); alive && alive->open())
            handed_over.add("control", alive->hand_over(), alive->socket());
}

void control_server::take_over(const rpc::json& state, int socket) {
    const auto& token = state["token"];
    add(listener::adopt(methods_.loop().io(), socket),
        token.is_null() ? std::nullopt : std::optional(token.get<std::string>()))
        ->take_over(state);
}

std::shared_ptr<control_server::session> control_server::add(
    listener::stream client, const std::optional<std::string>& token) {
    std::erase_if(sessions_, [](const auto& weak) { return weak.expired(); });
    auto created = std::make_shared<session>(std::move(client), *this, token);
    sessions_.push_back(created);
    waiting_.enter(created.get(), [weak = std::weak_ptr(created)] {
        if (const auto silent = weak.lock()) silent->turn_away();
    });
    return created;
}

void control_server::listen_unix(const std::filesystem::path& path) {
    endpoints_.push_back(listener::on_unix(
        methods_.loop().io(), path,
        [this](listener::stream client) { add(std::move(client), std::nullopt)->start(); }));
}

std::string control_server::listen_tcp(const tcp_options& options) {
    auto endpoint = listener::on_tcp(
        methods_.loop().io(), options.address,
        {.allow_remote = options.allow_remote, .allow_other_users = options.token.has_value()},
        [this, token = options.token](listener::stream client) {
            add(std::move(client), token)->start();
        });
    if (!endpoint->loopback() && !options.token)
        throw listen_error(fmt::format(
            "cannot listen on {}: a remote address needs a token (--token-file)", options.address));
    endpoints_.push_back(std::move(endpoint));
    return endpoints_.back()->address();
}

std::string read_token(const std::filesystem::path& file) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0)
        throw listen_error("cannot read the token file " + file.string());
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw listen_error(
            fmt::format("the token file {} can be read by others; chmod 600 it", file.string()));
    constexpr std::uint64_t largest_token = 4096;
    std::string token;
    try {
        const auto text = read_file(file, largest_token);
        token.assign(text.begin(), std::find(text.begin(), text.end(), '\n'));
    } catch (const file_error& why) {
        throw listen_error(
            fmt::format("cannot read the token file {}: {}", file.string(), why.what()));
    }
    if (token.size() < 16)
        throw listen_error(
            fmt::format("the token in {} has fewer than 16 characters", file.string()));
    return token;
}

}  // namespace trn

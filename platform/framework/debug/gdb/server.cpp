// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/server.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>

#include "platform/framework/attach/listen/connection.h"
#include "platform/framework/config/json.h"
#include "platform/framework/debug/gdb/packet.h"
#include "platform/framework/debug/gdb/stub.h"

namespace trn {

using rpc::json;

namespace {

/// Name of the first parameter of a method, or "".
std::string first_parameter(control& methods, const std::string& method) {
    const auto* found = methods.methods().find(method);
    return found == nullptr || found->takes.empty() ? "" : std::string(found->takes.front().name);
}

}  // namespace

std::string monitor_command(control& methods, std::string_view command) {
    std::istringstream words{std::string(command)};
    std::string method, word;
    words >> method;
    if (method.empty() || method == "help") {
        std::string text = "METHOD [first parameter] [name=value...]:\n";
        for (const auto& [name, m] : methods.methods().all())
            text += fmt::format("  {} {}\n      {}\n", name, m.parameter_names(), m.description);
        return text;
    }
    json params = json::object();
    while (words >> word) {
        const auto equal = word.find('=');
        const auto name =
            equal == word.npos ? first_parameter(methods, method) : word.substr(0, equal);
        if (name.empty() || params.contains(name))
            return fmt::format("error: '{}' is not name=value\n", word);
        const auto text = word.substr(equal == word.npos ? 0 : equal + 1);
        const auto value = config::parse_json(text);
        params[name] = value.is_discarded() ? json(text) : value;
    }
    try {
        return methods.call(method, params, "the debugger")
                   .dump(2, ' ', false, json::error_handler_t::replace) +
               "\n";
    } catch (const rpc::error& e) {
        return fmt::format("error: {}\n", e.what());
    }
}

class gdb_server::session : public connection {
public:
    /// Limit of bytes that GDB has not read yet.
    static constexpr std::size_t largest_backlog = 4 << 20;

    session(gdb_server& server, listener::stream socket)
        : connection(std::move(socket), largest_backlog),
          server_(server),
          loop_(server.methods_.loop()),
          reader_({[this](std::string_view body) { stub_->packet(body); },
                   [this] { stub_->interrupt(); }, [this](std::string_view raw) { send(raw); }}) {}
    ~session() override { close(); }

    json hand_over() const {
        return {{"reader", reader_.hand_over()},
                {"stub", stub_->hand_over()},
                {"input", input_},
                {"unsent", unsent()}};
    }
    void take_over(const json& state) {
        attachment_ = loop_.attach("debugger");
        reader_.take_over(state["reader"]);
        stub_.emplace(environment(), state["stub"]);
        send(state["unsent"].get_ref<const std::string&>());
        input_ = state["input"];
        post([this] { serve(); });  // after all other clients have been taken over
    }
    gdb::stub& stub() { return *stub_; }
    bool begun() const { return stub_.has_value(); }

private:
    gdb::stub::environment environment() {
        return {
            loop_,
            server_.harts_,
            [this](std::string_view command) { return monitor_command(server_.methods_, command); },
            [this](std::string_view body) { send(gdb::frame(body)); },
            [this] { reader_.without_acknowledgement(); },
            server_.libraries_};
    }
    void received(std::string_view bytes) override {
        input_ += bytes;
        if (stub_) return serve();
        switch (gdb::judge_opening(input_)) {
        case gdb::opening::incomplete:
            return read();
        case gdb::opening::debugger:
            if (server_.admit(*this)) return begin();
            [[fallthrough]];
        case gdb::opening::stranger:
            return close();
        }
    }
    void begin() {
        attachment_ = loop_.attach("debugger");
        stub_.emplace(environment());
        serve();
    }
    // Bytes that remain when this process ends are handed over.
    void serve() {
        while (!input_.empty() && open()) {
            if (loop_.rests_next()) return post([this] { serve(); });
            input_.erase(0, input_.size() - reader_.feed(input_).size());
        }
        read();
    }
    void closed() override {
        server_.waiting_.leave(this);
        if (!stub_) return;
        stub_->detach();  // detach explicitly: a packet being processed may close the connection
        loop_.detach(attachment_);
    }

    gdb_server& server_;
    run_loop& loop_;
    std::uint64_t attachment_ = 0;
    gdb::packet_reader reader_;
    std::optional<gdb::stub> stub_;  // exists from the first packet on
    std::string input_;              // input that reader_ has not processed
};

gdb_server::gdb_server(control& methods, const waiting_room::limits& waiting,
                       gdb::library_source libraries)
    : methods_(methods),
      harts_(find_harts()),
      libraries_(std::move(libraries)),
      waiting_(methods.loop().io(), waiting) {
    const auto client = [this] { return attached() ? &session_->stub() : nullptr; };
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
    drop_client();
}

bool gdb_server::attached() const {
    return session_ && session_->open() && session_->begun();
}

void gdb_server::drop_client() {
    waiting_.turn_all_away();
    if (session_) session_->close();
}

void gdb_server::hand_over(handover& handed_over) {
    if (attached()) handed_over.add("gdb", session_->hand_over(), session_->socket());
}

void gdb_server::take_over(const json& state, int socket) {
    session_ = std::make_shared<session>(*this, listener::adopt(methods_.loop().io(), socket));
    session_->take_over(state);
}

std::string gdb_server::address_of(const std::string& text) {
    const bool only_port = text.find_first_of(":/") == text.npos;
    return only_port ? "127.0.0.1:" + text : text;
}

std::string gdb_server::listen(const std::string& address) {
    if (harts_.empty()) throw listen_error("there is no hart to debug on this board");
    auto& io = methods_.loop().io();
    const auto on_client = [this](listener::stream client) { welcome(std::move(client)); };
    listener_ = address.find('/') != std::string::npos
                    ? listener::on_unix(io, address, on_client)
                    : listener::on_tcp(io, address, {}, on_client);
    return listener_->address();
}

void gdb_server::exited(int status) {
    if (!attached()) return;
    session_->stub().exited(status);
    // Handlers of the loop send the response, but the loop has stopped: run them here.
    const auto end = run_loop::wall_clock::now() + std::chrono::seconds(1);
    auto& io = methods_.loop().io();
    while (session_->open() && !session_->unsent().empty() && run_loop::wall_clock::now() < end)
        io.run_one_until(end);
}

void gdb_server::welcome(listener::stream client) {
    if (attached()) return;  // waits for one event; closing the socket cancels it
    const auto arrived = std::make_shared<session>(*this, std::move(client));
    waiting_.enter(arrived.get(), [weak = std::weak_ptr(arrived)] {
        if (const auto silent = weak.lock()) silent->close();
    });
    arrived->start();
}

bool gdb_server::admit(session& client) {
    if (attached()) return false;
    waiting_.leave(&client);
    session_ = std::static_pointer_cast<session>(client.shared_from_this());
    return true;
}

}  // namespace trn

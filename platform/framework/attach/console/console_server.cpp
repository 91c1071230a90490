// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/console/console_server.h"

#include <algorithm>
#include <utility>

#include "platform/framework/attach/listen/connection.h"

namespace trn {

namespace asio = boost::asio;

class console_server::client : public connection {
public:
    client(listener::stream socket, console_log& log, std::string module)
        : connection(std::move(socket), largest_backlog), log_(log), module_(std::move(module)) {}

    bool has_typed() const { return has_typed_; }

private:
    void received(std::string_view typed) override {
        has_typed_ = true;
        log_.type(module_, typed);
        read();
    }

    console_log& log_;
    const std::string module_;
    bool has_typed_ = false;
};

console_server::console_server(asio::io_context& io, console_log& log, std::string module,
                               const std::filesystem::path& path)
    : io_(io),
      log_(log),
      module_(std::move(module)),
      listener_(listener::on_unix(
          io, path, [this](listener::stream socket) { welcome(std::move(socket)); })) {
    log_.listen([this](std::string_view console_name, std::string_view text) {
        if (console_name != module_) return;
        for (const auto& weak : clients_)
            if (const auto alive = weak.lock()) alive->send(text);
    });
}

console_server::~console_server() {
    drop_clients();
}

void console_server::drop_clients() {
    for (const auto& weak : std::exchange(clients_, {}))
        if (const auto alive = weak.lock()) alive->close();
}

void console_server::hand_over(handover& handed_over) {
    for (const auto& weak : clients_)
        if (const auto alive = weak.lock(); alive && alive->open())
            handed_over.add(module_, {{"unsent", alive->unsent()}}, alive->socket());
}

void console_server::take_over(const nlohmann::json& state, int socket) {
    add(listener::adopt(io_, socket), state["unsent"].get_ref<const std::string&>());
}

void console_server::welcome(listener::stream socket) {
    std::erase_if(clients_, [](const auto& weak) {
        const auto alive = weak.lock();
        return !alive || !alive->open();
    });
    const auto* output = log_.find(module_);
    if (!output) return;
    if (clients_.size() >= max_clients) make_room();
    add(std::move(socket), output->recent());
}

/// Called at the limit of clients: disconnects one.
void console_server::make_room() {
    const auto silent = std::ranges::find_if(
        clients_, [](const auto& client) { return !client.lock()->has_typed(); });
    const auto leaves = silent == clients_.end() ? clients_.begin() : silent;
    leaves->lock()->close();
    clients_.erase(leaves);
}

void console_server::add(listener::stream socket, std::string_view first) {
    const auto created = std::make_shared<client>(std::move(socket), log_, module_);
    clients_.push_back(created);
    created->start(first);
}

}  // namespace trn

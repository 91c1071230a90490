// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry_model/metrics_server.h"

#include <fmt/format.h>

#include <utility>

#include "platform/app/telemetry/views/metrics_request.h"
#include "platform/framework/attach/listen/connection.h"

namespace trn::telemetry {

/// One client. Lives while an operation on its socket is pending.
class metrics_server::session final : public connection {
public:
    static constexpr std::size_t largest_backlog = 64 << 20;

    session(listener::stream socket, std::weak_ptr<std::function<std::string()>> page,
            std::shared_ptr<waiting_room> waiting)
        : connection(std::move(socket), largest_backlog),
          page_(std::move(page)),
          waiting_(std::move(waiting)) {}

private:
    void received(std::string_view bytes) override {
        const auto page = page_.lock();
        if (!page || answered_) return page ? read() : close();
        if (const auto response = request_.receive(bytes, *page)) {
            answered_ = true;  // its time limit goes on, for a client that does not read
            send(*response);
            end_sending();
        }
        read();
    }
    void closed() override { waiting_->leave(this); }

    const std::weak_ptr<std::function<std::string()>> page_;
    const std::shared_ptr<waiting_room> waiting_;
    metrics_request request_;
    bool answered_ = false;
};

metrics_server::metrics_server(boost::asio::io_context& io, const std::string& address,
                               std::function<std::string()> page)
    : page_(std::make_shared<std::function<std::string()>>(std::move(page))),
      waiting_(std::make_shared<waiting_room>(io, waiting_room::limits{})) {
    const bool is_port = address.find(':') == std::string::npos;
    // Other users of the machine may read the metrics, as Prometheus, which has a user of its own.
    listener_ = listener::on_tcp(io, is_port ? "127.0.0.1:" + address : address,
                                 {.allow_remote = !is_port, .allow_other_users = true},
                                 [this](listener::stream client) { welcome(std::move(client)); });
}

metrics_server::~metrics_server() {
    waiting_->turn_all_away();
}

std::string metrics_server::address() const {
    return fmt::format("http://{}/metrics", listener_->address());
}

void metrics_server::welcome(listener::stream client) {
    const auto arrived = std::make_shared<session>(std::move(client), page_, waiting_);
    waiting_->enter(arrived.get(), [weak = std::weak_ptr(arrived)] {
        if (const auto slow = weak.lock()) slow->close();
    });
    arrived->start();
}

}  // namespace trn::telemetry

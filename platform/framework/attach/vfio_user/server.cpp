// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/server.h"

#include <fmt/format.h>

#include <utility>

namespace trn {

vfio_user_server::vfio_user_server(boost::asio::io_context& io, function_port& function, config cfg,
                                   hooks hooks)
    : function_(function),
      cfg_(std::move(cfg)),
      hooks_(std::move(hooks)),
      waiting_(io, cfg_.waiting),
      listener_(listener::on_unix(
          io, cfg_.path, [this](listener::stream client) { welcome(std::move(client)); })) {}

vfio_user_server::~vfio_user_server() {
    drop_waiting();
    if (session_ == nullptr) return;
    session_->close();
    if (hooks_.attached) hooks_.attached(false);
}

void vfio_user_server::welcome(listener::stream client) {
    const auto arrived = std::make_shared<vfio_user_session>(
        std::move(client), function_, cfg_, hooks_,
        vfio_user_session::events{
            .introduced = [this](auto& session) { return admit(session); },
            .ended = [this](auto& session, const auto& why) { ended(session, why); }});
    waiting_.enter(arrived.get(), [this, weak = std::weak_ptr(arrived)] {
        const auto silent = weak.lock();
        if (!silent) return;
        silent->close();
        hooks_.report(cfg_.name, "closed a client without version message");
    });
    arrived->start();
}

std::string vfio_user_server::admit(vfio_user_session& client) {
    if (const auto before = session_) before->finish_if_hung_up();
    if (session_ != nullptr) return fmt::format("{} already has a client", cfg_.name);
    waiting_.leave(&client);
    session_ = client.shared_from_this();
    if (hooks_.attached) hooks_.attached(true);
    return {};
}

void vfio_user_server::ended(vfio_user_session& client, const std::string& why) {
    waiting_.leave(&client);
    const auto self = client.shared_from_this();
    const bool was_attached = self == session_;
    if (was_attached) session_ = nullptr;
    client.close();
    hooks_.report(cfg_.name, why);
    if (was_attached && hooks_.attached) hooks_.attached(false);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/attach/vfio_user_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

#include "platform/attach/vfio_user_protocol.h"
#include "platform/attach/vfio_user_session.h"
#include "platform/log.h"

namespace trn {

using boost::system::error_code;

namespace {

constexpr unsigned most_refusals = 8;  // clients being told "busy" at the same time
constexpr auto refusal_time = std::chrono::seconds(1);

/// A client that came second: it is told so when it has said hello, or after a second.
struct refusal : std::enable_shared_from_this<refusal> {
    refusal(vfio_user_session::socket connected, std::string why)
        : client(std::move(connected)), timer(client.get_executor()), text(std::move(why)) {}

    void start(std::function<void()> over) {
        timer.expires_after(refusal_time);
        timer.async_wait([self = shared_from_this()](const error_code& failed) {
            if (!failed) self->client.cancel();
        });
        client.async_wait(client.wait_read, [self = shared_from_this(),
                                             over = std::move(over)](const error_code& failed) {
            if (!failed) self->answer();
            self->timer.cancel();
            over();
        });
    }

    void answer() {
        using namespace vfio_user;
        header hello{};
        if (recv(client.native_handle(), &hello, sizeof hello, MSG_DONTWAIT) != sizeof hello)
            return;
        const std::string json = fmt::format(R"({{"error":"{}"}})", text);
        const header head{.id = hello.id,
                          .command = hello.command,
                          .size = static_cast<std::uint32_t>(sizeof head + json.size() + 1),
                          .flags = flag_reply | flag_error,
                          .error = EBUSY};
        iovec parts[2] = {{const_cast<header*>(&head), sizeof head},
                          {const_cast<char*>(json.c_str()), json.size() + 1}};
        msghdr reply{};
        reply.msg_iov = parts;
        reply.msg_iovlen = 2;
        sendmsg(client.native_handle(), &reply, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    vfio_user_session::socket client;
    boost::asio::steady_timer timer;
    std::string text;
};

}  // namespace

vfio_user_server::vfio_user_server(boost::asio::io_context& io, function_port& function, config cfg,
                                   hooks hooks)
    : function_(function),
      cfg_(std::move(cfg)),
      hooks_(std::move(hooks)),
      listener_(listener::on_unix(
          io, cfg_.path, [this](listener::stream client) { welcome(std::move(client)); })) {}

vfio_user_server::~vfio_user_server() {
    if (session_ == nullptr) return;
    session_->close();
    if (hooks_.attached) hooks_.attached(false);
}

void vfio_user_server::welcome(listener::stream client) {
    if (const auto before = session_) before->finish_if_hung_up();
    if (session_ != nullptr) return refuse(std::move(client));
    session_ = std::make_shared<vfio_user_session>(std::move(client), function_, cfg_, hooks_,
                                                   [this](const std::string& why) { ended(why); });
    if (hooks_.attached) hooks_.attached(true);
    session_->start();
}

void vfio_user_server::refuse(listener::stream client) {
    if (*refusing_ >= most_refusals) return;  // closed without a word
    ++*refusing_;
    const auto told = std::make_shared<refusal>(
        std::move(client), fmt::format("{} has a client already; one at a time", cfg_.name));
    told->start([refusing = refusing_] { --*refusing; });
}

void vfio_user_server::ended(const std::string& why) {
    const auto gone = std::move(session_);
    session_ = nullptr;
    gone->close();
    if (hooks_.log) {
        hooks_.log(why);
    } else {
        log::info(cfg_.name, "{}", why);
    }
    if (hooks_.attached) hooks_.attached(false);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/attach/listen/waiting_room.h"

namespace trn::telemetry {

/// Serves /metrics over HTTP in the run loop, between slices. A client has 10 s and 8 KiB for its
/// request; the longest waiting of more than 16 clients is closed.
class metrics_server {
public:
    /// `address`: a port of loopback (0 chooses one), or HOST:PORT, which may be of any interface.
    /// \throws listen_error
    metrics_server(boost::asio::io_context& io, const std::string& address,
                   std::function<std::string()> page);
    ~metrics_server();
    metrics_server(const metrics_server&) = delete;
    metrics_server& operator=(const metrics_server&) = delete;

    /// "http://HOST:PORT/metrics"
    std::string address() const;

private:
    class session;
    void welcome(listener::stream client);

    const std::shared_ptr<std::function<std::string()>> page_;
    std::shared_ptr<waiting_room> waiting_;
    std::unique_ptr<listener> listener_;
};

}  // namespace trn::telemetry

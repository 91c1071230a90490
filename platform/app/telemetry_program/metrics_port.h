// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>

#include "platform/app/telemetry/views/metrics_request.h"
#include "platform/framework/unique_fd.h"

namespace trn::telemetry {

/// Serves /metrics over HTTP in a program without a run loop. Bounded like metrics_server.
class metrics_port {
public:
    static constexpr std::size_t max_clients = 16;
    static constexpr std::chrono::seconds time_limit{10};

    /// `address`: a port of loopback (0 chooses one), or HOST:PORT. \throws source_usage
    explicit metrics_port(const std::string& address);

    unsigned port() const { return port_; }
    /// Serves clients for `seconds`, or until should_end().
    void serve(double seconds, const std::function<std::string()>& page);

private:
    using clock = std::chrono::steady_clock;
    struct client {
        unique_fd socket;
        clock::time_point end;
        metrics_request request = {};
        std::string output = {};
        std::size_t sent = 0;
    };

    void accept();
    /// Returns false when the client is served, or has gone.
    static bool serve(client& served, short events, const std::function<std::string()>& page);

    unique_fd listener_;
    unsigned port_ = 0;
    std::list<client> clients_;  // the longest waiting first
};

}  // namespace trn::telemetry

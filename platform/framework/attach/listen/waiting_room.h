// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>

namespace trn {

/// Connected clients that have not introduced themselves yet. Each has a limited wall time to
/// do so, and their number is limited: a new client replaces the one that has waited longest.
/// Silent clients therefore never block others.
class waiting_room {
public:
    struct limits {
        std::size_t clients = 16;
        std::chrono::milliseconds time = std::chrono::seconds(10);
    };

    waiting_room(boost::asio::io_context& io, const limits& l) : io_(io), limits_(l) {}
    waiting_room(const waiting_room&) = delete;
    waiting_room& operator=(const waiting_room&) = delete;

    /// Calls `turn_away` once, when the client's time is over or its place is needed, unless it has
    /// left before.
    void enter(const void* client, std::function<void()> turn_away);
    /// Call when the client has introduced itself or disconnected; may be called again.
    void leave(const void* client);
    void turn_all_away();

private:
    struct guest;
    void turn_away(const std::shared_ptr<guest>& turned_away);

    boost::asio::io_context& io_;
    const limits limits_;
    std::list<std::shared_ptr<guest>> guests_;  // the longest waiting first
};

}  // namespace trn

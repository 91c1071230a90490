// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/listen/waiting_room.h"

#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace trn {

struct waiting_room::guest {
    const void* client;
    std::function<void()> turn_away;
    boost::asio::steady_timer timer;
};

void waiting_room::enter(const void* client, std::function<void()> turn_away) {
    if (guests_.size() >= limits_.clients) this->turn_away(guests_.front());
    const auto entered = std::make_shared<guest>(
        guest{client, std::move(turn_away), boost::asio::steady_timer(io_, limits_.time)});
    guests_.push_back(entered);
    entered->timer.async_wait([this, weak = std::weak_ptr(entered)](const auto& cancelled) {
        if (const auto late = weak.lock(); late && !cancelled) this->turn_away(late);
    });
}

void waiting_room::leave(const void* client) {
    guests_.remove_if([client](const auto& guest) { return guest->client == client; });
}

void waiting_room::turn_all_away() {
    while (!guests_.empty()) turn_away(guests_.front());
}

void waiting_room::turn_away(const std::shared_ptr<guest>& turned_away) {
    const auto call = std::move(turned_away->turn_away);
    // Keeps the guest alive: `turned_away` may refer to the list's element.
    guests_.remove(std::shared_ptr(turned_away));
    call();
}

}  // namespace trn

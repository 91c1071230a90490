// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/guest_ports.h"

#include <algorithm>
#include <chrono>

namespace trn {

namespace {

/// QEMU refuses the button for some seconds, while the guest still handles the last press.
constexpr std::chrono::seconds between_tries{1};
constexpr unsigned max_tries = 60;

}  // namespace

guest_ports::guest_ports(boost::asio::io_context& io, const std::filesystem::path& monitor,
                         const std::vector<guest_function>& functions)
    : monitor_(io, monitor) {
    for (const auto& function : functions)
        if (!function.bridges.empty())
            cards_.push_back({.function = function, .retry = boost::asio::steady_timer(io)});
}

void guest_ports::error(std::uint16_t source, std::uint32_t error) {
    for (const card& each : cards_) {
        const auto& above = each.function.bridges;
        if (each.function.id == source) return monitor_.inject_error(each.function.name, error);
        if (std::ranges::find(above, source) != above.end())
            return monitor_.inject_error(port_name(source), error);
    }
}

void guest_ports::slot(std::uint16_t port, bool reachable) {
    for (card& each : cards_) {
        const auto& above = each.function.bridges;
        if (std::ranges::find(above, port) == above.end()) continue;
        each.reachable = reachable;
        each.tries = 0;
        follow(each);
    }
}

void guest_ports::follow(card& followed) {
    if (followed.in_guest == followed.reachable || followed.tries >= max_tries) return;
    monitor_.press_attention_button(followed.function.name, [this, &followed](bool accepted) {
        if (accepted) followed.in_guest = !followed.in_guest;
        ++followed.tries;
        followed.retry.expires_after(between_tries);
        followed.retry.async_wait([this, &followed](auto error) {
            if (!error) follow(followed);
        });
    });
}

}  // namespace trn

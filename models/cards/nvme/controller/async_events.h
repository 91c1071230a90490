// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "models/cards/nvme/queues/command.h"

namespace trn::nvme {

/// Asynchronous events (NVM Express 5.2). After an event was reported, its type is masked until
/// software reads its log page. One event per type is kept for the next request.
class async_events {
public:
    enum class type : std::uint8_t {
        error = nvme_entry_regs::event::type_error,
        health = nvme_entry_regs::event::type_health,
    };
    /// Details of types error (figure 147) and health.
    static constexpr std::uint8_t no_such_doorbell = 0, bad_doorbell_value = 1;
    static constexpr std::uint8_t temperature = 1;

    using complete = std::function<void(std::uint16_t id, std::uint32_t result)>;

    explicit async_events(complete done) : complete_(std::move(done)) {}

    /// Adds a request of software; false if it has too many.
    bool request(std::uint16_t id);
    /// Removes an aborted request; false if there is none with this id.
    bool withdraw(std::uint16_t id);
    void report(type event, std::uint8_t detail);
    /// Software has read the log page: unmasks its event type.
    void has_read(std::uint8_t log_page);
    void reset();

private:
    static constexpr std::size_t types = 2;
    struct state {
        bool is_reported = false;
        std::optional<std::uint8_t> pending = {};  // detail of the event
    };

    void deliver();

    complete complete_;
    std::deque<std::uint16_t> requests_;
    std::array<state, types> events_{};
};

}  // namespace trn::nvme

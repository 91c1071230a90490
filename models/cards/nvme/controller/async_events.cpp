// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/async_events.h"

#include <algorithm>

#include "models/cards/nvme/controller/identify.h"

namespace trn::nvme {

namespace words = nvme_entry_regs;

namespace {

/// Log page of each event type.
constexpr std::uint8_t log_pages[] = {words::log::page_errors, words::log::page_health};

}  // namespace

bool async_events::request(std::uint16_t id) {
    if (requests_.size() >= max_event_requests) return false;
    requests_.push_back(id);
    deliver();
    return true;
}

bool async_events::withdraw(std::uint16_t id) {
    const auto found = std::ranges::find(requests_, id);
    if (found == requests_.end()) return false;
    requests_.erase(found);
    return true;
}

void async_events::report(type event, std::uint8_t detail) {
    state& record = events_[static_cast<std::size_t>(event)];
    if (record.is_reported) return;
    record.pending = detail;
    deliver();
}

void async_events::has_read(std::uint8_t log_page) {
    for (std::size_t i = 0; i < types; ++i)
        if (log_pages[i] == log_page) events_[i].is_reported = false;
}

void async_events::reset() {
    requests_.clear();
    events_ = {};
}

void async_events::deliver() {
    for (std::size_t i = 0; i < types && !requests_.empty(); ++i) {
        state& record = events_[i];
        if (!record.pending || record.is_reported) continue;
        entry made;
        made.set(words::event::type, i);
        made.set(words::event::detail, *record.pending);
        made.set(words::event::log_page, log_pages[i]);
        record = {.is_reported = true};
        const auto id = requests_.front();
        requests_.pop_front();
        complete_(id, made.get(words::reg::event));
    }
}

}  // namespace trn::nvme

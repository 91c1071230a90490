// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/event_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <systemc>
#include <utility>

#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"

namespace trn::recording {

using sc_core::sc_time;

namespace {

// Limits of reading ahead when the platform is not the recorded one.
constexpr std::size_t max_ahead = 4096;  // events
constexpr std::size_t max_bytes_ahead = 64 << 20;

std::size_t weight(const event& e) {
    return sizeof e + e.bytes.size();
}

bool fits(const event& recorded, const event& seen) {
    return recorded.type == seen.type && recorded.address == seen.address &&
           recorded.size == seen.size &&
           (seen.type != kind::raised || recorded.index == seen.index);
}

}  // namespace

event_matcher::event_matcher(const manifest& about, log_reader log, bool same)
    : functions_(about.functions),
      log_(std::move(log)),
      checker_(about),
      same_(same),
      expected_(functions_.size()) {}

/// The next event of the log; nothing at its end or at its damage. Does not throw: processes of
/// the simulation call it.
std::optional<event> event_matcher::read() {
    if (!damage_.empty()) return std::nullopt;
    try {
        auto e = log_.next();
        if (e) checker_.check(*e);
        return e;
    } catch (const recording_error& why) {
        damage_ = why.what();
        return std::nullopt;
    }
}

/// Reads one event from the log into its queue; false at the log's end.
bool event_matcher::read_ahead() {
    auto e = read();
    if (!e) return false;
    held_ += weight(*e);
    auto& queue = from_outside(e->type) ? ahead_ : expected_[e->function];
    queue.push_back(std::move(*e));
    return true;
}

std::optional<event> event_matcher::next() {
    while (ahead_.empty()) {
        if (read_ahead()) continue;
        if (!damage_.empty()) throw recording_error(damage_);
        return std::nullopt;
    }
    event e = std::move(ahead_.front());
    ahead_.pop_front();
    held_ -= weight(e);
    return e;
}

std::optional<event> event_matcher::expect(const event& seen) {
    ++found_.compared;
    auto& expected = expected_[seen.function];
    std::size_t position = 0;
    for (;;) {
        for (; position < expected.size(); ++position)
            if (fits(expected[position], seen)) break;
        if (position < expected.size()) break;
        if (position > max_ahead || held_ > max_bytes_ahead || !read_ahead()) {
            differs(fmt::format("{}: {} of {} bytes at {:#x}: not in the recording",
                                functions_[seen.function], to_string(seen.type), seen.size,
                                seen.address));
            return std::nullopt;
        }
    }
    const auto found = expected.begin() + static_cast<std::ptrdiff_t>(position);
    event was = std::move(*found);
    expected.erase(found);
    held_ -= std::min(held_, weight(was));
    const auto now = in_picoseconds(sc_core::sc_time_stamp());
    if (same_ && (position != 0 || was.time != now))
        differs(fmt::format("{}: {} of {} bytes at {:#x}: recorded at {}{}",
                            functions_[seen.function], to_string(seen.type), seen.size,
                            seen.address, to_text(sc_time::from_value(was.time)),
                            position != 0 ? ", in another order" : ""));
    return was;
}

void event_matcher::differs(std::string text) {
    if (found_.differences++ < max_reported)
        found_.first.push_back({in_picoseconds(sc_core::sc_time_stamp()), std::move(text)});
}

void event_matcher::report_missing() {
    struct rest {
        std::uint64_t count = 0;
        kind first{};
    };
    std::vector<rest> left(expected_.size());
    const auto add = [&](const event& e) {
        if (left[e.function].count++ == 0) left[e.function].first = e.type;
    };
    for (const auto& all : expected_) std::ranges::for_each(all, add);
    while (const auto e = read())  // counted, not kept: their number is unlimited
        if (!from_outside(e->type)) add(*e);
    if (!damage_.empty()) throw recording_error(damage_);
    for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i].count != 0)
            differs(fmt::format("{}: {} recorded accesses to its host did not happen, first a {}",
                                functions_[i], left[i].count, to_string(left[i].first)));
}

}  // namespace trn::recording

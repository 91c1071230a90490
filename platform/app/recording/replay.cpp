// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "platform/app/recording/replayed_function.h"
#include "platform/framework/attach/control/rpc.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/json.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn::recording {

namespace fs = std::filesystem;
using rpc::json;
using sc_core::sc_time;

namespace {

// How far ahead of the replay a platform that is not the recorded one is followed.
constexpr std::size_t max_ahead = 4096;  // events
constexpr std::size_t max_bytes_ahead = 64 << 20;

std::size_t weight(const event& e) {
    return sizeof e + e.bytes.size();
}

bool fits(const event& recorded, const event& seen) {
    return recorded.what == seen.what && recorded.address == seen.address &&
           recorded.size == seen.size &&
           (seen.what != kind::raised || recorded.index == seen.index);
}

}  // namespace

platform_options options_of(const manifest& about, const fs::path& folder,
                            const std::string& firmware) {
    for (const auto& [name, file] : about.images) {
        std::error_code error;
        if (!fs::is_regular_file(folder / file, error))
            throw recording_error(fmt::format("the recording has lost {}", file));
        if (firmware.empty() || name != firmware) stand_in_for_firmware(name, folder / file);
    }
    return {.board = (folder / about.file).string(),
            .set = about.set,
            .firmware = firmware.empty() ? about.firmware : firmware,
            .timing = about.contended ? timing_mode::contended : timing_mode::functional,
            .time = {},
            .seed = about.seed,
            .trace = {},
            .boards = folder / boards_copy};
}

replay::replay(platform& on, const manifest& about, const survey& what, log_reader log)
    : on_(on),
      about_(about),
      survey_(what),
      log_(std::move(log)),
      same_(on.about().digest == about.digest),
      expected_(about.functions.size()) {
    for (const auto& f : on.functions()) {
        const auto number = static_cast<std::uint32_t>(functions_.size());
        functions_.push_back(std::make_unique<replayed_function>(*this, number, f.name, *f.port));
    }
    if (functions_.size() != about.functions.size())
        throw recording_error(fmt::format("{} functions were recorded, the board has {}",
                                          about.functions.size(), functions_.size()));
}

replay::~replay() = default;

replay::outcome replay::run() {
    while (const auto e = next()) {
        if (!reach(e->time, e->deltas)) break;
        if (e->what == kind::end) break;
        ++outcome_.repeated;
        repeat(*e);
    }
    if (!outcome_.interrupted) finish();
    return outcome_;
}

// --- the log

/// Reads one event from the log to where it belongs; false at the log's end.
bool replay::read_ahead() {
    auto e = log_.next();
    if (!e) return false;
    held_ += weight(*e);
    auto& to = from_outside(e->what) ? ahead_ : expected_[e->function];
    to.push_back(std::move(*e));
    return true;
}

std::optional<event> replay::next() {
    while (ahead_.empty())
        if (!read_ahead()) return std::nullopt;
    event e = std::move(ahead_.front());
    ahead_.pop_front();
    held_ -= weight(e);
    return e;
}

std::optional<event> replay::expect(const event& seen) {
    ++outcome_.compared;
    auto& expected = expected_[seen.function];
    std::size_t position = 0;
    for (;;) {
        for (; position < expected.size(); ++position)
            if (fits(expected[position], seen)) break;
        if (position < expected.size()) break;
        if (position > max_ahead || held_ > max_bytes_ahead || !read_ahead()) {
            differs(fmt::format("{}: {} of {} bytes at {:#x}: not in the recording",
                                about_.functions[seen.function], to_string(seen.what), seen.size,
                                seen.address));
            return std::nullopt;
        }
    }
    const auto at = expected.begin() + static_cast<std::ptrdiff_t>(position);
    event was = std::move(*at);
    expected.erase(at);
    held_ -= std::min(held_, weight(was));
    const auto now = sc_core::sc_time_stamp().value();
    if (same_ && (position != 0 || was.time != now))
        differs(fmt::format("{}: {} of {} bytes at {:#x}: recorded at {}{}",
                            about_.functions[seen.function], to_string(seen.what), seen.size,
                            seen.address, to_text(sc_time::from_value(was.time)),
                            position != 0 ? ", in another order" : ""));
    return was;
}

void replay::differs(std::string text) {
    if (outcome_.differences++ < max_reported)
        outcome_.first.push_back({sc_core::sc_time_stamp().value(), std::move(text)});
}

// --- time

/// Simulates up to the place of an event: its time, and there as many delta cycles as had run.
/// False when the platform was ended.
bool replay::reach(std::uint64_t time, std::uint64_t deltas) {
    const auto target = sc_time::from_value(time);
    if (target > sc_core::sc_time_stamp()) {
        const auto how =
            on_.loop().run({.who = "the recording", .what = "its next event", .until = target});
        if (how.what == stop_reason::kind::quit) {
            outcome_.interrupted = true;
            return false;
        }
    }
    // Another platform takes other numbers of cycles; only those between two events of the same
    // time mean something there.
    if (!same_ && time != last_time_) delta_shift_ = sc_core::sc_delta_count() - deltas;
    last_time_ = time;
    while (sc_core::sc_delta_count() - delta_shift_ < deltas && on_.loop().delta()) {
    }
    if (const auto shift = sc_core::sc_delta_count() - deltas; shift != delta_shift_) {
        if (same_)
            differs(fmt::format("the platform has run {} delta cycles, recorded were {}",
                                sc_core::sc_delta_count(), deltas));
        delta_shift_ = shift;
    }
    return true;
}

/// A recording that was cut off goes on to what the platform did last. Whatever is left has not
/// happened.
void replay::finish() {
    if (!survey_.complete) reach(survey_.last_time, survey_.last_deltas);
    struct rest {
        std::uint64_t count = 0;
        kind first{};
    };
    std::vector<rest> left(expected_.size());
    const auto add = [&](const event& e) {
        if (left[e.function].count++ == 0) left[e.function].first = e.what;
    };
    for (const auto& all : expected_) std::ranges::for_each(all, add);
    while (const auto e = log_.next())  // not kept: there may be any number
        if (!from_outside(e->what)) add(*e);
    for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i].count != 0)
            differs(fmt::format("{}: {} recorded accesses to its host did not happen, first a {}",
                                about_.functions[i], left[i].count, to_string(left[i].first)));
}

// --- events from outside

void replay::repeat(const event& e) {
    if (e.what == kind::control) {
        call_control(e);
    } else if (e.what == kind::typed) {
        type(e);
    } else {
        functions_[e.function]->repeat(e);
    }
}

void replay::call_control(const event& e) {
    const auto call = config::parse_json(e.text());
    const auto method = call["method"].get<std::string>();
    json answer;
    try {
        answer = on_.methods().call(method, call["params"]);
    } catch (const rpc::error& refused) {
        answer = {{"error", refused.what()}};
    }
    // As text, since the recorder has replaced bytes that are not UTF-8.
    const auto was = rpc::to_line(call["answer"]), now = rpc::to_line(answer);
    if (was != now)
        differs(fmt::format("control call {}: recorded {}, now {}", printable(method),
                            printable(was.substr(0, 80)), printable(now.substr(0, 80))));
}

void replay::type(const event& e) {
    const auto& name = about_.consoles[e.function];
    auto& consoles = on_.methods().consoles();
    if (!consoles.find(name)) return differs(fmt::format("there is no console {}", name));
    if (consoles.type(name, e.text()) != e.size)
        differs(fmt::format("{} took another number of typed characters", name));
}

}  // namespace trn::recording

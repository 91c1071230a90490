// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "platform/framework/attach/control/rpc.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/json.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn::recording {

namespace fs = std::filesystem;
using rpc::json;
using sc_core::sc_time;

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

replay::replay(platform& on, const manifest& about, const survey& content, log_reader log)
    : on_(on),
      about_(about),
      survey_(content),
      events_(about.functions, std::move(log), on.about().digest == about.digest) {
    for (const auto& f : on.functions()) {
        const auto number = static_cast<std::uint32_t>(functions_.size());
        functions_.push_back(std::make_unique<replayed_function>(events_, number, f.name, *f.port));
    }
    if (functions_.size() != about.functions.size())
        throw recording_error(fmt::format("{} functions were recorded, the board has {}",
                                          about.functions.size(), functions_.size()));
}

replay::outcome replay::run() {
    while (const auto e = events_.next()) {
        if (!reach(e->time, e->deltas)) break;
        if (e->type == kind::end) break;
        ++repeated_;
        repeat(*e);
    }
    if (!interrupted_) finish();
    return {events_.found(), repeated_, interrupted_};
}

// --- Time

/// Simulates up to the place of an event: its time, and there as many delta cycles as had run.
/// False when the platform was ended.
bool replay::reach(std::uint64_t time, std::uint64_t deltas) {
    const auto target = sc_time::from_value(time);
    if (target > sc_core::sc_time_stamp()) {
        const auto how = on_.loop().run(
            {.waiter = "the recording", .condition_text = "its next event", .until = target});
        if (how.cause == stop_reason::kind::quit) {
            interrupted_ = true;
            return false;
        }
    }
    // Another platform has other delta cycle counts: only the distance between two events of the
    // same time is comparable.
    if (!events_.same() && time != last_time_) delta_shift_ = sc_core::sc_delta_count() - deltas;
    last_time_ = time;
    while (sc_core::sc_delta_count() - delta_shift_ < deltas && on_.loop().delta()) {
    }
    if (const auto shift = sc_core::sc_delta_count() - deltas; shift != delta_shift_) {
        if (events_.same())
            events_.differs(fmt::format("the platform has run {} delta cycles, recorded were {}",
                                        sc_core::sc_delta_count(), deltas));
        delta_shift_ = shift;
    }
    return true;
}

/// A recording that was cut off ends at the platform's last recorded event; later events are not
/// expected.
void replay::finish() {
    if (!survey_.complete) reach(survey_.last_time, survey_.last_deltas);
    events_.report_missing();
}

// --- Events from outside

void replay::repeat(const event& e) {
    if (e.type == kind::control) {
        call_control(e);
    } else if (e.type == kind::typed) {
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
    // Compared as text, since the recorder has replaced bytes that are not UTF-8.
    const auto was = rpc::to_line(call["answer"]), now = rpc::to_line(answer);
    if (was != now)
        events_.differs(fmt::format("control call {}: recorded {}, now {}", printable(method),
                                    printable(was.substr(0, 80)), printable(now.substr(0, 80))));
}

void replay::type(const event& e) {
    const auto& name = about_.consoles[e.function];
    auto& consoles = on_.methods().consoles();
    if (!consoles.find(name)) return events_.differs(fmt::format("there is no console {}", name));
    if (consoles.type(name, e.text()) != e.size)
        events_.differs(fmt::format("{} took another number of typed characters", name));
}

}  // namespace trn::recording

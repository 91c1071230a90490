// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/log/survey.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "platform/framework/config/json.h"

namespace trn::recording {

namespace {

// Limit of the bytes that a replay holds until the next event from outside.
constexpr std::uint64_t max_bytes_between = 2ull << 30;

[[noreturn]] void wrong(const event& e, std::string_view why) {
    throw recording_error(
        fmt::format("the recording is damaged: {} at {} ps: {}", to_string(e.type), e.time, why));
}

void check_call(const event& e) {
    const auto call = config::parse_json(e.text());
    if (!call.is_object() || !call.contains("method") || !call["method"].is_string() ||
        !call.contains("params") || !call.contains("answer"))
        wrong(e, "not a call");
}

}  // namespace

void event_checker::check_fields(const event& e) const {
    const auto known = e.type == kind::typed ? consoles_ : functions_;
    const bool of_the_platform = e.type == kind::control || e.type == kind::end;
    if (!of_the_platform && e.function >= known) wrong(e, "unknown function or console number");
    switch (e.type) {
    case kind::config_read:
    case kind::config_write:
    case kind::bar_write:
    case kind::has_read:
        if (e.size != e.bytes.size()) wrong(e, "its size is not that of its bytes");
        break;
    case kind::bar_read:
    case kind::access_ended:
        if (e.size > event::largest) wrong(e, "no host reads so much at once");
        break;
    case kind::control:
        check_call(e);
        break;
    default:
        break;
    }
}

void event_checker::check(const event& e) {
    if (ended_) wrong(e, "it comes after the end");
    check_fields(e);
    between_ = from_outside(e.type) ? 0 : between_ + sizeof(event) + e.bytes.size();
    if (between_ > max_bytes_between) wrong(e, "no replay holds so much at once");
    ended_ = e.type == kind::end;
}

survey read_survey(log_reader& log, const manifest& about) {
    survey all;
    event_checker checker(about);
    while (const auto e = log.next()) {
        checker.check(*e);
        (from_outside(e->type) ? all.from_outside : all.from_inside) += 1;
        if (e->type == kind::has_read) all.bytes_read += e->size;
        if (e->type == kind::answer) all.bytes_read += e->bytes.size();
        all.last_time = e->time;
        all.last_deltas = e->deltas + (from_outside(e->type) ? 0 : 1);
        all.complete = e->type == kind::end;
    }
    return all;
}

}  // namespace trn::recording

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/results/message.h"

#include <nlohmann/json.hpp>

#include "platform/framework/process/output_log.h"

namespace trn::config {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(place, line, column, length)

}  // namespace trn::config

namespace trn::scenario {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(enclosing, name, line, file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(outcome::begun, step, line, at_ns, inside, file)
// The runner measures beginning_s itself.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(outcome, result, message, step, place, file, state, log,
                                   first_step_s, wall_s, own_s, simulated_ns, trace_digest,
                                   timeline, figures, notes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(step_message, step, column, begins, process)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(end_message, passed, message, simulated_ns, trace_digest, state)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(member_message, number, result)

namespace {

/// Calls `work` with the key and the field of each kind of message.
void each_kind(auto& message, auto&& work) {
    work("step", message.step);
    work("figure", message.measured);
    work("note", message.note);
    work("backtrace", message.backtrace);  // also written by the crash report in backtrace.cpp
    work("branched", message.branched);
    work("runs", message.runs);
    work("member", message.member);
    work("end", message.end);
}

}  // namespace

void send(int pipe, const run_message& message) {
    json line;
    each_kind(message, [&](const char* key, const auto& field) {
        if (field) line[key] = *field;
    });
    write_all(pipe, line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

run_message parse_message(std::string_view line) {
    const auto parsed = json::parse(line);
    run_message message;
    each_kind(message, [&]<class T>(const char* key, std::optional<T>& field) {
        if (parsed.contains(key)) field = parsed[key].template get<T>();
    });
    return message;
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/results/outcome.h"

#include <nlohmann/json.hpp>

namespace trn::scenario {

using nlohmann::json;

void to_json(json& message, const figure& measured) {
    message = {{"name", measured.name}, {"value", measured.value}, {"unit", measured.unit}};
    if (measured.min) message["at_least"] = *measured.min;
    if (measured.max) message["at_most"] = *measured.max;
}

void from_json(const json& message, figure& measured) {
    measured = {message["name"], message["value"], message["unit"]};
    if (message.contains("at_least")) measured.min = message["at_least"].get<double>();
    if (message.contains("at_most")) measured.max = message["at_most"].get<double>();
}

void to_json(json& message, const enclosing& container) {
    message = {container.name, container.line, container.file};
}

void from_json(const json& message, enclosing& container) {
    container = {message[0], message[1], message[2]};
}

void to_json(json& message, const outcome::begun& begun) {
    message = {begun.step, begun.line, begun.at_ns, begun.inside, begun.file};
}

void from_json(const json& message, outcome::begun& begun) {
    begun = {message[0], message[1], message[2], message[3], message[4]};
}

void to_json(json& message, const outcome& how) {
    message = {{"what", how.result},
               {"figures", how.figures},
               {"message", how.message},
               {"step", how.step},
               {"file", how.file},
               {"line", how.where.line},
               {"column", how.where.column},
               {"state", how.state},
               {"log", how.log},
               {"first_step_s", how.first_step_s},
               {"wall_s", how.wall_s},
               {"own_s", how.own_s},
               {"simulated_ns", how.simulated_ns},
               {"trace_digest", how.trace_digest},
               {"timeline", how.timeline},
               {"notes", how.notes}};
}

void from_json(const json& message, outcome& how) {
    how = {.result = message["what"],
           .message = message["message"],
           .step = message["step"],
           .where = {message["line"], message["column"], 1},
           .file = message["file"],
           .state = message["state"],
           .log = message["log"],
           .first_step_s = message["first_step_s"],
           .wall_s = message["wall_s"],
           .own_s = message["own_s"],
           .simulated_ns = message["simulated_ns"],
           .trace_digest = message["trace_digest"],
           .timeline = message["timeline"],
           .figures = message["figures"],
           .notes = message["notes"]};
}

}  // namespace trn::scenario

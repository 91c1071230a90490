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

void to_json(json& message, const outcome& run_outcome) {
    message = {{"what", run_outcome.result},
               {"figures", run_outcome.figures},
               {"message", run_outcome.message},
               {"step", run_outcome.step},
               {"file", run_outcome.file},
               {"line", run_outcome.place.line},
               {"column", run_outcome.place.column},
               {"state", run_outcome.state},
               {"log", run_outcome.log},
               {"first_step_s", run_outcome.first_step_s},
               {"wall_s", run_outcome.wall_s},
               {"own_s", run_outcome.own_s},
               {"simulated_ns", run_outcome.simulated_ns},
               {"trace_digest", run_outcome.trace_digest},
               {"timeline", run_outcome.timeline},
               {"notes", run_outcome.notes}};
}

void from_json(const json& message, outcome& run_outcome) {
    run_outcome = {.result = message["what"],
                   .message = message["message"],
                   .step = message["step"],
                   .place = {message["line"], message["column"], 1},
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

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
    measured = {message.at("name"), message.at("value"), message.at("unit")};
    if (message.contains("at_least")) measured.min = message["at_least"].get<double>();
    if (message.contains("at_most")) measured.max = message["at_most"].get<double>();
}

}  // namespace trn::scenario

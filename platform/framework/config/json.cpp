// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/json.h"

#include <nlohmann/json.hpp>

namespace trn::config {

using nlohmann::json;

nlohmann::json parse_json(std::string_view text) {
    bool too_deep = false;
    const auto keep = [&](int depth, json::parse_event_t, const json&) {
        too_deep = too_deep || depth > max_json_depth;
        return !too_deep;  // the parser skips the nested value
    };
    json value = json::parse(text, keep, false);
    if (too_deep) return json::value_t::discarded;
    return value;
}

std::string to_ascii(const json& value) {
    return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace trn::config

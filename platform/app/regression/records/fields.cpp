// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/records/fields.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "platform/framework/config/file.h"

namespace trn::regression {

using nlohmann::json;

fields::fields(const json& value, std::string place) : value_(value), place_(std::move(place)) {
    if (!value_.is_object()) throw file_error(place_ + ": a JSON object was expected");
}

void fields::refuse(std::string_view key, std::string_view why) const {
    throw file_error(fmt::format("{}: '{}': {}", place_, key, why));
}

bool fields::has(std::string_view key) const {
    return value_.contains(key);
}

const json& fields::value(std::string_view key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) refuse(key, "this key is missing");
    return *found;
}

std::string fields::text(std::string_view key, std::size_t limit) const {
    const auto& one = value(key);
    if (!one.is_string()) refuse(key, "a text was expected");
    const auto& text = one.get_ref<const std::string&>();
    if (text.size() > limit)
        refuse(key, fmt::format("a text of {} bytes, more than {}", text.size(), limit));
    return text;
}

std::string fields::text_or(std::string_view key, std::string_view other) const {
    return has(key) ? text(key) : std::string(other);
}

std::uint64_t fields::number(std::string_view key, std::uint64_t limit) const {
    const auto& one = value(key);
    if (!one.is_number_unsigned()) refuse(key, "a whole number was expected");
    const auto number = one.get<std::uint64_t>();
    if (number > limit) refuse(key, fmt::format("{} is more than {}", number, limit));
    return number;
}

double fields::real(std::string_view key) const {
    const auto& one = value(key);
    if (!one.is_number()) refuse(key, "a number was expected");
    const auto number = one.get<double>();
    if (!std::isfinite(number)) refuse(key, "the number is not finite");
    return number;
}

bool fields::boolean(std::string_view key) const {
    const auto& one = value(key);
    if (!one.is_boolean()) refuse(key, "true or false was expected");
    return one.get<bool>();
}

const json& fields::list(std::string_view key, std::size_t limit) const {
    const auto& one = value(key);
    if (!one.is_array()) refuse(key, "a list was expected");
    if (one.size() > limit)
        refuse(key, fmt::format("a list of {} values, more than {}", one.size(), limit));
    return one;
}

const json& fields::object(std::string_view key, std::size_t limit) const {
    const auto& one = value(key);
    if (!one.is_object()) refuse(key, "an object was expected");
    if (one.size() > limit)
        refuse(key, fmt::format("an object of {} keys, more than {}", one.size(), limit));
    return one;
}

fields fields::at(std::string_view key) const {
    return {value(key), fmt::format("{}: '{}'", place_, key)};
}

std::vector<std::string> fields::texts(std::string_view key, std::size_t limit) const {
    std::vector<std::string> all;
    for (const auto& one : list(key, limit)) {
        if (!one.is_string()) refuse(key, "a list of texts was expected");
        all.push_back(one.get<std::string>());
    }
    return all;
}

std::string line_of(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace trn::regression

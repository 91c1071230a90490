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

const json& fields::value(std::string_view key, bool (json::*has_type)() const noexcept,
                          std::string_view type) const {
    const auto& found = value(key);
    if (!(found.*has_type)()) refuse(key, fmt::format("{} was expected", type));
    return found;
}

std::string fields::text(std::string_view key, std::size_t limit) const {
    const auto& text = value(key, &json::is_string, "a text").get_ref<const std::string&>();
    if (text.size() > limit)
        refuse(key, fmt::format("a text of {} bytes, more than {}", text.size(), limit));
    return text;
}

std::string fields::text_or_empty(std::string_view key) const {
    return has(key) ? text(key) : "";
}

std::uint64_t fields::number(std::string_view key, std::uint64_t limit) const {
    const auto number =
        value(key, &json::is_number_unsigned, "a whole number").get<std::uint64_t>();
    if (number > limit) refuse(key, fmt::format("{} is more than {}", number, limit));
    return number;
}

double fields::real(std::string_view key) const {
    const auto number = value(key, &json::is_number, "a number").get<double>();
    if (!std::isfinite(number)) refuse(key, "the number is not finite");
    return number;
}

bool fields::boolean(std::string_view key) const {
    return value(key, &json::is_boolean, "true or false").get<bool>();
}

const json& fields::list(std::string_view key, std::size_t limit) const {
    const auto& list = value(key, &json::is_array, "a list");
    if (list.size() > limit)
        refuse(key, fmt::format("a list of {} values, more than {}", list.size(), limit));
    return list;
}

const json& fields::object(std::string_view key, std::size_t limit) const {
    const auto& object = value(key, &json::is_object, "an object");
    if (object.size() > limit)
        refuse(key, fmt::format("an object of {} keys, more than {}", object.size(), limit));
    return object;
}

fields fields::at(std::string_view key) const {
    return {value(key), fmt::format("{}: '{}'", place_, key)};
}

std::vector<std::string> fields::texts(std::string_view key, std::size_t limit) const {
    std::vector<std::string> all;
    for (const auto& item : list(key, limit)) {
        if (!item.is_string()) refuse(key, "a list of texts was expected");
        all.push_back(item.get<std::string>());
    }
    return all;
}

std::string line_of(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace trn::regression

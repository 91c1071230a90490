// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace trn::scenario {

namespace {

/// The value of a parsed text; a refusal is reported where the text stands.
template <class T>
T accept(const config::node& value, config::parsed<T> result) {
    if (auto* good = std::get_if<T>(&result)) return *good;
    const auto& no = std::get<config::refusal>(result);
    value.report(no.code, no.message, no.suggestion);
    return {};
}

std::uint64_t nanoseconds(const config::node& value, picoseconds time) {
    if (time.value % 1000)
        value.report(mistake::not_whole, "a scenario's times are whole nanoseconds");
    return time.value / 1000;
}

}  // namespace

std::string to_string(const parameters& point) {
    std::string text;
    for (const auto& [name, value] : point)
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    return text;
}

std::string reader::replaced(const config::node& value, const parameters& point) {
    if (!value.is_scalar()) {
        value.report(mistake::wrong_shape, "a single value was expected");
        return "";
    }
    std::string text(value.raw());
    for (std::size_t begin = 0; (begin = text.find("${", begin)) != std::string::npos;) {
        const auto end = text.find('}', begin);
        const auto name = text.substr(begin + 2, end == std::string::npos ? end : end - begin - 2);
        const auto found = std::ranges::find(point, name, &parameters::value_type::first);
        if (end == std::string::npos || found == point.end()) {
            std::vector<std::string_view> known;
            for (const auto& [parameter, _] : point) known.push_back(parameter);
            value.report(mistake::not_a_choice, fmt::format("nothing here has the name '{}'", name),
                         suggest(name, known));
            return "";
        }
        text.replace(begin, end + 1 - begin, found->second);
        begin += found->second.size();
    }
    return text;
}

std::uint64_t reader::time_of(const config::node& value, const parameters& point) {
    const auto text = replaced(value, point);
    return text.empty() ? 0 : nanoseconds(value, accept(value, config::parse_time(text)));
}

void reader::only(std::initializer_list<std::string_view> keys) const {
    if (notes_) return notes_->only(keys);
    if (map_.is_map())
        map_.only(keys, "this step");
    else
        map_.report(mistake::wrong_shape, "a mapping was expected");
}

std::string reader::word() const {
    if (notes_) {
        notes_->note("", value_shape::text, true);
        return {};
    }
    auto text = replaced(map_, *point_);
    if (text.empty()) map_.report(mistake::wrong_shape, "a name was expected");
    return text;
}

std::string reader::text(std::string_view key) const {
    const auto value = at(key, value_shape::text);
    return value ? replaced(value, *point_) : "";
}

std::string reader::text(std::string_view key, std::string otherwise) const {
    return has(key) ? text(key) : std::move(otherwise);
}

std::uint64_t reader::number(std::string_view key, std::uint64_t most) const {
    const auto value = at(key, value_shape::number);
    if (!value) return 0;
    const auto text = replaced(value, *point_);
    if (text.empty()) return 0;
    const auto number = accept(value, config::parse_unsigned(text));
    if (number <= most) return number;
    value.report(mistake::out_of_range, fmt::format("'{}' must be 0 to {}", key, most));
    return 0;
}

std::uint64_t reader::number(std::string_view key, std::uint64_t most,
                             std::uint64_t otherwise) const {
    return has(key) ? number(key, most) : otherwise;
}

std::int32_t reader::signed_number(std::string_view key) const {
    const auto value = at(key, value_shape::number);
    if (!value) return 0;
    const auto number = accept(value, config::parse_signed(replaced(value, *point_)));
    if (number >= INT32_MIN && number <= INT32_MAX) return static_cast<std::int32_t>(number);
    value.report(mistake::out_of_range, fmt::format("'{}' must fit into 32 bits", key));
    return 0;
}

double reader::real(std::string_view key) const {
    const auto value = at(key, value_shape::real);
    if (!value) return 0;
    const auto text = replaced(value, *point_);
    // What was captured may be hexadecimal.
    const auto whole = config::parse_unsigned(text);
    if (const auto* good = std::get_if<std::uint64_t>(&whole)) return static_cast<double>(*good);
    return accept(value, config::parse_real(text));
}

bool reader::flag(std::string_view key, bool otherwise) const {
    const auto value = find(key, value_shape::flag);
    if (!value) return otherwise;
    const auto text = replaced(value, *point_);
    if (text == "true" || text == "false") return text == "true";
    value.report(mistake::not_a_boolean, fmt::format("'{}' must be true or false", key));
    return otherwise;
}

std::uint64_t reader::size(std::string_view key) const {
    const auto value = at(key, value_shape::size);
    if (!value) return 0;
    const auto text = replaced(value, *point_);
    return text.empty() ? 0 : accept(value, config::parse_bytes(text)).value;
}

std::uint64_t reader::offset(std::string_view key, std::uint64_t otherwise) const {
    const auto value = find(key, value_shape::offset);
    if (!value) return otherwise;
    const auto text = replaced(value, *point_);
    const auto number = config::parse_unsigned(text);
    if (const auto* good = std::get_if<std::uint64_t>(&number)) return *good;
    return accept(value, config::parse_bytes(text)).value;
}

std::uint64_t reader::time(std::string_view key) const {
    const auto value = at(key, value_shape::time);
    return value ? time_of(value, *point_) : 0;
}

std::uint64_t reader::time(std::string_view key, std::uint64_t otherwise) const {
    return has(key) ? time(key) : otherwise;
}

std::uint64_t reader::rate(std::string_view key, std::uint64_t otherwise) const {
    if (!has(key)) return otherwise;
    const auto value = at(key, value_shape::rate);
    const auto read = config::parse_data_rate(replaced(value, *point_));
    if (const auto* good = std::get_if<data_rate>(&read)) return good->bytes_per_second;
    const auto& wrong = std::get<config::refusal>(read);
    value.report(wrong.code, wrong.message, wrong.suggestion);
    return otherwise;
}

location reader::place(std::string_view key, std::string (*fault)(const location&)) const {
    const auto value = at(key, value_shape::place);
    if (!value) return {};
    auto result = location::parse(replaced(value, *point_));
    const auto* good = std::get_if<location>(&result);
    const auto wrong = !good ? std::get<std::string>(result) : fault ? fault(*good) : "";
    if (!wrong.empty()) value.report(mistake::not_a_choice, wrong);
    return good ? *good : location{};
}

std::vector<std::string> reader::texts(std::string_view key) const {
    std::vector<std::string> all;
    const auto value = find(key, value_shape::texts);
    if (!value) return all;
    for (const auto& item : value.is_list() ? value.items() : std::vector{value})
        all.push_back(replaced(item, *point_));
    return all;
}

std::vector<std::uint64_t> reader::numbers(std::string_view key) const {
    std::vector<std::uint64_t> all;
    if (const auto value = at(key, value_shape::numbers))
        for (const auto& item : value.items())
            all.push_back(accept(item, config::parse_unsigned(replaced(item, *point_))));
    return all;
}

std::vector<reader> reader::list(std::string_view key) const {
    std::vector<reader> all;
    if (const auto value = at(key, value_shape::list))
        for (const auto& item : value.items()) all.emplace_back(item, *point_);
    return all;
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/language/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "platform/app/host_options/location_text.h"
#include "platform/framework/kernel/time_text.h"

namespace trn::scenario {

namespace {

constexpr std::uint32_t max_cores = 8;  // in every chip generation

/// The parsed value; reports an error at the value's place.
template <class T>
std::optional<T> accept(const config::node& value, config::parsed<T> result) {
    if (auto* good = std::get_if<T>(&result)) return *good;
    const auto& no = std::get<config::refusal>(result);
    value.report(no.code, no.message, no.suggestion);
    return std::nullopt;
}

/// Error message if no chip generation has a memory with this number; else "".
std::string number_fault(const location& place) {
    const auto count = place.space == location::kind::hbm    ? TRN_MAX_STACKS
                       : place.space == location::kind::sbuf ? max_cores
                                                             : place.number + 1;
    return place.number < count
               ? ""
               : fmt::format("no chip has {}: {} is the last", place.name(), count - 1);
}

std::uint64_t whole_nanoseconds(const config::node& value, picoseconds time) {
    if (time.value % 1000)
        value.report(mistake::not_whole, "a scenario's times are whole nanoseconds");
    return time.value / 1000;
}

}  // namespace

std::string to_string(nanoseconds time) {
    return time_text(time.value * 1000);
}

std::string to_string(const parameters& point) {
    std::string text;
    for (const auto& [name, value] : point)
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    return text;
}

std::optional<std::string> reader::substituted(const config::node& value, const parameters& point) {
    constexpr std::size_t max_length = 1 << 20;
    if (!value.is_scalar()) {
        value.report(mistake::wrong_shape, "a single value was expected");
        return std::nullopt;
    }
    std::string text;
    for (auto rest = value.raw();;) {
        const auto begin = rest.find("${");
        text += rest.substr(0, begin);
        if (begin == rest.npos) break;
        const auto end = rest.find('}', begin);
        const auto name = rest.substr(begin + 2, end == rest.npos ? end : end - begin - 2);
        const auto found = std::ranges::find(point, name, &parameters::value_type::first);
        if (end == rest.npos || found == point.end()) {
            std::vector<std::string_view> known;
            for (const auto& [parameter, _] : point) known.push_back(parameter);
            value.report(mistake::not_a_choice, fmt::format("no parameter is named '{}'", name),
                         known.empty() ? "the scenario has no 'matrix' that lists its values"
                                       : suggest(name, known));
            return std::nullopt;
        }
        text += found->second;
        if (text.size() > max_length) break;
        rest.remove_prefix(end + 1);
    }
    if (text.size() <= max_length) return text;
    value.report(mistake::out_of_range, "a value has at most 1 MiB, with each ${name} replaced");
    return std::nullopt;
}

std::string reader::replaced(const config::node& value, const parameters& point) {
    return substituted(value, point).value_or("");
}

std::optional<std::uint64_t> reader::accepted_time(const config::node& value,
                                                   const parameters& point) {
    const auto text = substituted(value, point);
    if (!text) return std::nullopt;
    const auto time = accept(value, config::parse_time(*text));
    return time ? std::optional(whole_nanoseconds(value, *time)) : std::nullopt;
}

std::uint64_t reader::positive_time_of(const config::node& value, const parameters& point) {
    const auto time = accepted_time(value, point);
    if (time == 0u) value.report(mistake::out_of_range, "a time of 0 has no effect here");
    return time.value_or(0);
}

void reader::only(std::span<const std::string_view> keys) const {
    if (map_.is_map())
        map_.only(keys, "this step");
    else
        map_.report(mistake::wrong_shape,
                    fmt::format("a mapping was expected, not {}",
                                map_.is_list() ? "a list" : "a single value"));
}

void reader::refuse(std::initializer_list<std::string_view> keys, const std::string& why) const {
    for (const auto key : keys)
        if (has(key)) map_.report_at(map_.key_place(key), mistake::unknown_key, why);
}

std::string reader::word() const {
    auto text = replaced(map_, *point_);
    if (text.empty()) map_.report(mistake::wrong_shape, "a name was expected");
    return text;
}

std::string reader::text(std::string_view key) const {
    const auto value = map_.at(key);
    return value ? replaced(value, *point_) : "";
}

std::uint64_t reader::number(std::string_view key, std::uint64_t max) const {
    const auto value = map_.at(key);
    if (!value) return 0;
    const auto text = substituted(value, *point_);
    if (!text) return 0;
    const auto number = accept(value, config::parse_unsigned(*text));
    if (!number) return 0;
    if (*number <= max) return *number;
    value.report(mistake::out_of_range, fmt::format("'{}' must be 0 to {}", key, max));
    return 0;
}

std::int32_t reader::signed_number(std::string_view key) const {
    const auto value = map_.at(key);
    if (!value) return 0;
    const auto number = accept(value, config::parse_signed(replaced(value, *point_))).value_or(0);
    if (number >= INT32_MIN && number <= INT32_MAX) return static_cast<std::int32_t>(number);
    value.report(mistake::out_of_range, fmt::format("'{}' must fit into 32 bits", key));
    return 0;
}

double reader::real(std::string_view key) const {
    const auto value = map_.at(key);
    if (!value) return 0;
    const auto text = replaced(value, *point_);
    // Captured values may be hexadecimal.
    const auto whole = config::parse_unsigned(text);
    if (const auto* good = std::get_if<std::uint64_t>(&whole)) return static_cast<double>(*good);
    return accept(value, config::parse_real(text)).value_or(0);
}

bool reader::flag(std::string_view key) const {
    const auto value = map_.at(key);
    if (!value) return false;
    const auto text = replaced(value, *point_);
    if (text != "true" && text != "false")
        value.report(mistake::not_a_boolean, fmt::format("'{}' must be true or false", key));
    return text == "true";
}

std::uint64_t reader::size(std::string_view key, size_bounds within) const {
    const auto value = map_.at(key);
    if (!value) return 0;
    const auto text = substituted(value, *point_);
    if (!text) return 0;
    const auto size = accept(value, config::parse_bytes(*text));
    if (size) check_size(key, size->value, within);
    return size ? size->value : 0;
}

std::uint64_t reader::offset(std::string_view key, size_bounds within) const {
    const auto value = map_.at(key);
    if (!value) return 0;
    const auto text = replaced(value, *point_);
    const auto number = config::parse_unsigned(text);
    std::optional<std::uint64_t> read;
    if (const auto* good = std::get_if<std::uint64_t>(&number))
        read = *good;
    else if (const auto size = accept(value, config::parse_bytes(text)))
        read = size->value;
    if (read) check_size(key, *read, within);
    return read.value_or(0);
}

void reader::check_size(std::string_view key, std::uint64_t size, const size_bounds& within) const {
    if (size < within.min)
        map_.at(key).report(mistake::out_of_range, fmt::format("'{}' must be at least {}", key,
                                                               to_string(bytes{within.min})));
    else if (size > within.max)
        map_.at(key).report(mistake::out_of_range, fmt::format("'{}' must be at most {}", key,
                                                               to_string(bytes{within.max})));
}

std::uint64_t reader::time(std::string_view key) const {
    const auto value = map_.at(key);
    return value ? accepted_time(value, *point_).value_or(0) : 0;
}

std::uint64_t reader::positive_time(std::string_view key) const {
    const auto value = map_.at(key);
    return value ? positive_time_of(value, *point_) : 0;
}

std::uint64_t reader::rate(std::string_view key) const {
    const auto value = map_.at(key);
    if (!value) return 0;
    const auto rate = accept(value, config::parse_data_rate(replaced(value, *point_)));
    return rate ? rate->bytes_per_second : 0;
}

location reader::place(std::string_view key, std::string (*fault)(const location&)) const {
    const auto value = map_.at(key);
    if (!value) return {};
    auto result = parse_location(replaced(value, *point_));
    const auto* good = std::get_if<location>(&result);
    auto wrong = !good ? std::get<std::string>(result) : fault ? fault(*good) : "";
    if (good && wrong.empty()) wrong = number_fault(*good);
    if (!wrong.empty()) value.report(mistake::not_a_choice, wrong);
    return good ? *good : location{};
}

std::vector<std::string> reader::texts(std::string_view key) const {
    std::vector<std::string> all;
    for (const auto& item : listed(key)) all.push_back(replaced(item, *point_));
    return all;
}

std::vector<config::node> reader::listed(std::string_view key) const {
    const auto value = map_.at(key);
    if (!value) return {};
    return value.is_list() ? value.items() : std::vector{value};
}

std::vector<std::uint64_t> reader::numbers(std::string_view key) const {
    std::vector<std::uint64_t> all;
    if (const auto value = map_.at(key))
        for (const auto& item : value.items())
            all.push_back(
                accept(item, config::parse_unsigned(replaced(item, *point_))).value_or(0));
    return all;
}

}  // namespace trn::scenario

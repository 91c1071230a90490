// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/fault_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/units.h"
#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

using form = fault_argument::form;

std::string show(form type, const fault_argument::value& value) {
    if (type == form::real) return fmt::format("{}", std::get<double>(value));
    const auto number = std::get<std::int64_t>(value);
    if (type == form::size) return to_string(bytes{static_cast<std::uint64_t>(number)});
    if (type == form::time)
        return number == 0 ? "0" : to_string(picoseconds{static_cast<std::uint64_t>(number)});
    return fmt::format("{}", number);
}

/// The value of a parsed text. \throws fault_error with the reason
template <class T>
T parsed(std::string_view name, const config::parsed<T>& result) {
    if (const auto* value = std::get_if<T>(&result)) return *value;
    const auto& why = std::get<config::refusal>(result);
    throw fault_error(fmt::format("'{}': {}{}{}", name, why.message,
                                  why.suggestion.empty() ? "" : ": ", why.suggestion));
}

fault_argument::value value_of(const fault_argument& argument, std::string_view text) {
    switch (argument.type) {
    case form::real:
        return parsed(argument.name, config::parse_real(text));
    case form::time:
        if (text == "0") return std::int64_t{0};
        return static_cast<std::int64_t>(parsed(argument.name, config::parse_time(text)).value);
    case form::size:
        // As addresses: a number without a unit counts bytes.
        if (const auto plain = config::parse_signed(text);
            std::holds_alternative<std::int64_t>(plain))
            return std::get<std::int64_t>(plain);
        return static_cast<std::int64_t>(parsed(argument.name, config::parse_bytes(text)).value);
    case form::number:
        break;
    }
    return parsed(argument.name, config::parse_signed(text));
}

}  // namespace

fault_argument fault_argument::number(std::string name, std::int64_t min, std::int64_t max,
                                      std::string meaning) {
    return {std::move(name), std::move(meaning), form::number, min, max};
}

fault_argument fault_argument::real(std::string name, double min, double max, std::string meaning) {
    return {std::move(name), std::move(meaning), form::real, min, max};
}

fault_argument fault_argument::size(std::string name, std::uint64_t end, std::string meaning) {
    return {std::move(name), std::move(meaning), form::size, std::int64_t{0},
            static_cast<std::int64_t>(end - 1)};
}

fault_argument fault_argument::time(std::string name, const sc_core::sc_time& max,
                                    std::string meaning) {
    return {std::move(name), std::move(meaning), form::time, std::int64_t{0},
            static_cast<std::int64_t>(in_picoseconds(max))};
}

fault_argument fault_argument::count() {
    return number("count", 0, 0xffff'ffff, "how many times").by_default(1);
}

fault_argument fault_argument::random_by_default() && {
    required = false;
    return std::move(*this);
}

fault_argument fault_argument::in_unit(std::string its_unit) && {
    unit = std::move(its_unit);
    return std::move(*this);
}

std::string fault_argument::type_text() const {
    constexpr std::array names{"number", "real number", "size", "time"};
    return names[static_cast<std::size_t>(type)];
}

std::string fault_argument::range() const {
    if (type == form::size)
        return "below " + show(type, std::get<std::int64_t>(max) + std::int64_t{1});
    const auto text = fmt::format("{} to {}", show(type, min), show(type, max));
    return unit.empty() ? text : fmt::format("{} {}", text, unit);
}

std::string fault_argument::default_text() const {
    if (required) return "";
    return otherwise ? show(type, *otherwise) : "random";
}

fault_argument::value fault_argument::read(std::string_view text) const {
    try {
        const auto value = value_of(*this, text);
        if (value >= min && value <= max) return value;
    } catch (const fault_error& why) {
        throw fault_error(fmt::format("{} (expected: {}, {})", why.what(), type_text(), range()));
    }
    throw fault_error(fmt::format("'{}': {} is out of range: {}", name, text, range()));
}

fault_values::fault_values(std::string_view fault, std::span<const fault_argument> arguments,
                           const fault_arguments& given) {
    const auto refuse = [&](std::string_view why) {
        throw fault_error(fmt::format("the fault '{}'{}", fault, why));
    };
    std::vector<std::string_view> names;
    for (const auto& each : arguments) names.push_back(each.name);
    for (const auto& [name, _] : given)
        if (std::ranges::find(names, name) == names.end())
            refuse(names.empty()
                       ? fmt::format(" has no arguments, such as '{}'", name)
                       : fmt::format(" has no argument '{}'  {}", name, suggest(name, names)));
    for (const auto& each : arguments) {
        const auto found = given.find(each.name);
        if (found != given.end()) try {
                values_.emplace(each.name, each.read(found->second));
            } catch (const fault_error& why) {
                refuse(fmt::format(": {}", why.what()));
            }
        else if (each.otherwise)
            values_.emplace(each.name, *each.otherwise);
        else if (each.required)
            refuse(fmt::format(" needs '{}': {} ({}, {})", each.name, each.meaning,
                               each.type_text(), each.range()));
    }
}

sc_core::sc_time fault_values::time(std::string_view name) const {
    return time_of_value(number(name));
}

const fault_argument::value& fault_values::argument(std::string_view name) const {
    const auto found = values_.find(name);
    assert(found != values_.end() && "an argument that the fault's table does not have");
    return found->second;
}

}  // namespace trn

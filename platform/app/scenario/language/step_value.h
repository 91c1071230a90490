// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of a step's keys: their form in a file, and how they fill the fields of a structure.

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "platform/app/scenario/language/parameters.h"

namespace trn::scenario {

/// The form of a value in a file.
enum class value_shape : std::uint8_t {
    text,
    texts,
    number,
    numbers,
    real,
    flag,
    choice,
    choices,
    size,
    offset,
    time,
    rate,
    place,
    map,
    condition,
    steps
};

/// Properties of a key.
struct step_key {
    std::string_view name, doc;
    value_shape shape{};
    std::vector<std::string_view> choices = {};
    std::string otherwise = {};  ///< the default in file syntax; "": none
    bool needed = false;
    std::vector<std::string_view> instead = {};  ///< keys that can replace this one
    std::vector<std::string_view> beside = {};   ///< of which it needs one, to have an effect
    std::vector<std::string_view> apart = {};    ///< with which it cannot be combined
    std::uint64_t max = ~std::uint64_t{0};       ///< limit of a number
    size_bounds within = {};                     ///< limits of a size or an offset
    bool positive = false;                       ///< refuses a time of 0
    std::string (*fault)(const location&) = nullptr;
};

/// The name of an enumerator; "" when it has none.
template <class E>
std::string_view choice_name(E value) {
    for (const auto& choice : config::choices<E>::list)
        if (choice.value == value) return choice.name;
    return "";
}

namespace step_detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_choices = false;
template <class E>
inline constexpr bool is_choices<std::vector<E>> = std::is_enum_v<E>;

/// Reads and prints values of the field type T.
template <class T>
struct value {
    static constexpr value_shape shape() {
        using enum value_shape;
        if constexpr (is_optional<T>) return value<typename T::value_type>::shape();
        if constexpr (std::same_as<T, bool>) return flag;
        if constexpr (std::same_as<T, std::string>) return text;
        if constexpr (std::same_as<T, std::vector<std::string>>) return texts;
        if constexpr (std::same_as<T, std::vector<std::uint64_t>>) return numbers;
        if constexpr (std::same_as<T, bytes>) return size;
        if constexpr (std::same_as<T, byte_offset>) return offset;
        if constexpr (std::same_as<T, nanoseconds>) return time;
        if constexpr (std::same_as<T, data_rate>) return rate;
        if constexpr (std::same_as<T, location>) return place;
        if constexpr (std::same_as<T, double>) return real;
        if constexpr (std::is_enum_v<T>) return choice;
        if constexpr (is_choices<T>) return value_shape::choices;
        return number;
    }

    static T read(const step_key& key, const reader& r) {
        if constexpr (is_optional<T>) {
            return value<typename T::value_type>::read(key, r);
        } else if constexpr (std::same_as<T, bool>) {
            return r.flag(key.name);
        } else if constexpr (std::same_as<T, std::string>) {
            return r.text(key.name);
        } else if constexpr (std::same_as<T, std::vector<std::string>>) {
            return r.texts(key.name);
        } else if constexpr (std::same_as<T, std::vector<std::uint64_t>>) {
            return r.numbers(key.name);
        } else if constexpr (std::same_as<T, bytes>) {
            return {r.size(key.name, key.within)};
        } else if constexpr (std::same_as<T, byte_offset>) {
            return {r.offset(key.name, key.within)};
        } else if constexpr (std::same_as<T, nanoseconds>) {
            return {key.positive ? r.positive_time(key.name) : r.time(key.name)};
        } else if constexpr (std::same_as<T, data_rate>) {
            return {r.rate(key.name)};
        } else if constexpr (std::same_as<T, location>) {
            return r.place(key.name, key.fault);
        } else if constexpr (std::same_as<T, double>) {
            return r.real(key.name);
        } else if constexpr (std::is_enum_v<T>) {
            return r.choice<T>(key.name);
        } else if constexpr (is_choices<T>) {
            return r.choices<typename T::value_type>(key.name);
        } else if constexpr (std::same_as<T, std::int32_t>) {
            return r.signed_number(key.name);
        } else {
            static_assert(std::unsigned_integral<T>, "a type that cannot be the value of a key");
            return static_cast<T>(r.number(key.name, key.max));
        }
    }

    static std::string show(const T& field) {
        if constexpr (is_optional<T>) {
            return "";
        } else if constexpr (std::same_as<T, bool>) {
            return field ? "true" : "false";
        } else if constexpr (std::same_as<T, std::string>) {
            return field;
        } else if constexpr (std::same_as<T, bytes>) {
            return to_string(field);
        } else if constexpr (std::same_as<T, byte_offset>) {
            return field.value == 0 ? "0" : to_string(bytes{field.value});
        } else if constexpr (std::same_as<T, nanoseconds>) {
            return field.value == 0 ? "0" : to_string(picoseconds{field.value * 1000});
        } else if constexpr (std::same_as<T, location>) {
            return field.name();
        } else if constexpr (std::is_enum_v<T>) {
            return std::string(choice_name(field));
        } else if constexpr (is_choices<T>) {
            std::vector<std::string_view> names;
            for (const auto each : field) names.push_back(choice_name(each));
            return fmt::format("{}", fmt::join(names, "/"));
        } else if constexpr (std::integral<T>) {
            return field == std::numeric_limits<T>::max() ? "" : fmt::format("{}", field);
        }
        return "";
    }

    static std::vector<std::string_view> choices() {
        std::vector<std::string_view> names;
        if constexpr (is_optional<T> || is_choices<T>)
            return value<typename T::value_type>::choices();
        if constexpr (std::is_enum_v<T>)
            for (const auto& choice : config::choices<T>::list) names.push_back(choice.name);
        return names;
    }

    /// The largest number.
    static constexpr std::uint64_t max() {
        if constexpr (is_optional<T>) return value<typename T::value_type>::max();
        if constexpr (std::unsigned_integral<T>) return std::numeric_limits<T>::max();
        return ~std::uint64_t{0};
    }
};

}  // namespace step_detail

/// How fields of a type are read and shown. Rows of tables refer to these instead of having code of
/// their own: there are hundreds of rows, of some twenty types.
struct field_type {
    value_shape shape;
    std::uint64_t max;  ///< of a number
    std::vector<std::string_view> (*choices)();
    void (*read)(const step_key& key, const reader& r, void* field);
    std::string (*show)(const void* field);  ///< in file syntax; "": no value
};

template <class T>
inline constexpr field_type field_type_of{
    step_detail::value<T>::shape(), step_detail::value<T>::max(), &step_detail::value<T>::choices,
    [](const step_key& key, const reader& r, void* field) {
        *static_cast<T*>(field) = step_detail::value<T>::read(key, r);
    },
    [](const void* field) { return step_detail::value<T>::show(*static_cast<const T*>(field)); }};

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How kinds of steps are written: a structure with the values of a step, and a row for each key.
///
///     struct memset_step {
///         location at;
///         bytes size;
///         bool verify = true;
///         void finish(const reader& r);  // optional: what several keys say together
///         action plan() const;           // what the step does
///     };
///     step_of<memset_step>("memset", "writes one value",
///                          {key("at", &memset_step::at).required().refused_by(address_fault),
///                           key("size", &memset_step::size).required(),
///                           key("verify", &memset_step::verify)})
///
/// The reader, the JSON schema (schema.h) and the table in doc/scenarios.md (step_document.h) are
/// all made from the rows. A key's default is the one that the structure itself has; a
/// std::optional field has none.

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/app/scenario/parameters.h"
#include "platform/app/scenario/step.h"

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
    std::uint64_t max = ~std::uint64_t{0};       ///< limit of a number
    size_bounds within = {};                     ///< limits of a size or an offset
    std::string (*fault)(const location&) = nullptr;
};

/// A kind of step.
struct step_kind {
    enum class form : std::uint8_t { mapping, word, condition, time_or_condition, branches };

    std::string_view name, doc;
    form written = form::mapping;
    std::vector<step_key> keys = {};
    /// Null for steps that contain steps, which scenario_files reads.
    std::function<action(const reader&)> read = {};
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

/// Reads and prints a value of the field type T.
template <class T>
struct value {
    static constexpr value_shape shape() {
        using enum value_shape;
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
        return number;
    }

    static T read(const step_key& key, const reader& r) {
        if constexpr (std::same_as<T, bool>) {
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
            return {r.time(key.name)};
        } else if constexpr (std::same_as<T, data_rate>) {
            return {r.rate(key.name)};
        } else if constexpr (std::same_as<T, location>) {
            return r.place(key.name, key.fault);
        } else if constexpr (std::same_as<T, double>) {
            return r.real(key.name);
        } else if constexpr (std::is_enum_v<T>) {
            return r.choice<T>(key.name);
        } else if constexpr (std::same_as<T, std::int32_t>) {
            return r.signed_number(key.name);
        } else {
            static_assert(std::unsigned_integral<T>, "a type that cannot be the value of a key");
            return static_cast<T>(r.number(key.name, key.max));
        }
    }

    static std::string show(const T& field) {
        if constexpr (std::same_as<T, bool>) {
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
        } else if constexpr (std::integral<T>) {
            return field == std::numeric_limits<T>::max() ? "" : fmt::format("{}", field);
        }
        return "";
    }

    static std::vector<std::string_view> choices() {
        std::vector<std::string_view> names;
        if constexpr (std::is_enum_v<T>)
            for (const auto& choice : config::choices<T>::list) names.push_back(choice.name);
        return names;
    }
};

}  // namespace step_detail

/// A row of a step's table: the key `name` fills a field of step S.
template <class S>
class key {
public:
    template <class T>
    key(std::string_view name, T S::*field, std::string_view doc = "") {
        if constexpr (step_detail::is_optional<T>) {
            describe<typename T::value_type>(name, doc);
        } else {
            describe<T>(name, doc);
            show_ = [field](const S& step) { return step_detail::value<T>::show(step.*field); };
        }
        read_ = [field](const step_key& shown, const reader& r, S& step) {
            if constexpr (step_detail::is_optional<T>)
                step.*field = step_detail::value<typename T::value_type>::read(shown, r);
            else
                step.*field = step_detail::value<T>::read(shown, r);
        };
    }
    /// A key that `finish` reads instead of filling a field.
    key(std::string_view name, value_shape shape, std::string_view doc = "") {
        shown_.name = name;
        shown_.doc = doc;
        shown_.shape = shape;
    }
    /// A row of a base structure's table.
    template <class Base>
    requires(std::derived_from<S, Base> && !std::same_as<S, Base>) key(const key<Base>& of)
        : shown_(of.shown_), show_(of.show_), read_(of.read_) {}

    key required() && {
        shown_.needed = true;
        return std::move(*this);
    }
    key required_without(std::vector<std::string_view> others) && {
        shown_.needed = true;
        shown_.instead = std::move(others);
        return std::move(*this);
    }
    key up_to(std::uint64_t max) && {
        shown_.max = max;
        return std::move(*this);
    }
    key within(size_bounds bounds) && {
        shown_.within = bounds;
        return std::move(*this);
    }
    /// `fault` returns an error message for a location, or "".
    key refused_by(std::string (*fault)(const location&)) && {
        shown_.fault = fault;
        return std::move(*this);
    }

    std::string_view name() const { return shown_.name; }
    /// The properties of the key; `defaults` is a default-constructed step.
    step_key shown(const S& defaults) const {
        auto all = shown_;
        if (!all.needed && show_) all.otherwise = show_(defaults);
        return all;
    }
    void read(const reader& r, S& step) const {
        const auto has = [&](std::string_view other) { return r.has(other); };
        const bool needed = shown_.needed && std::ranges::none_of(shown_.instead, has);
        if (read_ && (needed || r.has(shown_.name))) read_(shown_, r, step);
    }

private:
    template <class>
    friend class key;

    template <class T>
    void describe(std::string_view name, std::string_view doc) {
        shown_.name = name;
        shown_.doc = doc;
        shown_.shape = step_detail::value<T>::shape();
        shown_.choices = step_detail::value<T>::choices();
        if constexpr (std::unsigned_integral<T>) shown_.max = std::numeric_limits<T>::max();
    }

    step_key shown_;
    std::function<std::string(const S&)> show_;
    std::function<void(const step_key&, const reader&, S&)> read_;
};

template <class S>
using keys = std::vector<key<S>>;

/// Fills the fields of `step`, and reports unknown keys.
template <class S>
void read_keys(const keys<S>& all, const reader& r, S& step) {
    std::vector<std::string_view> names;
    for (const auto& key : all) names.push_back(key.name());
    r.only(names);
    for (const auto& key : all) key.read(r, step);
    if constexpr (requires { step.finish(r); }) step.finish(r);
}

template <class S>
std::vector<step_key> shown(const keys<S>& all) {
    std::vector<step_key> shown;
    for (const auto& key : all) shown.push_back(key.shown(S{}));
    return shown;
}

/// The keys of `some`, followed by `more`.
template <class S, class Base>
keys<S> extended(const keys<Base>& some, const keys<S>& more = {}) {
    keys<S> all(some.begin(), some.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

template <class S>
step_kind step_of(std::string_view name, std::string_view doc, keys<S> all = {}) {
    step_kind made{name, doc, step_kind::form::mapping, shown(all)};
    made.read = [all = std::move(all)](const reader& r) {
        S step{};
        read_keys(all, r, step);
        return step.plan();
    };
    return made;
}

}  // namespace trn::scenario

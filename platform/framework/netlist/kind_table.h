// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How tables of kinds are written; only models/*/*_kind.cpp include this.
///
///     kind_of<memory>("memory", "RAM or ROM, wholly open to DMI.",
///                     {{"size", &memory::config::size, unit::bytes, required, "capacity"},
///                      {"access_latency", &memory::config::access_latency, "per transaction"}},
///                     {port::target("in", "the bytes").of_size(&memory::config::size)})
///
/// A parameter has the name of its field; its default is the field's initial value in `config`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "platform/framework/config/document.h"
#include "platform/framework/config/field_offset.h"
#include "platform/framework/netlist/kind.h"

namespace trn {

struct required_t {};
inline constexpr required_t required{};

/// Path to a field of a structure inside `config`: in(&udma::config::link, &link::rate).
template <class C, class Inner, class T>
auto in(Inner C::*outer, T Inner::*inner) {
    return [outer, inner](auto& config) -> decltype(auto) { return (config.*outer.*inner); };
}

namespace kind_detail {

template <class T>
inline constexpr bool always_false = false;

template <class T>
std::optional<config::refusal> take(const config::parsed<T>& value, auto&& store) {
    if (const auto* why = std::get_if<config::refusal>(&value)) return *why;
    store(std::get<T>(value));
    return std::nullopt;
}

inline config::refusal outside(std::string_view text, std::string_view bounds) {
    return {mistake::out_of_range, fmt::format("{} is not within {}", text, bounds), ""};
}

template <std::integral T>
std::optional<config::refusal> store_checked(std::string_view text, std::uint64_t value, T& field) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
        return outside(text, fmt::format("0 to {}", std::numeric_limits<T>::max()));
    field = static_cast<T>(value);
    return std::nullopt;
}

template <std::integral T>
std::optional<config::refusal> read_integer(std::string_view text, unit dimension, T& field) {
    std::optional<config::refusal> refused;
    const auto store = [&](std::uint64_t value) { refused = store_checked(text, value, field); };
    const auto with = [&](const auto& parsed, auto member) {
        return take(parsed, [&](const auto& value) { store(value.*member); });
    };
    std::optional<config::refusal> unread;
    switch (dimension) {
    case unit::bytes:
        unread = with(config::parse_bytes(text), &bytes::value);
        break;
    case unit::bytes_per_second:
        unread = with(config::parse_data_rate(text), &data_rate::bytes_per_second);
        break;
    case unit::transfers_per_second:
        unread = with(config::parse_lane_rate(text), &lane_rate::transfers_per_second);
        break;
    case unit::hertz:
        unread = with(config::parse_frequency(text), &hertz::value);
        break;
    case unit::none:
    case unit::address:
        if constexpr (std::is_signed_v<T>) {
            unread = take(config::parse_signed(text), [&](std::int64_t value) {
                if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
                    refused = outside(text, fmt::format("{} to {}", std::numeric_limits<T>::min(),
                                                        std::numeric_limits<T>::max()));
                else
                    field = static_cast<T>(value);
            });
        } else {
            unread = take(config::parse_unsigned(text), store);
        }
        break;
    }
    return unread ? unread : refused;
}

template <std::integral T>
std::string show_integer(T value, unit dimension) {
    const auto number = static_cast<std::uint64_t>(value);
    switch (dimension) {
    case unit::bytes:
        return to_string(bytes{number});
    case unit::bytes_per_second:
        return to_string(data_rate{number});
    case unit::transfers_per_second:
        return to_string(lane_rate{number});
    case unit::hertz:
        return to_string(hertz{number});
    case unit::address:
        return fmt::format("0x{:x}", number);
    case unit::none:
        break;
    }
    return fmt::format("{}", value);
}

inline std::string_view type_of(unit dimension) {
    constexpr std::array<std::string_view, 6> names{"number",    "address",   "size",
                                                    "data rate", "lane rate", "frequency"};
    return names[static_cast<std::size_t>(dimension)];
}

inline sc_core::sc_time to_sc_time(picoseconds value) {
    return sc_core::sc_time(1, sc_core::SC_PS) * static_cast<double>(value.value);
}

inline picoseconds to_picoseconds(const sc_core::sc_time& time) {
    return {static_cast<std::uint64_t>(time / sc_core::sc_time(1, sc_core::SC_PS))};
}

/// Conversions of one type of field, and its name.
template <class T>
struct field_type {
    static std::optional<config::refusal> read(std::string_view text, unit dimension, T& field) {
        if constexpr (std::same_as<T, bool>) {
            if (text == "true" || text == "false") {
                field = text == "true";
                return std::nullopt;
            }
            return config::refusal{mistake::not_a_boolean,
                                   fmt::format("'{}' is neither true nor false", text), ""};
        } else if constexpr (std::same_as<T, std::string>) {
            field = text;
            return std::nullopt;
        } else if constexpr (std::same_as<T, double>) {
            return take(config::parse_real(text), [&](double value) { field = value; });
        } else if constexpr (std::same_as<T, sc_core::sc_time>) {
            return take(config::parse_time(text),
                        [&](picoseconds value) { field = to_sc_time(value); });
        } else if constexpr (std::is_enum_v<T>) {
            std::vector<std::string_view> names;
            for (const auto& choice : config::choices<T>::list) {
                names.push_back(choice.name);
                if (choice.name != text) continue;
                field = choice.value;
                return std::nullopt;
            }
            return config::refusal{mistake::not_a_choice,
                                   fmt::format("'{}' is not a valid choice", text),
                                   suggest(text, names)};
        } else {
            static_assert(std::integral<T>, "a type that cannot be a parameter");
            return read_integer(text, dimension, field);
        }
    }

    static std::string show(const T& field, unit dimension) {
        if constexpr (std::same_as<T, bool>) {
            return field ? "true" : "false";
        } else if constexpr (std::same_as<T, std::string>) {
            return field;
        } else if constexpr (std::same_as<T, double>) {
            return fmt::format("{}", field);
        } else if constexpr (std::same_as<T, sc_core::sc_time>) {
            return to_string(to_picoseconds(field));
        } else if constexpr (std::is_enum_v<T>) {
            for (const auto& choice : config::choices<T>::list)
                if (choice.value == field) return std::string(choice.name);
            return "?";
        } else {
            return show_integer(field, dimension);
        }
    }

    static std::string name(unit dimension) {
        if constexpr (std::same_as<T, bool>) return "true or false";
        if constexpr (std::same_as<T, std::string>) return "text";
        if constexpr (std::same_as<T, double>) return "real number";
        if constexpr (std::same_as<T, sc_core::sc_time>) return "time";
        if constexpr (std::is_enum_v<T>) {
            std::vector<std::string_view> names;
            for (const auto& choice : config::choices<T>::list) names.push_back(choice.name);
            return fmt::format("{}", fmt::join(names, " | "));
        }
        return std::string(type_of(dimension));
    }
};

template <class T>
struct field_type<std::vector<T>> {
    static void assign(std::vector<T>& list, unit dimension, std::span<const std::string> texts,
                       const parameter::on_refusal& refuse) {
        list.assign(texts.size(), T{});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            T read{};
            if (const auto why = field_type<T>::read(texts[i], dimension, read)) refuse(i, *why);
            list[i] = read;
        }
    }

    static std::string show(const std::vector<T>& list, unit dimension) {
        std::vector<std::string> shown;
        for (const T& one : list) shown.push_back(field_type<T>::show(one, dimension));
        return fmt::format("[{}]", fmt::join(shown, ", "));
    }

    static std::string name(unit dimension) {
        return "list of " + field_type<T>::name(dimension) + "s";
    }
};

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
void assign(void* field, unit dimension, std::span<const std::string> texts,
            const parameter::on_refusal& refuse) {
    auto& target = *static_cast<T*>(field);
    if constexpr (is_list<T>)
        field_type<T>::assign(target, dimension, texts, refuse);
    else if (const auto why = field_type<T>::read(texts[0], dimension, target))
        refuse(0, *why);
}

template <class T>
std::string show(const void* field, unit dimension) {
    return field_type<T>::show(*static_cast<const T*>(field), dimension);
}

template <class T>
inline constexpr parameter::conversion conversion_of{&assign<T>, &show<T>, is_list<T>};

/// A row of a kind's table: a parameter in configuration type C. The field is a member pointer or
/// in(...).
template <class C>
struct row {
    template <std::invocable<C&> F>
    row(const char* name, F field, const char* doc) : row(name, field, unit::none, false, doc) {}
    template <std::invocable<C&> F>
    row(const char* name, F field, required_t, const char* doc)
        : row(name, field, unit::none, true, doc) {}
    template <std::invocable<C&> F>
    row(const char* name, F field, unit dimension, const char* doc)
        : row(name, field, dimension, false, doc) {}
    template <std::invocable<C&> F>
    row(const char* name, F field, unit dimension, required_t, const char* doc)
        : row(name, field, dimension, true, doc) {}

    parameter made;

private:
    template <std::invocable<C&> F>
    row(const char* name, F field, unit dimension, bool needed, const char* doc)
        : made(make<std::remove_cvref_t<std::invoke_result_t<F, C&>>>(
              name, &std::invoke(field, config::default_of<C>()), dimension, needed, doc)) {}

    static const void* object(const std::any& config) { return std::any_cast<C>(&config); }

    template <class T>
    static parameter make(const char* name, const T* field, unit dimension, bool needed,
                          const char* doc) {
        return {name,    field_type<T>::name(dimension), doc, needed, dimension, &conversion_of<T>,
                &object, config::offset_of<C>(field)};
    }
};

/// Converts a member pointer or lambda to a function of the type-erased configuration.
template <class C, class T>
port::from_config erase(T C::*field) {
    return [field](const std::any& config) {
        return static_cast<std::uint64_t>(std::any_cast<C>(&config)->*field);
    };
}
template <class F, class C, class T>
port::from_config erase_call(F function, T (F::*)(const C&) const) {
    return [function](const std::any& config) {
        return static_cast<std::uint64_t>(function(*std::any_cast<C>(&config)));
    };
}
template <class F>
requires std::is_class_v<F> port::from_config erase(F function) {
    return erase_call(function, &F::operator());
}

template <class I>
port interface_port(port_role role, std::string name, std::string doc) {
    port made;
    made.name = std::move(name);
    made.role = role;
    made.doc = std::move(doc);
    made.interface = typeid(I).name();
    return made;
}

}  // namespace kind_detail

template <class F>
requires(!std::is_convertible_v<F, std::uint64_t>) port port::of_size(F from) && {
    size = kind_detail::erase(from);
    return std::move(*this);
}
template <class F>
requires(!std::is_convertible_v<F, std::uint64_t>) port port::of_lines(F from) && {
    lines = kind_detail::erase(from);
    return std::move(*this);
}
template <class F>
requires(!std::is_convertible_v<F, std::uint64_t>) port port::times(F from) && {
    count = kind_detail::erase(from);
    return std::move(*this);
}
template <class F>
requires(!std::is_convertible_v<F, std::uint64_t>) port port::with_lanes(F from) && {
    lanes = kind_detail::erase(from);
    return std::move(*this);
}
template <class F>
requires(!std::is_convertible_v<F, std::uint64_t>) port port::in_links(F from) && {
    links = kind_detail::erase(from);
    return std::move(*this);
}
template <class F>
requires(!std::is_convertible_v<F, std::uint64_t>) port port::within_lanes(F from) && {
    room = kind_detail::erase(from);
    return std::move(*this);
}
template <class F>
requires(!std::is_convertible_v<F, std::uint64_t>) port port::in_blocks_of(F from) && {
    block = kind_detail::erase(from);
    return std::move(*this);
}

template <class I>
port port::uses(std::string name, std::string doc) {
    port made = kind_detail::interface_port<I>(port_role::uses, std::move(name), std::move(doc));
    made.join = [name = made.name](sc_core::sc_module& user, sc_core::sc_module& provider) {
        auto* interface = dynamic_cast<I*>(&provider);
        for (auto* child : user.get_child_objects()) {
            auto* socket = dynamic_cast<sc_core::sc_port_b<I>*>(child);
            if (socket == nullptr || interface == nullptr || name != child->basename()) continue;
            socket->bind(*interface);
            return true;
        }
        return false;
    };
    return made;
}

template <class I, class User>
port port::uses(std::string name, std::string doc, void (User::*set)(const I&)) {
    port made = kind_detail::interface_port<I>(port_role::uses, std::move(name), std::move(doc));
    made.join = [set](sc_core::sc_module& user, sc_core::sc_module& provider) {
        auto* consumer = dynamic_cast<User*>(&user);
        const auto* interface = dynamic_cast<const I*>(&provider);
        if (consumer == nullptr || interface == nullptr) return false;
        (consumer->*set)(*interface);
        return true;
    };
    return made;
}

template <class I>
port port::provides(std::string name, std::string doc) {
    return kind_detail::interface_port<I>(port_role::provides, std::move(name), std::move(doc))
        .unlimited()
        .optional();
}

/// The kind of module class M, whose constructor takes (sc_module_name, const M::config&).
template <class M>
kind kind_of(const char* name, const char* doc,
             std::initializer_list<kind_detail::row<typename M::config>> parameters,
             std::initializer_list<port> ports) {
    using C = typename M::config;
    kind made;
    made.name = name;
    made.doc = doc;
    for (const auto& row : parameters) made.parameters.push_back(row.made);
    made.ports = ports;
    made.defaults = [] { return std::any(C{}); };
    made.make = [](const char* module, const std::any& config) {
        return std::make_unique<M>(module, *std::any_cast<C>(&config));
    };
    return made;
}

/// Like above, with a check of the whole configuration.
template <class M>
kind kind_of(const char* name, const char* doc,
             std::initializer_list<kind_detail::row<typename M::config>> parameters,
             std::initializer_list<port> ports,
             std::optional<std::string> (*check)(const typename M::config&)) {
    kind made = kind_of<M>(name, doc, parameters, ports);
    made.check = [check](const std::any& config) {
        return check(*std::any_cast<typename M::config>(&config));
    };
    return made;
}

}  // namespace trn

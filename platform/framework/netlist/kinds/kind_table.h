// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How tables of kinds are written; only models/*/*_kind.cpp include this.
///
///     kind_of<memory>("memory", "RAM or ROM, wholly open to DMI.",
///                     {{"size", &memory::config::size, unit::bytes, within(1, PiB), required,
///                       "capacity"},
///                      {"access_latency", &memory::config::access_latency, any_time,
///                       "per transaction"}},
///                     {port::target("in", "the bytes").of_size(&memory::config::size)})
///
/// A parameter has the name of its field; its default is the field's initial value in `config`. A
/// number has limits, which are checked where a board gives it; a test checks the defaults.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cassert>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "platform/framework/config/document.h"
#include "platform/framework/config/field_offset.h"
#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

namespace kind_tables {
using namespace kind_limits;
}

struct required_t {};
inline constexpr required_t required{};

/// Path to a field of a structure inside `config`: in(&udma::config::link, &link::rate).
template <class C, class Inner, class T>
auto in(Inner C::*outer, T Inner::*inner) {
    return [outer, inner](auto& config) -> decltype(auto) { return (config.*outer.*inner); };
}

namespace kind_detail {

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

/// The type of a field, or of the items of a list.
template <class T>
struct item {
    using type = T;
};
template <class T>
struct item<std::vector<T>> {
    using type = T;
};

/// Limits that a parameter must have; numbers need some, others have none.
template <class T>
struct limits_of {
    using type = void;
};
template <std::unsigned_integral T>
struct limits_of<T> {
    using type = number_limits;
};
template <>
struct limits_of<bool> {
    using type = void;
};
template <>
struct limits_of<double> {
    using type = real_limits;
};
template <>
struct limits_of<sc_core::sc_time> {
    using type = time_limits;
};

/// Of field F of configuration C.
template <class F, class C>
using field_of = std::remove_cvref_t<std::invoke_result_t<F, C&>>;
template <class F, class C>
using limits_for = typename limits_of<typename item<field_of<F, C>>::type>::type;
template <class F, class C>
concept number_field = std::invocable<F, C&> && !std::is_void_v<limits_for<F, C>>;
template <class F, class C>
concept integer_field = number_field<F, C> && std::same_as<limits_for<F, C>, number_limits>;
template <class F, class C>
concept other_field = std::invocable<F, C&> && std::is_void_v<limits_for<F, C>>;

template <class T>
std::optional<config::refusal> take(const config::parsed<T>& value, auto&& store) {
    if (const auto* why = std::get_if<config::refusal>(&value)) return *why;
    return store(std::get<T>(value));
}

/// Why `value`, written as `text`, is not valid for the parameter.
template <class Limits, class T>
std::optional<config::refusal> check(const parameter& declared, std::string_view text, T value) {
    if (std::get<Limits>(declared.bounds).contain(value)) return std::nullopt;
    return config::refusal{mistake::out_of_range,
                           fmt::format("{} is {}; here it is {}", declared.name,
                                       to_string(declared.bounds, declared.dimension), text),
                           ""};
}

template <std::unsigned_integral T>
std::optional<config::refusal> read_integer(std::string_view text, const parameter& declared,
                                            T& field) {
    const auto store = [&](std::uint64_t value) {
        field = static_cast<T>(value);  // fits: the limits of a row do
        return check<number_limits>(declared, text, value);
    };
    const auto read = [&](const auto& parsed, auto member) {
        return take(parsed, [&](const auto& value) { return store(value.*member); });
    };
    switch (declared.dimension) {
    case unit::bytes:
        return read(config::parse_bytes(text), &bytes::value);
    case unit::bytes_per_second:
        return read(config::parse_data_rate(text), &data_rate::bytes_per_second);
    case unit::transfers_per_second:
        return read(config::parse_lane_rate(text), &lane_rate::transfers_per_second);
    case unit::hertz:
        return read(config::parse_frequency(text), &hertz::value);
    case unit::none:
    case unit::address:
    case unit::time:
        break;
    }
    return take(config::parse_unsigned(text), store);
}

inline std::string_view type_of(unit dimension) {
    constexpr std::array<std::string_view, 7> names{"number",    "address",   "size", "data rate",
                                                    "lane rate", "frequency", "time"};
    return names[static_cast<std::size_t>(dimension)];
}

inline sc_core::sc_time to_sc_time(picoseconds value) {
    return sc_core::sc_time(1, sc_core::SC_PS) * static_cast<double>(value.value);
}

inline std::uint64_t to_picoseconds(const sc_core::sc_time& time) {
    return static_cast<std::uint64_t>(time / sc_core::sc_time(1, sc_core::SC_PS));
}

/// Conversions of one type of field, and its name.
template <class T>
struct field_type {
    static std::optional<config::refusal> read(std::string_view text, const parameter& declared,
                                               T& field) {
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
            return take(config::parse_real(text), [&](double value) {
                field = value;
                return check<real_limits>(declared, text, value);
            });
        } else if constexpr (std::same_as<T, sc_core::sc_time>) {
            return take(config::parse_time(text), [&](picoseconds value) {
                field = to_sc_time(value);
                return check<number_limits>(declared, text, value.value);
            });
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
            static_assert(std::unsigned_integral<T>, "a type that cannot be a parameter");
            return read_integer(text, declared, field);
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
            return show_number(to_picoseconds(field), dimension);
        } else if constexpr (std::is_enum_v<T>) {
            for (const auto& choice : config::choices<T>::list)
                if (choice.value == field) return std::string(choice.name);
            return "?";
        } else {
            return show_number(field, dimension);
        }
    }

    static std::string name(unit dimension) {
        if constexpr (std::same_as<T, bool>) return "true or false";
        if constexpr (std::same_as<T, std::string>) return "text";
        if constexpr (std::same_as<T, double>) return "real number";
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
    static void assign(std::vector<T>& list, const parameter& declared,
                       std::span<const std::string> texts, const parameter::on_refusal& refuse) {
        list.assign(texts.size(), T{});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            T read{};
            if (const auto why = field_type<T>::read(texts[i], declared, read)) refuse(i, *why);
            list[i] = read;
        }
    }

    static std::string show(const std::vector<T>& list, unit dimension) {
        std::vector<std::string> shown;
        for (const T& item : list) shown.push_back(field_type<T>::show(item, dimension));
        return fmt::format("[{}]", fmt::join(shown, ", "));
    }

    static std::string name(unit dimension) {
        return "list of " + field_type<T>::name(dimension) + "s";
    }
};

template <class T>
void assign(void* field, const parameter& declared, std::span<const std::string> texts,
            const parameter::on_refusal& refuse) {
    auto& target = *static_cast<T*>(field);
    if constexpr (is_list<T>)
        field_type<T>::assign(target, declared, texts, refuse);
    else if (const auto why = field_type<T>::read(texts[0], declared, target))
        refuse(0, *why);
}

template <class T>
std::string show(const void* field, unit dimension) {
    return field_type<T>::show(*static_cast<const T*>(field), dimension);
}

template <class T>
inline constexpr parameter::conversion conversion_of{&assign<T>, &show<T>, is_list<T>};

/// A row of a kind's table: a parameter in configuration type C. The field is a member pointer or
/// in(...). A number does not compile without its limits.
template <class C>
struct row {
    template <other_field<C> F>
    row(const char* name, F field, const char* doc)
        : row(name, field, unit::none, any_limits{}, false, doc) {}
    template <other_field<C> F>
    row(const char* name, F field, required_t, const char* doc)
        : row(name, field, unit::none, any_limits{}, true, doc) {}
    template <number_field<C> F>
    row(const char* name, F field, limits_for<F, C> bounds, const char* doc)
        : row(name, field, own_unit(bounds), erase_type(bounds), false, doc) {}
    template <integer_field<C> F>
    row(const char* name, F field, unit dimension, number_limits bounds, const char* doc)
        : row(name, field, dimension, bounds, false, doc) {}
    template <integer_field<C> F>
    row(const char* name, F field, unit dimension, number_limits bounds, required_t,
        const char* doc)
        : row(name, field, dimension, bounds, true, doc) {}

    parameter made;

private:
    template <std::invocable<C&> F>
    row(const char* name, F field, unit dimension, const any_limits& bounds, bool needed,
        const char* doc)
        : made(make(name, &std::invoke(field, config::default_of<C>()), dimension, bounds, needed,
                    doc)) {}

    static unit own_unit(const time_limits&) { return unit::time; }
    static unit own_unit(const auto&) { return unit::none; }
    static any_limits erase_type(const time_limits& bounds) { return bounds.picoseconds; }
    static any_limits erase_type(const auto& bounds) { return bounds; }

    static const void* object(const std::any& config) { return std::any_cast<C>(&config); }

    template <class T>
    static parameter make(const char* name, const T* field, unit dimension,
                          const any_limits& bounds, bool needed, const char* doc) {
        if constexpr (std::unsigned_integral<typename item<T>::type> && !std::same_as<T, bool>)
            assert(std::get<number_limits>(bounds).fit<typename item<T>::type>());
        return {name,
                field_type<T>::name(dimension),
                doc,
                needed,
                dimension,
                bounds,
                &conversion_of<T>,
                &object,
                config::offset_of<C>(field)};
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
requires(!std::is_convertible_v<F, std::uint64_t>) port_number::port_number(F getter)
    : compute(kind_detail::erase(getter)) {}

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
port port::uses(std::string name, std::string doc, void (User::*set)(I&)) {
    port made = kind_detail::interface_port<I>(port_role::uses, std::move(name), std::move(doc));
    made.join = [set](sc_core::sc_module& user, sc_core::sc_module& provider) {
        auto* consumer = dynamic_cast<User*>(&user);
        auto* interface = dynamic_cast<I*>(&provider);
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
    made.find_ways();
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <systemc>
#include <type_traits>
#include <variant>

namespace trn::trace {

struct field {
    std::string_view name;
    std::variant<std::uint64_t, std::int64_t, std::string_view> value;
    bool hex = false;

    template <std::integral T>
    field(std::string_view n, T v) : name(n) {
        if constexpr (std::is_signed_v<T>) {
            value = static_cast<std::int64_t>(v);
        } else {
            value = static_cast<std::uint64_t>(v);
        }
    }
    field(std::string_view n, std::string_view v) : name(n), value(v) {}
    field(std::string_view n, const std::string& v) : name(n), value(std::string_view(v)) {}
    field(std::string_view n, const char* v) : name(n), value(std::string_view(v)) {}
};
/// A field in hexadecimal, for addresses and register values.
inline field hex(std::string_view name, std::uint64_t value) {
    field f(name, value);
    f.hex = true;
    return f;
}
using fields = std::initializer_list<field>;

/// Number of a request from outside with all its consequences; counted from 1 in a run. 0: unknown.
using operation = std::uint64_t;

/// State of the trace that a restored snapshot continues from.
struct position {
    std::uint64_t digest = 0;
    operation operations = 0;   ///< number of operations so far
    std::uint64_t returns = 0;  ///< number of times that simulated time went back
};

/// One event in the form that writers receive.
struct record {
    enum class kind : std::uint8_t { event, span, begin, end };

    kind type;
    sc_core::sc_time start;
    sc_core::sc_time duration;  ///< of a span only
    std::string_view module, name;
    trace::operation operation;
    fields values;
    std::uint32_t track = 0;  ///< track of the slice that ends
};

}  // namespace trn::trace

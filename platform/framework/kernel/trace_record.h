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
/// A field written in hexadecimal: addresses, register values.
inline field hex(std::string_view name, std::uint64_t value) {
    field f(name, value);
    f.hex = true;
    return f;
}
using fields = std::initializer_list<field>;

/// A request from outside, with all that follows from it; numbers count from 1 in a run. 0: no
/// operation is known.
using operation = std::uint64_t;

/// What a snapshot that is restored must know of the trace so far.
struct position {
    std::uint64_t digest = 0;
    operation operations = 0;   ///< how many numbers were given
    std::uint64_t returns = 0;  ///< how often simulated time went back
};

/// One event, as its file stores it.
struct record {
    enum class kind : std::uint8_t { event, span, begin, end };

    kind what_it_is;
    sc_core::sc_time start;
    sc_core::sc_time duration;  ///< of a span
    std::string_view module, what;
    operation of;
    fields with;
    std::uint32_t track = 0;  ///< of what ends
};

}  // namespace trn::trace

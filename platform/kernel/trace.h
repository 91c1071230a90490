// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <systemc>
#include <type_traits>
#include <variant>

/// The event trace of a run: what happened, where, at which simulated time. Two runs of the same
/// board, firmware, scenario and seed write the same bytes. While tracing is off an event costs one
/// test of a flag, if it is written like this:
///
///     if (trace::on()) trace::event(name(), "doorbell", {{"queue", queue}, {"tail", tail}});
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

namespace detail {
inline bool on = false;
}
inline bool on() {
    return detail::on;
}

/// Writes the trace to `path`: Chrome/Perfetto JSON when it ends in ".json", else text, one line
/// per event: time in ps, module, event, name=value... No path: only its digest is wanted. Throws
/// std::system_error when it cannot be written.
void open(const std::string& path);
/// CRC-64 (ECMA-182) of the bytes of the text trace so far; 0 of another, and of none.
std::uint64_t digest();
/// Makes the trace of this process, made by fork(), a file of its own that begins with what was
/// traced so far. flush() must have been called before the fork.
void continue_in(const std::string& path);
/// Writes out what is still in this process.
void flush();
/// Completes the file. Safe when no trace is open; happens by itself at a normal exit.
void close();

/// Something happened in `module` now, plus `delay` (the annotated delay of a b_transport).
void event(std::string_view module, std::string_view what, fields with = {},
           const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME);
/// Something that took time: from `start` for `duration`. Written when it is reported.
void span(std::string_view module, std::string_view what, const sc_core::sc_time& start,
          const sc_core::sc_time& duration, fields with = {});

}  // namespace trn::trace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <type_traits>

namespace trn {

/// The time of `value` units of the kernel's resolution (1 ps): sc_time::from_value() without the
/// call into the library, which looks up the kernel's settings each time.
inline sc_core::sc_time time_of_value(std::uint64_t value) {
    using sc_core::sc_time;
    // Then the address of a time is that of its only member.
    static_assert(std::is_standard_layout_v<sc_time> && sizeof(sc_time) == sizeof(sc_dt::uint64));
    sc_time time;
    reinterpret_cast<sc_dt::uint64&>(time) = value;
    return time;
}

/// Simulated time ends after 200 days; later events do not happen. The kernel's 64 bits of
/// picoseconds last 13 days longer, so that a model can add a delay to the present without
/// overflow.
inline sc_core::sc_time end_of_time() {
    constexpr std::uint64_t day = 86'400ull * 1'000'000'000'000;
    return time_of_value(200 * day);
}

/// `time` + `delay`, limited to end_of_time().
inline sc_core::sc_time later(const sc_core::sc_time& time, const sc_core::sc_time& delay) {
    const sc_core::sc_time end = end_of_time();
    return time >= end || end - time < delay ? end : time + delay;
}

}  // namespace trn

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

}  // namespace trn

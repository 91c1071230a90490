// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <systemc>

namespace trn {

/// A time in picoseconds, and back. They are the kernel's units at its default resolution, which
/// require_picoseconds() checks.
inline std::uint64_t in_picoseconds(const sc_core::sc_time& time) {
    return time.value();
}
inline sc_core::sc_time time_of_value(std::uint64_t count) {
    return sc_core::sc_time::from_value(count);
}

/// Called by what depends on picoseconds when it is constructed. Another resolution, which an
/// sc_main may have set, is an SC_FATAL report of the type resolution_type.
void require_picoseconds();
inline constexpr char resolution_type[] = "/trn/kernel/time_resolution";

/// Multiples of a period, from tables: sc_time::from_value() looks up the kernel's settings each
/// time.
class time_multiples {
public:
    /// The tables of a period in picoseconds, which are made once.
    static const time_multiples& of_period(std::uint64_t picoseconds);

    explicit time_multiples(std::uint64_t picoseconds);
    sc_core::sc_time times(std::uint64_t count) const {
        if (count >= few * many) return time_of_value(count * period_);
        return many_[count / few] + few_[count % few];
    }

private:
    static constexpr std::uint64_t few = 256, many = 512;  // for quanta of 100,000 instructions
    const std::uint64_t period_;
    std::array<sc_core::sc_time, few> few_;
    std::array<sc_core::sc_time, many> many_;
};

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

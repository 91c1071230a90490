// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>

#include "platform/framework/kernel/time_value.h"

namespace trn {

/// Simulated time in cycles of one engine, and its local time, which may be ahead.
class engine_clock {
public:
    using cycles = std::uint64_t;

    explicit engine_clock(std::uint64_t hertz) : nominal_hertz_(hertz), hertz_(hertz) {}

    std::uint64_t nominal_hertz() const { return nominal_hertz_; }

    cycles now() const {
        return base_cycle_ + static_cast<cycles>(static_cast<unsigned __int128>(in_picoseconds(
                                                     sc_core::sc_time_stamp() - base_)) *
                                                 hertz_ / ps_per_second);
    }
    /// First picosecond of cycle `at`.
    sc_core::sc_time time_of(cycles cycle) const;
    /// First cycle that begins at or after `at`. Precondition: `at` is not in the past.
    cycles cycle_at(const sc_core::sc_time& time) const { return after(base_cycle_, time - base_); }
    cycles after(cycles start, const sc_core::sc_time& duration) const;
    cycles of_ns(std::uint64_t ns) const;

    /// Earliest start of the next instruction.
    cycles local() const { return local_; }
    bool is_ahead() const { return local_ > now(); }
    void reach(cycles cycle) { local_ = std::max(local_, cycle); }
    void spend(cycles duration) { local_ += duration; }
    /// Sets local time back to simulated time.
    void restart() { local_ = now(); }

    /// Sets the clock's rate from now on, in thousandths of its full rate. This moves cycles that
    /// are already scheduled.
    void set_rate(unsigned permille);

private:
    static constexpr std::uint64_t ps_per_second = 1'000'000'000'000;

    const std::uint64_t nominal_hertz_;
    std::uint64_t hertz_;
    cycles base_cycle_ = 0;  // the cycle at base_, the last rate change
    sc_core::sc_time base_;
    cycles local_ = 0;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>

namespace trn {

/// Simulated time in cycles of one engine, and the engine's local time, which may run ahead of it.
class engine_clock {
public:
    using cycles = std::uint64_t;

    explicit engine_clock(std::uint64_t hertz) : hertz_(hertz) {}

    cycles now() const {
        return static_cast<cycles>(
            static_cast<unsigned __int128>(sc_core::sc_time_stamp().value()) * hertz_ /
            ps_per_second);
    }
    /// First picosecond of cycle `at`.
    sc_core::sc_time time_of(cycles at) const;
    cycles after(cycles from, const sc_core::sc_time& duration) const;
    cycles of_ns(std::uint64_t ns) const;

    /// When the next instruction may begin.
    cycles local() const { return local_; }
    bool is_ahead() const { return local_ > now(); }
    void reach(cycles at) { local_ = std::max(local_, at); }
    void spend(cycles duration) { local_ += duration; }
    /// Forgets local time that has not come yet.
    void restart() { local_ = now(); }

private:
    static constexpr std::uint64_t ps_per_second = 1'000'000'000'000;

    const std::uint64_t hertz_;
    cycles local_ = 0;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/timing/engine_clock.h"

#include <algorithm>

namespace trn {

using sc_core::sc_time;

sc_time engine_clock::time_of(cycles cycle) const {
    const auto last = [this](cycles duration) {
        return time_of_value(static_cast<std::uint64_t>(
            (static_cast<unsigned __int128>(duration) * ps_per_second + hertz_ - 1) / hertz_));
    };
    if (cycle >= base_cycle_) return base_ + last(cycle - base_cycle_);
    return base_ - std::min(base_, last(base_cycle_ - cycle));
}

engine_clock::cycles engine_clock::after(cycles start, const sc_time& duration) const {
    return start +
           static_cast<cycles>((static_cast<unsigned __int128>(in_picoseconds(duration)) * hertz_ +
                                ps_per_second - 1) /
                               ps_per_second);
}

void engine_clock::set_rate(unsigned permille) {
    base_cycle_ = now();
    base_ = sc_core::sc_time_stamp();
    hertz_ = nominal_hertz_ / 1000 * permille;
}

engine_clock::cycles engine_clock::of_ns(std::uint64_t ns) const {
    return after(0, sc_time(static_cast<double>(ns), sc_core::SC_NS));
}

}  // namespace trn

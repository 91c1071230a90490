// SPDX-License-Identifier: Apache-2.0
#include "models/sequencer/engine_clock.h"

namespace trn {

using sc_core::sc_time;

sc_time engine_clock::time_of(cycles at) const {
    return sc_time::from_value(static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(at) * ps_per_second + hertz_ - 1) / hertz_));
}

engine_clock::cycles engine_clock::after(cycles from, const sc_time& duration) const {
    return from + static_cast<cycles>((static_cast<unsigned __int128>(duration.value()) * hertz_ +
                                       ps_per_second - 1) /
                                      ps_per_second);
}

engine_clock::cycles engine_clock::of_ns(std::uint64_t ns) const {
    return after(0, sc_time(static_cast<double>(ns), sc_core::SC_NS));
}

}  // namespace trn

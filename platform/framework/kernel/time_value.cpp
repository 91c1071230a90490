// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/time_value.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace trn {

void require_picoseconds() {
    const sc_core::sc_time resolution = sc_core::sc_get_time_resolution();
    if (std::abs(resolution.to_seconds() * 1e12 - 1) < 1e-6) return;
    SC_REPORT_FATAL(resolution_type,
                    fmt::format("the time resolution is {}, and the models count picoseconds: call "
                                "sc_set_time_resolution(1, SC_PS) in sc_main, or leave the default",
                                resolution.to_string())
                        .c_str());
}

const time_multiples& time_multiples::of_period(std::uint64_t picoseconds) {
    static std::map<std::uint64_t, const time_multiples> known;
    return known.try_emplace(picoseconds, picoseconds).first->second;
}

time_multiples::time_multiples(std::uint64_t picoseconds) : period_(picoseconds) {
    for (std::uint64_t n = 0; n < few; ++n) few_[n] = time_of_value(n * period_);
    for (std::uint64_t n = 0; n < many; ++n) many_[n] = time_of_value(n * few * period_);
}

}  // namespace trn

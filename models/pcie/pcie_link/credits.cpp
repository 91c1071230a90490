// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie_link/credits.h"

#include <algorithm>

namespace trn {

using sc_core::sc_time;

credit_flow::credit_flow(const pools& size)
    : headers_{.size = size.headers}, bytes_{.size = size.bytes} {}

void credit_flow::set(unsigned links, const sc_time& round_trip) {
    links_ = std::max(links, 1u);
    round_trip_ = round_trip;
    if (round_trip == sc_core::SC_ZERO_TIME) return;
    for (pool* each : {&headers_, &bytes_})
        each->returns.set_rate(std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(static_cast<double>(each->size) * links_ /
                                          round_trip.to_seconds())));
}

sc_time credit_flow::take(const load& wanted, const sc_time& start, const sc_time& through,
                          const sc_time& occupied) {
    sc_time end = through;
    if (held_ + occupied > end) end = held_ = held_ + occupied;
    if (round_trip_ > sc_core::SC_ZERO_TIME) {
        // One pool of credits can be in flight; further data waits until credits have returned.
        const auto wait = [&](pool& credits, std::uint64_t count) {
            const sc_time back = credits.returns.reserve(count, start);
            credits.last_return = std::max(credits.last_return, back);
            if (back > end + round_trip_) end = back - round_trip_;
        };
        wait(headers_, wanted.headers);
        wait(bytes_, wanted.bytes);
    }
    if (end > through) ++waits_;
    return end;
}

/// They return one after the other within a round trip.
std::uint64_t credit_flow::available(const pool& credits, const sc_time& now) const {
    const std::uint64_t all = credits.size * links_;
    if (round_trip_ == sc_core::SC_ZERO_TIME || credits.last_return <= now) return all;
    const double used = static_cast<double>(all) * ((credits.last_return - now) / round_trip_);
    return all - std::min(all, static_cast<std::uint64_t>(used));
}

credit_flow::load credit_flow::available(const sc_time& now) const {
    return {available(headers_, now), available(bytes_, now)};
}

void credit_flow::held_until(const sc_time& taken, std::uint64_t bytes_per_second) {
    const double buffer = static_cast<double>(bytes_.size) * links_;
    const sc_time covered(buffer / static_cast<double>(bytes_per_second), sc_core::SC_SEC);
    if (taken > covered) held_ = std::max(held_, taken - covered);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/tlm/bandwidth_resource.h"

#include <algorithm>

namespace trn {

namespace {

timing_mode the_mode = timing_mode::contended;

/// bytes / rate in the kernel's resolution (1 ps), rounded up so that no transfer is free.
sc_core::sc_time occupancy(std::uint64_t bytes, std::uint64_t bytes_per_second) {
    constexpr unsigned __int128 ps_per_second = 1'000'000'000'000u;
    const auto ps = (bytes * ps_per_second + bytes_per_second - 1) / bytes_per_second;
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(ps));
}

}  // namespace

timing_mode timing() {
    return the_mode;
}
void set_timing(timing_mode mode) {
    the_mode = mode;
}

sc_core::sc_time bandwidth_resource::reserve(std::uint64_t bytes, const sc_core::sc_time& at) {
    bytes_ += bytes;
    if (the_mode == timing_mode::functional) return at;
    const sc_core::sc_time occupied = occupancy(bytes, cfg_.bytes_per_second);
    free_at_ = std::max(at, free_at_) + occupied;
    busy_ += occupied;
    return free_at_;
}

void bandwidth_resource::transfer(std::uint64_t bytes, sc_core::sc_time& delay) {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const sc_core::sc_time left = reserve(bytes, now + delay);
    if (the_mode == timing_mode::contended) delay = left + cfg_.latency - now;
}

void bandwidth_resource::reset_statistics() {
    bytes_ = 0;
    busy_ = sc_core::SC_ZERO_TIME;
}

}  // namespace trn

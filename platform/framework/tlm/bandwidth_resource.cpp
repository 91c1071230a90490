// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/bandwidth_resource.h"

#include <algorithm>

#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

timing_mode the_mode = timing_mode::contended;

}  // namespace

timing_mode timing() {
    return the_mode;
}
void set_timing(timing_mode mode) {
    the_mode = mode;
}

bandwidth_resource::bandwidth_resource(const config& cfg) : cfg_(cfg) {
    set_rate(cfg.bytes_per_second);
}

void bandwidth_resource::set_rate(std::uint64_t bytes_per_second) {
    cfg_.bytes_per_second = bytes_per_second;
    ps_per_byte_ = static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(1'000'000'000'000u) << fraction_bits) / bytes_per_second);
}

void bandwidth_resource::hold_until(const sc_core::sc_time& time) {
    if (the_mode == timing_mode::contended) free_at_ = std::max(free_at_, time);
}

/// bytes / rate in the kernel's resolution (1 ps), rounded up so that transfers take time.
/// Multiplies instead of dividing, because it is called several times per transfer.
sc_core::sc_time bandwidth_resource::occupancy(std::uint64_t bytes) const {
    const auto ps =
        static_cast<unsigned __int128>(bytes) * ps_per_byte_ + (1ull << fraction_bits) - 1;
    return time_of_value(static_cast<std::uint64_t>(ps >> fraction_bits));
}

sc_core::sc_time bandwidth_resource::reserve(std::uint64_t bytes, const sc_core::sc_time& start) {
    bytes_ += bytes;
    if (the_mode == timing_mode::functional) return start;
    const sc_core::sc_time occupied = occupancy(bytes);
    free_at_ = std::max(start, free_at_) + occupied;
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

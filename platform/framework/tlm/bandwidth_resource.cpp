// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/bandwidth_resource.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

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
    if (the_mode != timing_mode::contended) return;
    gaps_.clear();
    free_at_ = std::max(free_at_, time);
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
    busy_ += occupied;
    if (start < free_at_) {
        if (!gaps_.empty() && start < gaps_.back().end) return reserve_gaps(start, occupied);
        return free_at_ += occupied;
    }
    if (start > free_at_) add_gap(start);
    return free_at_ = start + occupied;
}

/// The resource stays free until `end`. Nothing can begin before the present.
void bandwidth_resource::add_gap(const sc_core::sc_time& end) {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    if (end <= now) return;
    std::erase_if(gaps_, [&](const gap& each) { return each.end <= now; });
    if (gaps_.size() == max_gaps) join_closest_gaps();
    gaps_.push_back({std::max(free_at_, now), end});
}

/// Makes room: one gap for the two with the shortest reservations in between, which count as the
/// begin of both. No capacity is lost, and little time is wrong.
void bandwidth_resource::join_closest_gaps() {
    const auto between = [this](std::size_t n) { return gaps_[n + 1].begin - gaps_[n].end; };
    std::size_t closest = 0;
    for (std::size_t n = 1; n + 1 < gaps_.size(); ++n)
        if (between(n) < between(closest)) closest = n;
    gaps_[closest + 1].begin = gaps_[closest].begin + between(closest);
    gaps_.erase(gaps_.begin() + static_cast<std::ptrdiff_t>(closest));
}

/// Reserves free time between earlier calls' reservations, and the rest after the last of them.
sc_core::sc_time bandwidth_resource::reserve_gaps(const sc_core::sc_time& start,
                                                  sc_core::sc_time occupied) {
    if (gaps_.size() == max_gaps) join_closest_gaps();
    std::size_t n = 0;
    while (gaps_[n].end <= start) ++n;
    if (gaps_[n].begin < start) {  // the part before `start` stays free
        gaps_.insert(gaps_.begin() + static_cast<std::ptrdiff_t>(n), {gaps_[n].begin, start});
        gaps_[++n].begin = start;
    }
    const auto first = gaps_.begin() + static_cast<std::ptrdiff_t>(n);
    auto used = first;
    while (used != gaps_.end() && used->length() <= occupied) {
        occupied -= used->length();
        ++used;
    }
    const sc_core::sc_time end = occupied == sc_core::SC_ZERO_TIME && used != first
                                     ? std::prev(used)->end
                                 : used != gaps_.end() ? used->begin += occupied
                                                       : free_at_ += occupied;
    gaps_.erase(first, used);
    return end;
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

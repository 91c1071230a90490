// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/bandwidth_resource.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

timing_mode the_mode = timing_mode::contended;

/// Results of time_of_value(), which looks up settings of the kernel each time: transfers have few
/// lengths.
struct known_time {
    std::uint64_t ps = 0;
    sc_core::sc_time time;
};
std::array<known_time, 256> known_times;  // by ps, modulo the size

[[gnu::noinline]] void learn(known_time& place, std::uint64_t ps) {
    place = {ps, time_of_value(ps)};
}

inline const sc_core::sc_time& time_of(std::uint64_t ps) {
    known_time& place = known_times[ps % known_times.size()];
    if (place.ps != ps) [[unlikely]]
        learn(place, ps);
    return place.time;
}

}  // namespace

timing_mode timing() {
    return the_mode;
}
void set_timing(timing_mode mode) {
    the_mode = mode;
}

bandwidth_resource::bandwidth_resource(const config& cfg) : cfg_(cfg) {
    require_picoseconds();
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
    gaps_end_ = sc_core::SC_ZERO_TIME;
    free_at_ = std::max(free_at_, time);
}

/// bytes / rate in the kernel's resolution (1 ps), rounded up so that transfers take time.
/// Multiplies instead of dividing, because it is called several times per transfer.
sc_core::sc_time bandwidth_resource::occupancy(std::uint64_t bytes) const {
    const auto ps =
        static_cast<unsigned __int128>(bytes) * ps_per_byte_ + (1ull << fraction_bits) - 1;
    return time_of(static_cast<std::uint64_t>(ps >> fraction_bits));
}

sc_core::sc_time bandwidth_resource::reserve(std::uint64_t bytes, const sc_core::sc_time& start) {
    bytes_ += bytes;
    if (the_mode == timing_mode::functional) return start;
    const sc_core::sc_time occupied = occupancy(bytes);
    busy_ += occupied;
    if (start < gaps_end_) [[unlikely]]
        return reserve_gaps(start, occupied);
    if (start < free_at_) return free_at_ += occupied;
    if (start > free_at_) add_gap(start);
    return free_at_ = start + occupied;
}

/// The resource stays free until `end`. Nothing can begin before the present.
void bandwidth_resource::add_gap(const sc_core::sc_time& end) {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    if (end <= now) return;
    if (gaps_end_ <= now)
        gaps_.clear();
    else if (gaps_.front().end <= now)
        std::erase_if(gaps_, [&](const gap& each) { return each.end <= now; });
    gaps_.push_back({std::max(free_at_, now), end});
    gaps_end_ = end;
    if (gaps_.size() > max_gaps) join_gaps();
}

/// Makes one gap of two neighbours, with the reservations within it as `taken`: of the two with the
/// shortest ones between.
void bandwidth_resource::join_gaps() {
    const auto taken = [](const gap& first, const gap& second) {
        return first.taken + (second.begin - first.end) + second.taken;
    };
    auto joined = gaps_.begin();
    for (auto each = std::next(joined); std::next(each) != gaps_.end(); ++each)
        if (taken(*each, *std::next(each)) < taken(*joined, *std::next(joined))) joined = each;
    const auto next = std::next(joined);
    *joined = {joined->begin, next->end, taken(*joined, *next)};
    gaps_.erase(next);
}

/// Reserves free time between earlier calls' reservations, and the rest after the last of them. In
/// a joined gap, the reservations that it contains are taken to be the first after any `start`:
/// bytes may be late, never early.
sc_core::sc_time bandwidth_resource::reserve_gaps(const sc_core::sc_time& start,
                                                  sc_core::sc_time occupied) {
    std::size_t n = 0;
    while (gaps_[n].end <= start) ++n;
    if (gaps_[n].begin < start) {  // the part before `start` stays free
        const gap before{gaps_[n].begin, start, gaps_[n].taken};
        gaps_[n].begin = start;
        if (before.has_room())
            gaps_.insert(gaps_.begin() + static_cast<std::ptrdiff_t>(n++), before);
        if (!gaps_[n].has_room()) gaps_.erase(gaps_.begin() + static_cast<std::ptrdiff_t>(n));
    }
    const auto first = gaps_.begin() + static_cast<std::ptrdiff_t>(n);
    auto used = first;
    while (used != gaps_.end() && used->length() <= occupied) {
        occupied -= used->length();
        ++used;
    }
    const sc_core::sc_time end = occupied == sc_core::SC_ZERO_TIME && used != first
                                     ? std::prev(used)->end
                                 : used != gaps_.end() ? (used->begin += occupied) + used->taken
                                                       : free_at_ += occupied;
    gaps_.erase(first, used);
    if (gaps_.size() > max_gaps) join_gaps();
    gaps_end_ = gaps_.empty() ? sc_core::SC_ZERO_TIME : gaps_.back().end;
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <systemc>
#include <vector>

namespace trn {

/// Whether bandwidth resources take simulated time. Affects times, not computed values.
enum class timing_mode { contended, functional };

/// The run's timing mode, set once before elaboration (as the TLM global quantum is).
timing_mode timing();
void set_timing(timing_mode mode);

/// A resource with limited bandwidth: an HBM channel group, a link direction, a DMA engine. A
/// transfer waits until the resource is free, occupies it for bytes / rate, and arrives `latency`
/// later. Costs a few nanoseconds of host time per transfer of any length.
///
/// Reservations are made in the order of calls, but used in the order of time: an initiator that is
/// ahead of the kernel's time leaves the resource free until its start, and a later call with an
/// earlier start uses this gap, as packets of two initiators alternate on a link. The bytes that do
/// not fit follow the last reservation.
class bandwidth_resource {
public:
    struct config {
        std::uint64_t bytes_per_second;
        sc_core::sc_time latency;
    };

    explicit bandwidth_resource(const config& cfg);

    /// Reserves the resource for `bytes` in its free time from `start` (absolute) on. Returns the
    /// time at which the last byte has left; `start` in functional timing.
    sc_core::sc_time reserve(std::uint64_t bytes, const sc_core::sc_time& start);
    /// Keeps the resource occupied until `time` (absolute), when its last bytes are delayed
    /// downstream.
    void hold_until(const sc_core::sc_time& time);
    /// Sets the rate of later reservations.
    void set_rate(std::uint64_t bytes_per_second);
    /// Sends `bytes` at now + `delay`; sets `delay` to the arrival of the last byte.
    void transfer(std::uint64_t bytes, sc_core::sc_time& delay);
    /// Time for which `bytes` occupy the resource.
    sc_core::sc_time occupancy(std::uint64_t bytes) const;

    std::uint64_t bytes() const { return bytes_; }
    /// Simulated time the resource was occupied; utilisation = busy() / elapsed.
    sc_core::sc_time busy() const { return busy_; }
    const config& settings() const { return cfg_; }
    void reset_statistics();

private:
    static constexpr unsigned fraction_bits = 24;
    static constexpr std::size_t max_gaps = 8;
    /// Free time between two reservations, or of two such gaps that were joined.
    struct gap {
        sc_core::sc_time begin, end;
        sc_core::sc_time taken = {};  ///< by reservations between `begin` and `end`
        bool has_room() const { return begin + taken < end; }
        sc_core::sc_time length() const { return end - begin - taken; }
    };

    void add_gap(const sc_core::sc_time& end);
    void join_gaps();
    sc_core::sc_time reserve_gaps(const sc_core::sc_time& start, sc_core::sc_time occupied);

    config cfg_;
    std::uint64_t ps_per_byte_ = 0;  // fixed point; rates from 1 byte per second
    sc_core::sc_time free_at_;       // absolute: the end of the last reservation
    std::vector<gap> gaps_;          // before free_at_, ascending; mostly none
    sc_core::sc_time gaps_end_;      // of the last one; zero without
    sc_core::sc_time busy_;
    std::uint64_t bytes_ = 0;
};

}  // namespace trn

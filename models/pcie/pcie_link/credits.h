// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <systemc>

#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

/// Flow control classes (PCIe 6.0 2.6). No class waits for the credits of another: posted requests
/// pass blocked reads, and completions pass both (2.4.1).
enum class packet_class : std::uint8_t { posted, non_posted, completion };
constexpr std::size_t packet_classes = 3;

/// A receiver's buffer for one class in one direction: two of the six pools (headers and data). A
/// sender waits for credits when its data in flight exceed the pool, or when the receiver cannot
/// forward its buffer. A waiting sender does not occupy the wire, so other classes can use it.
class credit_flow {
public:
    struct pools {
        std::uint64_t headers, bytes;  ///< per link
    };
    struct load {
        std::uint64_t headers, bytes;
    };

    explicit credit_flow(const pools& size);

    /// Sets the number of links; a credit returns one `round_trip` after its use.
    void set(unsigned links, const sc_core::sc_time& round_trip);
    /// Takes credits for a transfer that may start at `start` and occupies the wire for `occupied`,
    /// until `through`. Returns its end including waiting for credits.
    sc_core::sc_time take(const load& wanted, const sc_core::sc_time& start,
                          const sc_core::sc_time& through, const sc_core::sc_time& occupied);
    /// The receiver can forward data beyond its buffer only from `taken` on, at `bytes_per_second`.
    void held_until(const sc_core::sc_time& taken, std::uint64_t bytes_per_second);
    std::uint64_t waits() const { return waits_; }
    /// Credits of all links that are not in use at `now`.
    load available(const sc_core::sc_time& now) const;

private:
    /// Credits for headers or data. `returns`: times at which credits return.
    struct pool {
        std::uint64_t size;
        bandwidth_resource returns{{1, sc_core::SC_ZERO_TIME}};
        sc_core::sc_time last_return = {};
    };

    std::uint64_t available(const pool& credits, const sc_core::sc_time& now) const;

    pool headers_, bytes_;
    unsigned links_ = 1;
    sc_core::sc_time round_trip_, held_;
    std::uint64_t waits_ = 0;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <systemc>

#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

/// Flow control classes (PCIe 6.0 2.6): no class waits for another's credits, so posted requests
/// pass blocked reads, and completions pass both (2.4.1).
enum class packet_class : std::uint8_t { posted, non_posted, completion };
constexpr std::size_t packet_classes = 3;

/// A receiver's buffer for one class in one direction: two of the six pools. A sender waits for
/// returned credits when its data in flight exceed the pool, or when the receiver cannot forward
/// its buffer. A waiting sender does not occupy the wire: other classes use it.
class credit_flow {
public:
    struct pools {
        std::uint64_t headers, bytes;  ///< of each link
    };
    struct load {
        std::uint64_t headers, bytes;
    };

    explicit credit_flow(const pools& size);

    /// Credits of `links` links; each returns one `round_trip` after its use.
    void set(unsigned links, const sc_core::sc_time& round_trip);
    /// A transfer that requests to start at `at` and occupies the wire for `occupied` up to
    /// `through` takes credits; returns its actual end.
    sc_core::sc_time take(const load& wanted, const sc_core::sc_time& at,
                          const sc_core::sc_time& through, const sc_core::sc_time& occupied);
    /// The receiver forwards data beyond its buffer only at `taken`; it moves
    /// `bytes_per_second`, like the sender.
    void held_until(const sc_core::sc_time& taken, std::uint64_t bytes_per_second);
    std::uint64_t waits() const { return waits_; }

private:
    /// Headers or data. `returns`: the return time of the last credit in use.
    struct pool {
        std::uint64_t size;
        bandwidth_resource returns{{1, sc_core::SC_ZERO_TIME}};
    };

    pool headers_, bytes_;
    unsigned links_ = 1;
    sc_core::sc_time round_trip_, held_;
    std::uint64_t waits_ = 0;
};

}  // namespace trn

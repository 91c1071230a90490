// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <systemc>

#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

/// What flow control tells apart (PCIe 6.0 2.6): none of them ever waits for another's credits, so
/// posted requests pass reads that cannot go on, and completions pass both (2.4.1).
enum class packet_class : std::uint8_t { posted, non_posted, completion };
constexpr std::size_t packet_classes = 3;

/// What a receiver can take of one class in one direction: two of the six pools. A sender waits for
/// credits to come back when it has more under way than the pool covers, and for a receiver that
/// cannot pass on what it holds. Who waits does not occupy the wire: other classes use it.
class credit_flow {
public:
    struct pools {
        std::uint64_t headers, bytes;  ///< of each link
    };
    struct load {
        std::uint64_t headers, bytes;
    };

    explicit credit_flow(const pools& size);

    /// Credits of `links` links, that come back one `round_trip` after they were used.
    void set(unsigned links, const sc_core::sc_time& round_trip);
    /// Something that wants to start at `at`, and that occupies the wire for `occupied` up to
    /// `through`, takes credits: returns when it is through in truth.
    sc_core::sc_time take(const load& wanted, const sc_core::sc_time& at,
                          const sc_core::sc_time& through, const sc_core::sc_time& occupied);
    /// The receiver passes on what it has no more room for only at `taken`; it moves
    /// `bytes_per_second` where the sender does.
    void held_until(const sc_core::sc_time& taken, std::uint64_t bytes_per_second);
    std::uint64_t waits() const { return waits_; }

private:
    /// Headers or data. `returns` is when the last credit in use is back.
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

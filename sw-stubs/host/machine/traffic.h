// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sw-stubs/host/machine/device.h"

namespace trn {

/// Concurrent copies by the cores' engines, to load memories, links and switches in measurements of
/// their speed. Rings are in host memory; each engine ends with a marker there (contract 7.5,
/// 13.2), so the host adds a constant time.
class traffic {
public:
    struct segment {
        std::uint64_t source, destination;  ///< AXI addresses of the chip whose engine copies
        std::uint64_t bytes;
        std::uint64_t wrap = 0;  ///< bytes after which it starts again; 0: never
    };
    struct stream {
        std::uint32_t engine;
        std::vector<segment> segments;  ///< in this order
    };
    static constexpr std::uint32_t queue = 0;  ///< of each engine

    /// Writes the rings. `descriptor`: maximum bytes per descriptor, up to 64 KiB. \throws
    /// device_error for an engine that is not a core's
    traffic(device& chip, const std::vector<stream>& streams,
            std::uint32_t descriptor = TRN_DESCRIPTOR_BYTES);
    ~traffic();
    traffic(const traffic&) = delete;
    traffic& operator=(const traffic&) = delete;

    std::uint64_t bytes() const { return bytes_; }  ///< of all streams

    /// Writes all doorbells.
    void start();
    /// Waits for the markers. Returns simulated ns from start() to the last marker, to within one
    /// percent. \throws device_error after an abort or a timeout
    std::uint64_t wait();

private:
    struct lane {
        std::uint32_t engine = 0;
        std::vector<trn_descriptor> m2s = {}, s2m = {};  // including the marker's
        std::uint64_t m2s_at = 0, s2m_at = 0;            // offsets of the rings in memory_
        std::uint32_t length = 0;                        // of each ring
    };

    void add(const stream& wanted, std::uint32_t descriptor);
    void place_rings();
    void write_rings();
    std::uint32_t& word(std::size_t index);
    void explain(const lane& stuck);

    device& chip_;
    std::vector<lane> lanes_;
    std::uint64_t bytes_ = 0, started_ = 0, ring_bytes_ = 0;
    std::unique_ptr<host_buffer> memory_;  // a one, a marker per lane, then the rings
};

}  // namespace trn

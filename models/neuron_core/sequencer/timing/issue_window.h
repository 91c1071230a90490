// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "models/neuron_core/sequencer/timing/footprint.h"
#include "models/neuron_core/sequencer/timing/timing.h"

namespace trn::isa {

/// Computes when the next data-path instruction of one engine may start (spec 5.5, 9.1): after the
/// interval of its predecessor, and after the completion of earlier instructions whose results it
/// reads or whose operands it overwrites. Times are engine cycles.
class issue_window {
public:
    explicit issue_window(const partition_sizes& sizes) : sizes_(sizes) {}

    /// First cycle from `at` on at which the engine, or its part of the array, is free for `i`.
    std::uint64_t free(const instruction& i, std::uint64_t begin) const;
    /// As free(), and all instructions that `i` depends on are complete.
    std::uint64_t earliest(const instruction& i, std::uint64_t begin) const;
    void issued(const instruction& i, const cost& c, std::uint64_t start);
    void reset() { *this = issue_window(sizes_); }

private:
    struct flight {
        std::uint64_t complete;
        std::array<footprint, 2> written;
        std::array<footprint, 4> read;
    };
    struct block {
        std::uint64_t loaded = 0;      ///< completion of its newest LOAD_STATIONARY
        std::uint64_t multiplied = 0;  ///< end of the last multiply
        std::uint64_t previous = 0;    ///< end of the last multiply with its previous stationary
    };
    std::array<footprint, 4> reads_of(const instruction& i) const;
    std::array<footprint, 2> writes_of(const instruction& i) const;

    partition_sizes sizes_;
    std::uint64_t next_ = 0;          // previous start + its interval
    std::uint64_t next_load_ = 0;     // start of the last LOAD_STATIONARY + its interval
    std::array<block, 16> blocks_{};  // 32 x 32 blocks of the array
    std::vector<flight> flights_;
};

/// The memory ports that the engines of one core share (spec 2.5).
class memory_ports {
public:
    struct use {
        sc_core::sc_time until;
        bool sbuf = false;
        std::uint8_t psum_banks = 0;
        bool wide = false;  ///< a Vector instruction in 2x or 4x mode
    };
    static use use_of(const instruction& i, const cost& c, const partition_sizes& sizes);

    /// First time at which `wanted` of engine `e` does not conflict with the use of other engines.
    sc_core::sc_time free_at(engine e, generation g, const use& wanted) const;
    void take(engine e, const use& taken) { uses_[static_cast<unsigned>(e)] = taken; }
    void reset() { uses_ = {}; }

private:
    std::array<use, engine_count> uses_{};
};

}  // namespace trn::isa

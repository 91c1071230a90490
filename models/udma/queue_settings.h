// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/udma/group.h"

namespace trn {

/// The registers of a queue, and those of its engine, as far as each descriptor needs them.
class dma_queue_settings {
public:
    bool is_enabled = false, has_barriers = false, length_0_is_64k = false;
    per_side<std::uint32_t> ring_length{};
    per_side<std::uint64_t> ring_base{}, address_mask{};
    std::uint32_t max_packet_bytes = 0;
    std::uint32_t max_compute_descriptors = 0;  ///< of a side of a packet that computes
    std::uint32_t max_packet_descriptors = 0;   ///< of any packet

    /// Reads the registers again if one of the engine has changed since.
    void update(const register_bank& registers, unsigned queue, unsigned engine) {
        if (as_of_ != registers.changes(engine)) read(registers, queue, engine);
    }

private:
    void read(const register_bank& registers, unsigned queue, unsigned engine);

    std::uint64_t as_of_ = 0;  // register_bank::changes(); 0: never read
};

}  // namespace trn

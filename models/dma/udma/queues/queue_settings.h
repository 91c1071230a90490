// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/dma/udma/queues/group.h"

namespace trn {

/// Cached register values of a queue and its engine that are needed for each descriptor.
class dma_queue_settings {
public:
    bool is_enabled = false, has_barriers = false, length_0_is_64k = false;
    per_side<std::uint32_t> ring_length{};
    per_side<std::uint64_t> ring_base{}, address_mask{};
    std::uint32_t max_packet_bytes = 0;
    std::uint32_t max_compute_descriptors = 0;  ///< for each side of a compute packet
    std::uint32_t max_packet_descriptors = 0;   ///< of any packet

    /// Reads the registers again if a register of the engine has changed.
    void update(const register_bank& registers, unsigned queue, unsigned engine) {
        if (as_of_ != registers.changes(engine)) read(registers, queue, engine);
    }

private:
    void read(const register_bank& registers, unsigned queue, unsigned engine);

    std::uint64_t as_of_ = 0;  // register_bank::changes(); 0: never read
};

}  // namespace trn

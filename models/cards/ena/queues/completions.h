// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "models/cards/ena/queues/ena_io_regs.h"
#include "models/cards/ena/queues/interrupts.h"
#include "models/cards/ena/queues/queues.h"
#include "models/cards/host_ring/host_writer.h"
#include "platform/framework/registers/table_entry.h"

namespace trn::ena_queues {

using io_entry = table_entry<ena_io_regs::rows>;

/// Writes completions to the driver's rings and raises their vectors.
class completions {
public:
    struct filled_buffer {
        std::uint16_t request = 0;
        std::uint16_t length = 0;
    };

    completions(queues& all, host_writer& writer, interrupts& vectors)
        : queues_(all), writer_(writer), interrupts_(vectors) {}

    void sent(std::uint16_t queue, std::uint16_t request);
    /// `packet`: flags of word 0 for the whole packet. Precondition: `buffers` is not empty.
    void received(std::uint16_t queue, std::span<const filled_buffer> buffers,
                  const io_entry& packet);
    /// Fault: the next `count` completions are not written.
    void lose(std::uint64_t count) { lost_ += count; }
    std::uint64_t count() const { return count_; }

private:
    /// Writes the first `bytes` of `entry`, which contain its phase field `phase`. `announces`:
    /// whether to raise the vector.
    void write(const submission_queue& source, io_entry entry, register_field phase,
               std::uint32_t bytes, bool announces);

    queues& queues_;
    host_writer& writer_;
    interrupts& interrupts_;
    std::uint64_t lost_ = 0, count_ = 0;
};

}  // namespace trn::ena_queues

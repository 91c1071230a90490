// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <systemc>

#include "models/cards/ena/queues/queues.h"

namespace trn::ena_queues {

/// Interrupt moderation of completion queues. A message masks its vector until the driver unmasks
/// it, and is delayed to cover several completions.
class interrupts : public sc_core::sc_module {
public:
    static constexpr unsigned delay_unit_us = 1;  ///< unit of the driver's delays

    SC_HAS_PROCESS(interrupts);
    interrupts(sc_core::sc_module_name name, std::function<void(unsigned)> raise);

    /// A completion of a queue of direction `way` is in memory.
    void completed(unsigned vector, direction way);
    /// Write of a completion queue's interrupt register. Delays are in units of delay_unit_us.
    void set(unsigned vector, unsigned receive_delay, unsigned transmit_delay, bool unmask);
    void forget();

private:
    struct vector_state {
        bool unmasked = false;
        std::optional<sc_core::sc_time> due;  // of the message for unannounced completions
        unsigned receive_delay = 0, transmit_delay = 0;
    };

    void run();
    void schedule();

    const std::function<void(unsigned)> raise_;
    std::map<unsigned, vector_state> vectors_;
    sc_core::sc_event due_;
};

}  // namespace trn::ena_queues

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <systemc>

#include "models/ena_queues/queues.h"

namespace trn::ena_queues {

/// The vectors of completion queues: each is masked by its message until the driver unmasks it, and
/// waits for its delay, so that one message covers several completions.
class interrupts : public sc_core::sc_module {
public:
    static constexpr unsigned delay_unit_us = 1;  ///< of the delays that the driver sets

    SC_HAS_PROCESS(interrupts);
    interrupts(sc_core::sc_module_name name, std::function<void(unsigned)> raise);

    /// A completion of this kind of queue is in memory.
    void completed(unsigned vector, direction way);
    /// The driver's register of a completion queue. Delays are in units of delay_unit_us.
    void set(unsigned vector, unsigned receive_delay, unsigned transmit_delay, bool unmask);
    void forget();

private:
    struct vector_state {
        bool unmasked = false;
        std::optional<sc_core::sc_time> due;  // of completions that no message has announced
        unsigned receive_delay = 0, transmit_delay = 0;
    };

    void run();
    void schedule();

    const std::function<void(unsigned)> raise_;
    std::map<unsigned, vector_state> vectors_;
    sc_core::sc_event due_;
};

}  // namespace trn::ena_queues

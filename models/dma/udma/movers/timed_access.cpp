// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/movers/timed_access.h"

#include <algorithm>
#include <systemc>

namespace trn {

/// The time counts from `arrives_at`, not from the access: a write that was ready while earlier
/// transfers were on their way has been on its own way since then.
memory_port::outcome timed_access(dma_transfer& t, memory_port& memory, tlm::tlm_command command,
                                  std::uint64_t address, std::uint8_t* bytes, unsigned length,
                                  pending_access& pending) {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (pending.is_deferred()) t.arrives_at = std::max(t.arrives_at, now);  // responds from now on
    const sc_core::sc_time ahead = std::max(t.arrives_at, now) - now;
    const bool is_reserved = memory.known(command, address) != nullptr;
    sc_core::sc_time delay = ahead;
    const auto result = memory.access(command, address, bytes, length, pending, delay);
    if (result == memory_port::outcome::done && !is_reserved) t.arrives_at += delay - ahead;
    return result;
}

bool has_arrived(const dma_transfer& t) {
    return timing() == timing_mode::functional || t.arrives_at <= sc_core::sc_time_stamp();
}

dma_progress wait_for_arrival(dma_transfer& t) {
    if (has_arrived(t)) return dma_progress::done;
    t.moves_at = t.arrives_at;
    return dma_progress::blocked;
}

}  // namespace trn

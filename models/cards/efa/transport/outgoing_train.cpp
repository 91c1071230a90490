// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/outgoing_train.h"

#include <algorithm>
#include <cstring>

#include "models/cards/efa/transport/access_size.h"

namespace trn::efa_transport {

memory_port::outcome outgoing_train::read(const efa_objects::objects& objects, memory_port& memory,
                                          std::uint32_t left) {
    const auto piece = source.translate(objects, offset + filled, left);
    if (!piece) return memory_port::outcome::failed;
    const auto count = access_size(memory, tlm::TLM_READ_COMMAND, piece->bus_address,
                                   static_cast<std::uint32_t>(piece->bytes), pending);
    auto* const place = &packet->data[filled];
    const std::uint8_t* borrowed = nullptr;
    sc_core::sc_time delay;
    const auto outcome =
        may_lend ? memory.borrow(piece->bus_address, place, count, pending, delay, borrowed)
                 : memory.access(tlm::TLM_READ_COMMAND, piece->bus_address, place, count, pending,
                                 delay);
    if (outcome != memory_port::outcome::done) return outcome;
    add(borrowed, count);
    ready = std::max(ready, sc_core::sc_time_stamp() + delay);
    return outcome;
}

/// Adds bytes that memory has lent (null: they are copied already). Lends only bytes that are
/// together.
void outgoing_train::add(const std::uint8_t* bytes, std::uint32_t count) {
    if (filled == 0) lent = bytes;
    if (bytes == nullptr || bytes != lent + filled) {
        keep_lent();
        if (bytes != nullptr) std::memcpy(&packet->data[filled], bytes, count);
    }
    filled += count;
}

void outgoing_train::keep_lent() {
    if (lent != nullptr) std::memcpy(packet->data.data(), lent, filled);
    lent = nullptr;
    may_lend = false;
}

}  // namespace trn::efa_transport

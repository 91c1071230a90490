// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>

#include "models/cards/efa/objects/memory_walk.h"
#include "models/cards/efa/transport/srd_packet.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::efa_transport {

/// A train whose data is being read from memory.
struct outgoing_train {
    std::unique_ptr<srd_packet> packet;
    efa_objects::memory_walk source;
    std::uint64_t offset = 0;  // of the data in `source`
    unsigned reading = 0;      // packet of the train
    std::uint64_t filled = 0;  // bytes
    sc_core::sc_time ready;    // absolute
    bool may_lend = false;     // the server's program keeps the data until the request ends
    const std::uint8_t* lent = nullptr;  // the filled bytes, if lent
    pending_access pending;

    explicit outgoing_train(sc_core::sc_event& wake) : pending(wake) {}
    /// Reads at most `left` of the next bytes.
    memory_port::outcome read(const efa_objects::objects& objects, memory_port& memory,
                              std::uint32_t left);
    /// Copies the bytes that memory has lent.
    void keep_lent();

private:
    void add(const std::uint8_t* bytes, std::uint32_t count);
};

}  // namespace trn::efa_transport

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>

#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/srd_packet.h"
#include "models/cards/host_ring/host_writer.h"
#include "platform/framework/registers/table_entry.h"

namespace trn::efa_transport {

/// Writes completions to completion queues, and events of armed queues to event queues (EFA
/// contract 12 and 13).
class completions {
public:
    /// `raise`: raises an MSI-X vector.
    completions(efa_objects::objects& objects, host_writer& writer,
                std::function<void(unsigned vector)> raise)
        : objects_(objects), writer_(writer), raise_(std::move(raise)) {}

    struct send_done {
        std::uint16_t id = 0;
        status result = status::ok;
        operation op = operation::send;
    };
    void post(const efa_objects::queue_pair& qp, const send_done& completed,
              const sc_core::sc_time& time);
    struct receive_done {
        std::uint16_t id = 0;
        status result = status::ok;
        operation op = operation::send;
        bool unsolicited = false;
        std::uint32_t length = 0;
    };
    /// `packet`: the packet that completed the receive.
    void post(const efa_objects::queue_pair& qp, const receive_done& completed,
              const srd_packet& packet, const sc_core::sc_time& time);

    void post_flushed_receive(const efa_objects::queue_pair& qp, std::uint16_t id,
                              const sc_core::sc_time& time);

    /// Doorbell write of a completion queue.
    void consumed(std::uint16_t queue, std::uint32_t written);
    /// Doorbell write of an event queue.
    void arm_events(std::uint16_t queue);
    std::uint64_t count() const { return count_; }

private:
    using entry = table_entry<efa_io_regs::rows>;

    void write(std::uint16_t queue, entry& record, const sc_core::sc_time& time);
    void is_written(std::uint16_t queue);
    void send_event(std::uint16_t queue);

    efa_objects::objects& objects_;
    host_writer& writer_;
    std::function<void(unsigned)> raise_;
    std::uint64_t count_ = 0;
};

}  // namespace trn::efa_transport

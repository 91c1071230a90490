// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/ena/queues/completions.h"
#include "models/cards/ena/queues/queues.h"
#include "models/cards/ena/queues/work_loop.h"
#include "models/network/ethernet_switch/packet.h"

namespace trn::ena_queues {

/// Writes each received packet to the driver's buffers, several if needed. Drops a packet if there
/// are not enough buffers. Spec: doc/models/cards/ena_card.md.
class receiver : public work_loop {
public:
    static constexpr std::uint64_t max_waiting = 1u << 20;  ///< bytes of packets; invented

    /// `bus` accesses the driver's memory; the card owns it.
    receiver(sc_core::sc_module_name name, const sc_core::sc_time& processing,
             tlm::tlm_initiator_socket<64>& bus, queues& all, completions& posted);

    /// Takes a packet from the network. Precondition: it is for this card.
    void arrived(std::unique_ptr<ethernet::packet> packet);
    /// Doorbell write of a submission queue.
    void posted(std::uint16_t queue, std::uint16_t count);
    /// The queue was destroyed; drops the present packet if it is for this queue.
    void removed(std::uint16_t queue);
    void forget();

private:
    struct waiting_packet {
        sc_core::sc_time due;
        std::unique_ptr<ethernet::packet> packet;
    };
    struct buffer {
        std::uint64_t address;
        std::uint32_t bytes;
        std::uint16_t request;
    };
    /// The first waiting packet, while it is written to memory.
    struct job {
        io_entry report;  // fields of the packet's completion
        std::uint16_t queue = 0;
        std::vector<buffer> buffers;
        std::uint64_t room = 0;  // sum of the buffers' bytes
        std::size_t buffer_now = 0;
        std::uint64_t written = 0;
        std::uint32_t in_buffer = 0;  // bytes written to the present buffer
        std::vector<completions::filled_buffer> filled;
    };

    progress advance() override;
    sc_core::sc_time next_due() const override { return packets_.front().due; }
    bool choose();
    progress describe(submission_queue& queue);
    progress write(submission_queue& queue);
    void finish(submission_queue& queue);
    void drop();
    void remove_first();

    const sc_core::sc_time processing_;
    queues& queues_;
    completions& completions_;
    std::deque<waiting_packet> packets_;
    std::uint64_t waiting_bytes_ = 0;
    std::optional<job> job_;
};

}  // namespace trn::ena_queues

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/ena_queues/completions.h"
#include "models/ena_queues/queues.h"
#include "models/ena_queues/work_loop.h"
#include "models/ethernet_switch/packet.h"

namespace trn::ena_queues {

/// Writes received packets into buffers of the driver, as many as a packet needs. A packet without
/// enough buffers is dropped. Spec: doc/models/ena_card.md.
class receiver : public work_loop {
public:
    static constexpr std::uint64_t max_waiting = 1u << 20;  ///< bytes of packets; invented

    /// `bus` leads to the driver's memory and belongs to the card.
    receiver(sc_core::sc_module_name name, const sc_core::sc_time& processing,
             tlm::tlm_initiator_socket<64>& bus, queues& of, completions& to);

    /// A packet of the network for this card.
    void arrived(std::unique_ptr<ethernet::packet> what);
    /// Doorbell of a submission queue.
    void posted(std::uint16_t queue, std::uint16_t count);
    /// The queue is gone; a packet in work for it is dropped.
    void removed(std::uint16_t queue);
    void forget();

private:
    struct waiting_packet {
        sc_core::sc_time due;
        std::unique_ptr<ethernet::packet> what;
    };
    struct buffer {
        std::uint64_t address;
        std::uint32_t bytes;
        std::uint16_t request;
    };
    /// The first waiting packet, on its way to memory.
    struct job {
        io_entry report;  // of the packet
        std::uint16_t queue = 0;
        std::vector<buffer> buffers;
        std::uint64_t room = 0;  // bytes of the buffers
        std::size_t buffer_now = 0;
        std::uint64_t written = 0;
        std::uint32_t in_buffer = 0;  // bytes written to the buffer
        std::vector<completions::filled_buffer> filled;
    };

    progress advance() override;
    sc_core::sc_time next_due() const override;
    bool choose();
    progress describe(submission_queue& of);
    progress write(submission_queue& of);
    void finish(submission_queue& of);
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

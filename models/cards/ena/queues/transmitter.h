// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/ena/queues/completions.h"
#include "models/cards/ena/queues/queues.h"
#include "models/cards/ena/queues/send_offloads.h"
#include "models/cards/ena/queues/wire.h"
#include "models/cards/ena/queues/work_loop.h"
#include "models/network/ethernet_switch/packet.h"

namespace trn::ena_queues {

/// Sends packets one by one, with the submission queues in round-robin order; a packet whose last
/// descriptor is not posted yet waits, and other queues go on. A packet is completed when it has
/// left. Spec: doc/models/cards/ena_card.md.
class transmitter : public work_loop {
public:
    struct memories {
        tlm::tlm_initiator_socket<64>& bus;     ///< accesses the driver's memory; the card owns it
        std::span<const std::uint8_t> entries;  ///< entries of low latency queues
    };
    transmitter(sc_core::sc_module_name name, const sc_core::sc_time& processing,
                const memories& memory, queues& all, completions& posted, wire& port);

    /// Doorbell write of a submission queue.
    void posted(std::uint16_t queue, std::uint16_t count);
    /// The queue was destroyed; drops its packet.
    void removed(std::uint16_t queue);
    void forget();

private:
    struct buffer {
        std::uint64_t address;
        std::uint32_t bytes;
    };
    /// A packet from its first descriptor until it has left.
    struct job {
        std::uint16_t queue = 0;
        unsigned descriptors = 0;
        std::optional<std::uint16_t> request;  // from the descriptor of its first buffer
        send_offloads wanted;
        std::vector<std::uint8_t> header;  // bytes of the packet in its low latency entry
        std::uint32_t header_length = 0;
        std::vector<buffer> buffers;
        std::uint64_t length = 0;
        bool described = false, refused = false;
        std::unique_ptr<ethernet::packet> packet;
        std::size_t buffer_now = 0;
        std::uint32_t done = 0;  // bytes read from the present buffer
        sc_core::sc_time ready;  // absolute
        std::optional<sc_core::sc_time> leaves;
    };

    progress advance() override;
    sc_core::sc_time next_due() const override { return *job_->leaves; }
    bool choose();
    progress describe();
    progress read_descriptor(submission_queue& queue);
    void take_entry(submission_queue& queue);
    void take(submission_queue& queue, const io_entry& descriptor);
    void take_meta(submission_queue& queue, const io_entry& descriptor);
    void take_first(const submission_queue& queue, const io_entry& descriptor);
    std::uint64_t max_bytes() const;
    progress fill();
    void send();
    void finish();

    const sc_core::sc_time processing_;
    const std::span<const std::uint8_t> entries_;
    queues& queues_;
    completions& completions_;
    wire& port_;
    std::optional<job> job_;
    std::map<std::uint16_t, job> incomplete_;  // waiting for descriptors, by queue
    std::uint16_t turn_ = 0;                   // queue of the last packet
};

}  // namespace trn::ena_queues

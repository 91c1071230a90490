// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/efa/objects/memory_walk.h"
#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/arrivals.h"
#include "models/cards/efa/transport/completions.h"
#include "models/cards/efa/transport/packet_sender.h"
#include "models/cards/efa/transport/srd_packet.h"
#include "platform/framework/registers/table_entry.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::efa_transport {

/// The responder of an EFA card: checks packets of other cards, writes their data to memory, takes
/// posted receives, and acknowledges. Also writes the data of this card's reads. Handles trains of
/// packets one at a time, in the order of arrival of their first packets. Spec:
/// doc/models/cards/efa_card.md.
class packet_receiver : public sc_core::sc_module {
public:
    static constexpr std::uint32_t global_header = 40;  ///< bytes before the data of a datagram

    SC_HAS_PROCESS(packet_receiver);
    /// `bus` accesses the server's memory; the card owns it.
    packet_receiver(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus,
                    efa_objects::objects& objects, packet_sender& sender, completions& posted);

    void arrived(std::unique_ptr<srd_packet> packet);
    /// Doorbell write of a receive queue.
    void posted(std::uint32_t queue_pair, std::uint16_t count);
    /// The queue pair stops: its posted receives are flushed with completions, or discarded.
    void stop(std::uint32_t queue_pair, bool flushes);
    void forget();
    void invalidate(std::uint64_t first, std::uint64_t last) { memory_.invalidate(first, last); }

private:
    using entry = table_entry<efa_io_regs::rows>;
    /// Descriptors of a posted receive.
    struct receive {
        bool is_complete = false;
        std::uint32_t descriptors = 0;
        std::uint16_t id = 0;
        std::array<efa_objects::memory_walk::element, efa_objects::limits::receive_elements>
            elements = {};
        sc_core::sc_time ready = {};  // absolute: when the descriptors are read
    };
    /// The present train; kept while memory defers accesses.
    struct reception {
        bool checked = false;  // not a repeated packet
        bool admitted = false;
        bool takes_receive = false;  // consumes an entry of the receive queue
        receive taken;
        efa_objects::memory_walk place;
        std::uint32_t first = 0;   // byte of `place` at which the data begins
        unsigned storing = 0;      // packet of the train
        std::uint64_t stored = 0;  // bytes
        sc_core::sc_time ready;    // absolute: when the data is in memory
    };
    using progress = memory_port::outcome;

    void run();
    progress take(srd_packet& packet);
    progress take_send(srd_packet& packet);
    progress take_write(srd_packet& packet);
    progress take_response(srd_packet& packet);
    progress take_read(srd_packet& packet);

    /// The queue pair that the packet is for; nullptr if the packet is refused or dropped.
    efa_objects::queue_pair* admitted_to(const srd_packet& packet);
    bool peer_is_known(const srd_packet& packet);
    progress fetch(efa_objects::queue_pair& qp, receive& taken, pending_access& pending);
    progress flush();
    void end_flush();
    void end_train();
    progress store(srd_packet& train);
    progress store(srd_packet& train, const sc_core::sc_time& arrival, std::uint32_t left);
    void finish_send(const srd_packet& packet, efa_objects::queue_pair& qp);
    void respond(status result, const sc_core::sc_time& ready);
    void refuse(const srd_packet& packet, status why);
    bool permits(const srd_packet& packet, const efa_objects::queue_pair& qp,
                 efa_objects::memory_access access) const;
    static bool has_receive(const efa_objects::queue_pair& qp);
    static void add_global_header(srd_packet& packet);

    memory_port memory_;
    efa_objects::objects& objects_;
    packet_sender& sender_;
    completions& completions_;
    arrivals arrivals_;
    std::deque<std::unique_ptr<srd_packet>> queue_;
    reception now_;                       // state of queue_'s first packet
    std::deque<std::uint32_t> flushing_;  // handles of queue pairs in the error state
    receive flushed_;                     // receive being flushed, of flushing_'s first
    sc_core::sc_time latest_;  // absolute: when the data of all earlier packets is in memory
    sc_core::sc_event arrival_;
    pending_access pending_{arrival_};        // for the present train
    pending_access pending_flush_{arrival_};  // for flushed_
};

}  // namespace trn::efa_transport

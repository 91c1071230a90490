// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/completions.h"
#include "models/cards/efa/transport/connection.h"
#include "models/cards/efa/transport/outgoing_train.h"
#include "models/cards/efa/transport/send_queues.h"
#include "models/cards/efa/transport/send_request.h"
#include "models/cards/efa/transport/srd_packet.h"
#include "models/cards/efa/transport/unready.h"
#include "models/cards/efa/transport/wire.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn::efa_transport {

/// The requester of an EFA card: sends the packets of the requests in its send queues, repeats
/// unacknowledged packets, and ends each request that is answered. Also sends the data that other
/// cards read. Packets of an RDMA request leave in trains, repeated packets alone. Spec:
/// doc/models/cards/efa_card.md.
class packet_sender : public sc_core::sc_module {
public:
    struct config {
        std::uint32_t packet = 8192;  ///< bytes of data in a packet of an RDMA request
        std::uint32_t mtu = 8928;     ///< bytes of the longest datagram
        unsigned window = 512;        ///< unacknowledged packets to one card
        unsigned retries = 7;         ///< without an answer, before requests to the card fail
        sc_core::sc_time processing{1500, sc_core::SC_NS};  ///< per packet sent
        sc_core::sc_time retransmit{100, sc_core::SC_US};   ///< minimum timeout
        sc_core::sc_time not_ready{50, sc_core::SC_US};     ///< delay before resending (RNR)
        bool rdma_read = true, rdma_write = true;
    };
    struct counts {
        std::uint64_t packets = 0, retransmits = 0, out_of_order = 0;
    };

    SC_HAS_PROCESS(packet_sender);
    /// `rings`: BAR2. `bus` accesses the server's memory; the card owns it.
    packet_sender(sc_core::sc_module_name name, const config& cfg,
                  tlm::tlm_initiator_socket<64>& bus, std::span<const std::uint8_t> rings,
                  efa_objects::objects& objects, wire& port, completions& posted);

    /// Doorbell write of a send queue.
    void posted(std::uint32_t handle, std::uint16_t count) { queues_.posted(handle, count); }
    void stop(std::uint32_t handle, bool flushes);
    void address_handle_removed(std::uint16_t number);
    /// Sends the data of another card's read. Precondition: the read is permitted.
    void answer_read(std::unique_ptr<srd_packet> asked);
    /// Acknowledges a packet of another card. `ready`: when its data is in memory (absolute).
    void respond(std::unique_ptr<srd_packet> packet, status result, const sc_core::sc_time& ready);
    /// Handles another card's response.
    void responded(std::unique_ptr<srd_packet> response);
    /// The request that waits for data of a read; null if it has ended. Marks packets of the train
    /// whose data has arrived before as lost.
    const send_request* reader(srd_packet& response);
    /// The data of a read is in memory at `time` (absolute), unless `result` is an error.
    void data_arrived(const srd_packet& response, status result, const sc_core::sc_time& time);
    /// Continues after a change of a queue pair's state.
    void wake() { work_.notify(sc_core::SC_ZERO_TIME); }

    void forget();
    void invalidate(std::uint64_t first, std::uint64_t last);
    const counts& counters() const { return counters_; }
    const send_queues::counts& requests() const { return queues_.counters(); }
    unsigned unacknowledged() const { return unacknowledged_; }

private:
    /// Packets of a queue pair that may be sent to another card.
    struct stream_name {
        std::uint32_t queue_pair;  // handle
        ethernet::address card;
        auto operator<=>(const stream_name&) const = default;
    };
    struct stream_item {
        std::uint64_t message;
        std::optional<std::uint32_t> packet;  // nothing: all that were never sent
    };
    /// A queue pair of another card without receives for sends of a queue pair.
    struct receiver_name {
        stream_name stream;
        std::uint16_t queue_pair;  // number
        auto operator<=>(const receiver_name&) const = default;
    };
    /// Another card.
    struct peer {
        connection link;
        std::vector<stream_name> parked = {};  // streams that wait for room in the window
        bool is_repeating = false;             // in repeating_
        sc_core::sc_time timer = sc_core::sc_max_time();  // in timers_, unless it is the maximum
        std::vector<std::uint32_t> free_slots = {};
        std::uint32_t next_slot = 0;
    };
    /// Packets of a request that leave together.
    struct departing {
        std::uint32_t first, count;
        std::uint64_t number;  // of the first in the connection
        sc_core::sc_time time;
    };

    void run();
    void expire();
    void expire_packets(ethernet::address card);
    void set_timer(ethernet::address card, peer& remote);
    void reopen(ethernet::address card, peer& remote);
    void fail_all(ethernet::address card, status why);
    void remove_ended();
    void add(const stream_name& stream, const stream_item& added);
    void refused(send_request& request, std::uint32_t packet);
    void release(const receiver_name& receiver, unsigned count, bool as_probe);
    void probe();
    static receiver_name receiver_of(const send_request& request);
    peer& peer_of(ethernet::address card);
    peer* find_peer(ethernet::address card);
    void begin_request(send_request& request);
    void end_request(send_request& request);
    std::uint32_t packet_bytes(const send_request& request) const;
    progress fill();
    void give_up(status refusal);
    void dispatch();
    void lend();
    progress choose();
    progress choose_repeated();
    progress choose_own();
    std::uint32_t next_train(const send_request& request, std::uint32_t room) const;
    void prepare(send_request& request, const departing& train);
    void identify(send_request& request, const departing& train, srd_packet& packet);
    bool answers_reads(std::uint16_t queue_pair_number) const;
    void prepare_response();
    void take_answer(const srd_packet& answer, std::uint32_t count, std::uint8_t missing,
                     status result, const sc_core::sc_time& time);
    void finish_packet(send_request& request, std::uint32_t number);
    sc_core::sc_time departure() const;

    const config cfg_;
    memory_port memory_;
    efa_objects::objects& objects_;
    wire& port_;
    const std::uint32_t max_train_;  // packets
    bool answered_ = false;          // the last packet was for another card's read
    unsigned unacknowledged_ = 0;    // packets that were sent, but are not done
    std::optional<outgoing_train> outgoing_;
    std::deque<std::unique_ptr<srd_packet>> peer_reads_;  // reads of other cards

    const connection::config link_;
    std::uint32_t connections_ = 0;  // number of all connections; survives resets
    std::map<ethernet::address, peer> peers_;
    /// Each stream is in ready_ or parked, also if all of its requests have ended.
    std::map<stream_name, std::deque<stream_item>> streams_;
    std::deque<stream_name> ready_;            // streams in turn
    std::deque<ethernet::address> repeating_;  // cards with packets to repeat, and room for them
    std::set<std::pair<sc_core::sc_time, ethernet::address>> timers_;  // of packets in flight
    std::map<receiver_name, unready> unready_;                         // each has a probe
    std::set<std::pair<sc_core::sc_time, receiver_name>> probes_;      // by time
    sc_core::sc_event work_;
    send_queues queues_;
    counts counters_;
};

}  // namespace trn::efa_transport

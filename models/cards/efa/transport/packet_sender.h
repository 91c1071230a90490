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

#include "models/cards/efa/objects/memory_walk.h"
#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/completions.h"
#include "models/cards/efa/transport/connection.h"
#include "models/cards/efa/transport/srd_packet.h"
#include "models/cards/efa/transport/unready.h"
#include "models/cards/efa/transport/wire.h"
#include "platform/framework/registers/table_entry.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::efa_transport {

/// The requester of an EFA card: fetches work requests, sends their packets, repeats unacknowledged
/// ones, and completes requests in the order in which they end. Also sends the data that other
/// cards read. Packets of an RDMA request leave in trains, repeated ones alone. Spec:
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
        std::uint64_t completed = 0, failed = 0;
    };
    /// A work request from its fetch to its completion.
    struct request {
        std::uint32_t queue_pair = 0;  // handle
        std::uint64_t message = 0;
        std::uint16_t id = 0;
        operation op = operation::send;
        bool datagram = false, has_immediate = false, wants_completion = true;
        std::uint32_t immediate = 0;
        std::uint16_t address_handle = 0, destination_qp = 0;
        std::uint32_t qkey = 0;
        ethernet::address card = 0;
        std::uint32_t length = 0;
        std::uint32_t rkey = 0;
        std::uint64_t remote = 0;
        std::vector<std::uint8_t> inlined;
        efa_objects::memory_walk local;

        std::vector<std::weak_ptr<srd_packet::lent_data>> lent;  // of packets that may be in flight
        std::uint32_t packets = 0;
        std::uint32_t next = 0;             // next packet to send for the first time
        std::uint32_t left = 0;             // packets not done
        std::uint32_t furthest = 0;         // highest packet that is done
        std::uint32_t refusals = 0;         // number of receiver-not-ready responses
        bool is_probe = false;              // asks for all that wait for the receiver
        std::optional<std::uint32_t> slot;  // of a write of several packets with immediate data
        trace::slice slice = {};

        std::uint32_t flying() const { return next + left - packets; }  // sent, but not done
        bool takes_receive() const { return op == operation::send || has_immediate; }
    };

    SC_HAS_PROCESS(packet_sender);
    /// `rings`: BAR2. `bus` accesses the server's memory; the card owns it.
    packet_sender(sc_core::sc_module_name name, const config& cfg,
                  tlm::tlm_initiator_socket<64>& bus, std::span<const std::uint8_t> rings,
                  efa_objects::objects& objects, wire& port, completions& to);

    /// Doorbell write of a send queue.
    void posted(std::uint32_t queue_pair, std::uint16_t count);
    void stop(std::uint32_t queue_pair, bool flushes);
    void address_handle_removed(std::uint16_t number);
    /// Sends the data of another card's read. Precondition: the read is permitted.
    void answer_read(std::unique_ptr<srd_packet> asked);
    /// Acknowledges a packet of another card. `ready`: when its data is in memory (absolute).
    void respond(std::unique_ptr<srd_packet> to, status how, const sc_core::sc_time& ready);
    /// Handles another card's response.
    void responded(std::unique_ptr<srd_packet> response);
    /// The request that waits for data of a read; null if it has ended. Marks packets of the train
    /// whose data has arrived before as lost.
    const request* reader(srd_packet& response);
    /// The data of a read is in memory at `when` (absolute), unless `how` is an error.
    void data_arrived(const srd_packet& response, status how, const sc_core::sc_time& when);
    /// Continues after a change of a queue pair's state.
    void wake();

    void forget();
    void invalidate(std::uint64_t first, std::uint64_t last);
    const config& settings() const { return cfg_; }
    const counts& counters() const { return counters_; }
    unsigned unacknowledged() const { return unacknowledged_; }

private:
    using entry = table_entry<efa_io_regs::rows>;
    /// A work request in its ring: words of its first 64 bytes, and all its bytes.
    struct work_request {
        entry words;
        std::span<const std::uint8_t> bytes;
    };
    /// The page list of a fast registration, read before the work request is taken.
    struct page_list {
        std::uint16_t queue_pair;  // number
        std::vector<std::uint64_t> pages;
        pending_access pending;
        std::size_t filled = 0;  // bytes

        page_list(std::uint16_t of, std::size_t count, sc_core::sc_event& wake)
            : queue_pair(of), pages(count), pending(wake) {}
    };
    /// Packets of a queue pair that may be sent to another card.
    struct stream_name {
        std::uint32_t from;  // handle
        ethernet::address to;
        auto operator<=>(const stream_name&) const = default;
    };
    struct stream_item {
        std::uint64_t message;
        std::optional<std::uint32_t> packet;  // nothing: all that were never sent
    };
    /// A queue pair of another card without receives for sends of a queue pair.
    struct receiver_name {
        stream_name stream;
        std::uint16_t to;  // number
        auto operator<=>(const receiver_name&) const = default;
    };
    /// The send queue of a queue pair.
    struct send_queue {
        std::set<std::uint64_t> messages;  // fetched, but not ended
        std::deque<std::pair<trace::operation, unsigned>> posted;
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
        sc_core::sc_time when;
    };
    /// The train whose data is being read from memory.
    struct outgoing {
        std::unique_ptr<srd_packet> packet;
        efa_objects::memory_walk from;
        std::uint64_t offset = 0;  // of the data in `from`
        unsigned reading = 0;      // packet of the train
        std::uint64_t filled = 0;  // bytes
        sc_core::sc_time ready;    // absolute
        bool may_lend = false;     // the server's program keeps the data until the request ends
        const std::uint8_t* lent = nullptr;  // the filled bytes, if lent
        pending_access pending;

        explicit outgoing(sc_core::sc_event& wake) : pending(wake) {}
        void add(const std::uint8_t* bytes, std::uint32_t count);
        void keep_lent();
    };
    enum class progress { idle, moved, blocked };

    void run();
    void expire();
    void expire_packets(ethernet::address card);
    void set_timer(ethernet::address card, peer& of);
    void reopen(ethernet::address card, peer& of);
    void fail_all(ethernet::address card, status why);
    void remove_ended();
    void add(const stream_name& to, const stream_item& added);
    void refused(request& of, std::uint32_t packet);
    void release(const receiver_name& at, unsigned count, bool as_probe);
    void probe();
    static receiver_name receiver_of(const request& of);
    peer& peer_of(ethernet::address card);
    peer* find_peer(ethernet::address card);
    progress fetch();
    progress fetch_one(std::uint32_t handle, efa_objects::queue_pair& qp, send_queue& queue);
    static void decode(const entry& words, const efa_objects::queue_pair& qp, request& to);
    std::optional<status> decode_remote(const work_request& from, const efa_objects::queue_pair& qp,
                                        request& to) const;
    std::optional<status> decode_send(const work_request& from, const efa_objects::queue_pair& qp,
                                      request& to) const;
    std::optional<status> decode_rdma(const work_request& from, const efa_objects::queue_pair& qp,
                                      request& to) const;
    static std::optional<status> decode_inline(const work_request& from,
                                               const efa_objects::queue_pair& qp, std::size_t at,
                                               request& to);
    progress read_pages(const entry& words, const efa_objects::queue_pair& qp);
    status enroll(const entry& words, const efa_objects::queue_pair& qp);
    status withdraw(const entry& words, const efa_objects::queue_pair& qp);
    efa_objects::memory_region* fast_region(const entry& words, const efa_objects::queue_pair& qp);
    progress fill();
    memory_port::outcome read(std::uint32_t left);
    void give_up(status refusal);
    void dispatch();
    void lend();
    static void keep_lent(request& of);
    progress choose();
    progress choose_repeated();
    progress choose_own();
    std::uint32_t next_train(const request& of, std::uint32_t room) const;
    void prepare(request& of, const departing& train);
    void identify(request& of, const departing& train, srd_packet& packet);
    bool answers_reads(std::uint16_t queue_pair_number) const;
    void prepare_response();
    void take_answer(const srd_packet& answer, std::uint32_t count, std::uint8_t missing,
                     status how, const sc_core::sc_time& when);
    void complete(std::uint64_t message, status how, const sc_core::sc_time& when);
    void remove(std::uint64_t message);
    void finish_packet(request& of, std::uint32_t number);
    void count(const request& of, status how);
    request* lookup(std::uint64_t message);
    sc_core::sc_time departure() const;

    const config cfg_;
    memory_port memory_;
    const std::span<const std::uint8_t> rings_;
    efa_objects::objects& objects_;
    wire& port_;
    completions& completions_;
    const std::uint32_t max_train_;  // packets
    std::uint64_t next_message_ = 1;
    std::map<std::uint64_t, request> requests_;
    std::map<std::uint32_t, send_queue> queues_;  // by handle, from the first doorbell on
    bool answered_ = false;                       // the last packet was for another card's read
    unsigned unacknowledged_ = 0;                 // packets that were sent, but are not done
    std::optional<outgoing> outgoing_;
    std::optional<page_list> list_;                       // of the next work request
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
    counts counters_;
};

}  // namespace trn::efa_transport

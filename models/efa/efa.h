// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/efa/efa_entry_regs.h"
#include "models/ethernet_fabric/frame.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/plug.h"

namespace trn {

namespace efa_regs {
enum class reg : std::uint16_t;
}

enum class efa_generation : std::uint8_t { v2, v3, v4 };

/// An Elastic Fabric Adapter on a Nitro card: queue pairs whose work requests write to and read
/// from the memory of other cards' hosts and chips. Data moves directly between source and
/// destination, by requests to bus addresses: a chip's HBM is a BAR of its server. Reliable without
/// order: packets take any path, are acknowledged one by one and retransmitted when lost;
/// completions come in the order of the work requests. Spec: doc/models/efa.md.
class efa : public sc_core::sc_module,
            public plug::device,
            public publishes_statistics,
            public describes_wait {
public:
    struct config {
        efa_generation generation = efa_generation::v4;
        /// Bytes per second and direction; 0: what the generation has (100, 200, 400 Gb/s).
        std::uint64_t rate = 0;
        std::uint32_t packet = 8192;  ///< bytes of data in a packet
        unsigned window = 512;        ///< unacknowledged packets
        unsigned retries = 7;         ///< of a packet, before its request fails
        sc_core::sc_time processing{1500, sc_core::SC_NS};  ///< in each card, each way; invented
        sc_core::sc_time retransmit{100, sc_core::SC_US};   ///< after sending; invented

        std::uint64_t bytes_per_second() const;
    };
    /// notify: a write, also an empty one, after which the other card writes a word: once, when all
    /// of the data is in its memory.
    enum class opcode : std::uint8_t {
        write = efa_entry_regs::request::opcode_write,
        read = efa_entry_regs::request::opcode_read,
        notify = efa_entry_regs::request::opcode_notify,
    };
    enum class status : std::uint8_t {
        ok = efa_entry_regs::completion::status_ok,
        /// No such opcode, length 0 but of a notify, more than 1 GiB.
        bad_request = efa_entry_regs::completion::status_bad_request,
        /// The data's address on this side does not answer.
        local_access = efa_entry_regs::completion::status_local_access,
        /// No such region there, not for that, or its memory does not answer.
        remote_access = efa_entry_regs::completion::status_remote_access,
        /// No acknowledgement after all retries.
        unreachable = efa_entry_regs::completion::status_unreachable,
    };
    struct counts {
        std::uint64_t sent = 0, received = 0;  ///< bytes of data
        std::uint64_t packets = 0;             ///< of data, sent
        std::uint64_t retransmits = 0;
        std::uint64_t out_of_order = 0;  ///< packets of data that came after a later one
        std::uint64_t completions = 0, failures = 0;
        std::uint64_t notices = 0, lost_notices = 0;  ///< lost: memory did not take it
    };

    register_socket registers{"registers", regs_};           ///< efa.regs.yaml
    tlm_utils::simple_initiator_socket<efa, 64> dma{"dma"};  ///< bus addresses
    plug net{"net", *this};                                  ///< to an ethernet_fabric
    irq_out irq{"irq"};                                      ///< for MSI-X vector 0
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) forget();
                 }};

    SC_HAS_PROCESS(efa);
    efa(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }
    const counts& counters() const { return counters_; }
    void publish(statistics& out) const override;
    std::optional<std::string> describe_wait() const override;

private:
    using frame = ethernet::frame;
    using frame_pointer = std::unique_ptr<frame>;
    static constexpr unsigned queue_pairs = 64;
    static constexpr unsigned regions = 16;
    static constexpr std::uint32_t max_entries = 32768;
    static constexpr std::uint32_t longest = 1u << 30;  // bytes of a work request

    struct packet_state {
        sc_core::sc_time sent;
        unsigned tries = 0;
        bool done = false;
    };
    /// A work request from its fetch to its completion.
    struct work {
        std::uint32_t number = 0;  // of the queue pair
        opcode what = opcode::write;
        status result = status::ok;
        ethernet::address card = 0;
        std::uint16_t region = 0;
        std::uint32_t id = 0, length = 0;
        std::uint64_t local = 0, remote = 0;
        decltype(frame::notice) notice = {};  // of a notify
        std::vector<packet_state> packets;
        std::uint32_t next = 0;      // packet that was never sent
        std::uint32_t left = 0;      // packets that are not done
        std::uint32_t flying = 0;    // sent and not done
        std::uint32_t furthest = 0;  // packet that was done
        trace::slice slice = {};
        bool over() const { return left == 0 || result != status::ok; }
    };
    struct pair {
        bool running = false;
        std::uint16_t tail = 0, fetched = 0, head = 0;
        std::deque<work> works;  // those fetched and not completed, oldest first
        /// Operations whose requests are not fetched yet, and how many requests each has.
        std::deque<std::pair<trace::operation, unsigned>> posted;
    };
    /// Received packets of another card's queue pair, of writes with notification.
    struct arrivals {
        std::uint32_t oldest = 0;  // that the other card still has packets of
        struct message {
            std::vector<bool> here;  // by packet; empty when all are
            std::uint32_t left = 0;
        };
        std::map<std::uint32_t, message> messages;
    };
    struct announcement {
        std::uint64_t at = 0;
        std::uint32_t value = 0;
        trace::operation of = 0;
    };
    /// The packet that is being read from memory.
    struct outgoing {
        frame_pointer what;
        std::uint64_t from = 0;    // bus address of its data
        std::uint32_t filled = 0;  // bytes
        sc_core::sc_time ready;    // absolute
    };
    struct packet_name {
        unsigned pair;
        std::uint32_t message, packet;
    };
    // blocked: the process waits for `later`; failed: memory refused
    enum class progress { idle, moved, blocked, failed };

    // plug::device
    void received(plug& at, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;

    void revoke(sc_dt::uint64 first, sc_dt::uint64 last);
    void forget();
    void start_pair(unsigned index, std::uint64_t written);
    void fail_pair(unsigned index);
    void drop_works(pair& of);
    void doorbell(unsigned index, std::uint64_t written);
    void update_irq();
    std::uint64_t wide(efa_regs::reg low, efa_regs::reg high, unsigned index) const;

    // the sending process
    void transmit();
    void expire();
    progress fill();
    progress tell();
    progress complete();
    progress complete_one(unsigned index);
    progress fetch();
    progress fetch_one(unsigned index);
    progress access_ring(tlm::tlm_command command, unsigned index, std::uint64_t at,
                         std::span<std::uint32_t> entry);
    progress choose();
    progress choose_own();
    void prepare(unsigned index, work& of, std::uint32_t packet);
    void put_on_wire(frame_pointer what, const sc_core::sc_time& ready);
    work* find(unsigned index, std::uint32_t message);
    void fail(work& of, status why);
    sc_core::sc_time patience() const;

    // the receiving process
    void receive();
    progress take(frame_pointer& what);
    progress store(frame& what);
    bool came_before(const frame& what);
    void count_arrival(const frame& what);
    void announce(const announcement& what, const sc_core::sc_time& when);
    bool allowed(const frame& what, bool write) const;
    bool in_region(unsigned region, std::uint64_t at, std::uint32_t length, bool write) const;
    void reply(const frame& what, frame::kind how);
    void done(const frame& what);

    const config cfg_;
    register_bank regs_;
    memory_port out_memory_{dma}, in_memory_{dma}, notice_memory_{dma};
    deferral out_later_, in_later_, notice_later_;
    bandwidth_resource lane_;  // to the fabric
    std::vector<std::unique_ptr<pair>> pairs_;
    std::array<std::uint32_t, queue_pairs> next_message_{};  // each number once before they wrap
    unsigned turn_ = 0;                                      // source of the next packet
    bool answered_ = false;  // the last packet answered another card's request
    ethernet::address address_ = 0;
    unsigned unacknowledged_ = 0;
    std::optional<outgoing> outgoing_;
    std::multimap<sc_core::sc_time, packet_name> deadlines_;
    std::deque<packet_name> again_;  // packets to send again
    std::map<std::pair<ethernet::address, std::uint16_t>, arrivals> arrivals_;
    std::multimap<sc_core::sc_time, announcement> notices_;  // to be written at these times
    std::deque<frame_pointer> asked_;                        // requests of other cards
    std::deque<frame_pointer> arrived_;
    std::uint32_t stored_ = 0;     // bytes of the first of them
    sc_core::sc_time stored_at_;   // absolute
    sc_core::sc_time lane_free_;   // absolute
    sc_core::sc_time round_trip_;  // smoothed
    sc_core::sc_event work_, arrival_;
    counts counters_;
};

}  // namespace trn

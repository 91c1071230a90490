// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/efa/admin/efa_admin.h"
#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/completions.h"
#include "models/cards/efa/transport/packet_receiver.h"
#include "models/cards/efa/transport/packet_sender.h"
#include "models/cards/efa/transport/wire.h"
#include "models/cards/host_ring/host_writer.h"
#include "models/cards/nitro_management/nitro_management.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/window_socket.h"

namespace trn {

/// An Elastic Fabric Adapter for its public driver and verbs provider: BAR0 with the registers of
/// nitro_management and doorbell pages, BAR2 with send rings, queue pairs of UD and SRD, RDMA read
/// and write to registered memory. Spec: doc/models/cards/efa_card.md; EFA contract.
class efa_card : public sc_core::sc_module,
                 public nitro::admin_target,
                 public efa_admin::listener,
                 public plug::device,
                 public publishes_statistics,
                 public publishes_signals,
                 public accepts_faults,
                 public describes_wait {
public:
    enum class generation : std::uint8_t { v2, v3, v4 };
    struct config {
        efa_card::generation generation = efa_card::generation::v4;
        /// Bytes per second and direction; 0: the generation's rate (100, 200 or 400 Gb/s).
        std::uint64_t rate = 0;
        std::uint64_t guid = 1;
        bool rdma_read = true, rdma_write = true;
        unsigned vectors = 9;         ///< MSI-X: 0 for commands and events, others for event queues
        unsigned event_queues = 8;    ///< 0: none, software polls completion queues
        bool shared_rings = false;    ///< other processes can map BAR2
        std::uint32_t packet = 8192;  ///< bytes of data in a packet of an RDMA request
        std::uint32_t mtu = 8928;     ///< bytes of the longest datagram
        unsigned window = 512;        ///< unacknowledged packets to one card
        unsigned retries = 7;         ///< without an answer, before requests to the card fail
        sc_core::sc_time processing{1500, sc_core::SC_NS};  ///< per packet sent; invented
        sc_core::sc_time retransmit{100, sc_core::SC_US};   ///< minimum timeout; invented
        sc_core::sc_time keep_alive{1, sc_core::SC_SEC};    ///< interval of events; 0: none
        sc_core::sc_time command_time{10, sc_core::SC_US};  ///< per admin command; invented

        std::uint64_t bytes_per_second() const;
    };
    static constexpr std::uint64_t bar0_size = 4u << 20;
    static constexpr std::uint64_t send_rings_size = efa_objects::limits::send_rings_bytes;

    window_socket registers{"registers"};                         ///< BAR0
    tlm::tlm_target_socket<64> send_rings{"send_rings"};          ///< BAR2
    tlm_utils::simple_initiator_socket<efa_card, 64> dma{"dma"};  ///< bus addresses
    plug net{"net", *this};                                       ///< to an ethernet_fabric
    sc_core::sc_vector<irq_out> irq;  ///< rises for each message of an MSI-X vector
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) forget();
                 }};

    SC_HAS_PROCESS(efa_card);
    efa_card(sc_core::sc_module_name name, const config& cfg);

    const efa_objects::objects& objects() const { return objects_; }
    const nitro_management& management() const { return management_; }
    const efa_transport::packet_sender& sender() const { return sender_; }
    void publish(statistics& out) const override;
    void publish_signals(signal_list& out) const override {
        out.number("sender.unacknowledged", 32, [this] { return sender_.unacknowledged(); });
        out.transactions("sender");
    }
    std::vector<fault> faults() override;
    std::optional<std::string> describe_wait() const override;

private:
    using payload = tlm::tlm_generic_payload;

    void ring_doorbell(payload& request, sc_core::sc_time& delay);
    unsigned peek_doorbell(payload&) { return 0; }
    void revoke(sc_dt::uint64 first, sc_dt::uint64 last);
    void forget();
    void keep_alive();

    // nitro::admin_target
    nitro::step begin(const nitro::admin_entry& command) override { return admin_.begin(command); }
    nitro::step resume(std::span<const std::uint8_t> bytes) override {
        return admin_.resume(bytes);
    }
    void reset_by_driver() override;
    void raise(unsigned vector) override {
        if (vector < irq.size()) irq[vector].pulse();
    }
    // efa_admin::listener
    void queue_pair_stopped(std::uint32_t handle, bool flushes) override;
    void ring_removed(const host_ring& ring) override;
    void queue_pair_started(std::uint32_t) override { sender_.wake(); }
    void address_handle_removed(std::uint16_t number) override {
        sender_.address_handle_removed(number);
    }
    void events_enabled(std::uint32_t groups) override;
    efa_objects::gid own_gid() const override { return efa_objects::gid_of(wire_.address()); }
    // plug::device
    void received(plug& local, payload& payload, sc_core::sc_time& delay) override;

    const config cfg_;
    register_bank own_registers_;
    memory rings_;
    efa_objects::objects objects_;
    nitro_management management_;
    efa_admin admin_;
    host_writer writer_;
    efa_transport::wire wire_;
    efa_transport::completions completions_;
    efa_transport::packet_sender sender_;
    efa_transport::packet_receiver receiver_;
    bool keeps_alive_ = false;
    sc_core::sc_event keep_alive_due_;
};

}  // namespace trn

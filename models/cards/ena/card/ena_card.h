// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/cards/ena/admin/ena_admin.h"
#include "models/cards/ena/queues/completions.h"
#include "models/cards/ena/queues/interrupts.h"
#include "models/cards/ena/queues/queues.h"
#include "models/cards/ena/queues/receiver.h"
#include "models/cards/ena/queues/transmitter.h"
#include "models/cards/ena/queues/wire.h"
#include "models/cards/host_ring/host_writer.h"
#include "models/cards/nitro_management/nitro_management.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/window_socket.h"

namespace trn {

/// An Elastic Network Adapter for its public driver: BAR0 with the registers of nitro_management,
/// doorbells and interrupt registers; BAR2 with low latency queues. Spec:
/// doc/models/cards/ena_card.md; EFA contract 23.
class ena_card : public sc_core::sc_module,
                 public nitro::admin_target,
                 public ena_admin::listener,
                 public plug::device,
                 public publishes_statistics,
                 public accepts_faults {
public:
    struct config {
        std::uint64_t serial = 1;  ///< of the card
        std::uint64_t mac = 0;     ///< first byte highest; 0: 02, then 40 bits of the serial number
        std::uint64_t rate = 12'500'000'000;  ///< bytes per second and direction
        unsigned queues = 8;                  ///< per direction
        unsigned vectors = 9;                 ///< MSI-X vectors: 0 for commands and events
        unsigned low_latency_queues = 8;      ///< send queues in BAR2; 0: none
        bool shared_entries = false;          ///< other processes can map BAR2
        sc_core::sc_time processing{2, sc_core::SC_US};     ///< per packet and direction; invented
        sc_core::sc_time keep_alive{1, sc_core::SC_SEC};    ///< interval of events; 0: none
        sc_core::sc_time command_time{10, sc_core::SC_US};  ///< per admin command; invented
    };
    static constexpr std::uint64_t bar0_size = 16u << 10;
    static constexpr std::uint64_t entries_size = ena_queues::card_entry::memory_bytes;

    window_socket registers{"registers"};                         ///< BAR0
    tlm::tlm_target_socket<64> entries{"entries"};                ///< BAR2: low latency queues
    tlm_utils::simple_initiator_socket<ena_card, 64> dma{"dma"};  ///< bus addresses
    plug net{"net", *this};                                       ///< to an ethernet_switch
    sc_core::sc_vector<irq_out> irq;  ///< rises for each message of an MSI-X vector
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) forget();
                 }};

    SC_HAS_PROCESS(ena_card);
    ena_card(sc_core::sc_module_name name, const config& cfg);

    const ena_queues::queues& queues() const { return queues_; }
    const nitro_management& management() const { return management_; }
    const ena_admin& admin() const { return admin_; }
    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    using payload = tlm::tlm_generic_payload;

    void set_up_registers();
    void revoke(sc_dt::uint64 first, sc_dt::uint64 last);
    void forget();
    void keep_alive();
    void fail();
    bool failed() const;
    void set_link(bool up);
    void report_link();

    // nitro::admin_target
    nitro::step begin(const nitro::admin_entry& command) override { return admin_.begin(command); }
    nitro::step resume(std::span<const std::uint8_t> bytes) override {
        return admin_.resume(bytes);
    }
    void reset_by_driver() override;
    void raise(unsigned vector) override {
        if (vector < irq.size()) irq[vector].pulse();
    }
    // ena_admin::listener
    void queue_removed(std::uint16_t number) override;
    void ring_removed(const host_ring& ring) override;
    void events_enabled(std::uint32_t groups) override;
    std::uint32_t doorbell_of(std::uint16_t number) const override;
    std::uint32_t interrupt_of(std::uint16_t number) const override;
    // plug::device
    void received(plug& local, payload& payload, sc_core::sc_time& delay) override;

    const config cfg_;
    const ethernet::mac_address mac_;
    register_bank own_registers_;
    memory entries_;
    ena_queues::queues queues_;
    nitro_management management_;
    ena_admin admin_;
    host_writer writer_;
    ena_queues::wire wire_;
    ena_queues::interrupts interrupts_;
    ena_queues::completions completions_;
    ena_queues::transmitter transmitter_;
    ena_queues::receiver receiver_;
    std::uint32_t events_ = 0;    // groups that the driver has enabled
    bool link_reported_ = false;  // since the reset; false too if there was no room
    std::uint64_t lost_keep_alives_ = 0;
    sc_core::sc_event keep_alive_due_;
};

}  // namespace trn

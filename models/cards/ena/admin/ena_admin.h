// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/cards/ena/admin/ena_admin_regs.h"
#include "models/cards/ena/queues/queues.h"
#include "models/cards/host_ring/host_ring.h"
#include "models/cards/nitro_management/admin_target.h"
#include "models/cards/nitro_management/driver_profile.h"
#include "models/network/ethernet_switch/packet.h"
#include "platform/framework/registers/table_entry.h"

namespace trn {

/// Executes the admin commands of an ENA card: features, creation and removal of queues,
/// statistics. Does not access memory or simulated time; returns a memory_request for data that a
/// command needs. Spec: doc/models/cards/ena_admin.md.
class ena_admin {
public:
    using entry = table_entry<ena_admin_regs::rows>;

    struct config {
        ethernet::mac_address mac{};
        std::uint32_t megabits = 100'000;  ///< link rate
        unsigned queues = 8;               ///< per direction
        unsigned vectors = 9;  ///< number of MSI-X vectors; vector 0 is the admin queue's
        unsigned card_rings = ena_queues::limits::max_card_rings;  ///< number of low latency queues
    };
    /// Receives changes of queues and events, and knows BAR0's layout; implemented by the card.
    class listener {
    public:
        virtual void queue_removed(std::uint16_t number) = 0;
        /// Nothing more may be written to the ring of a completion queue.
        virtual void ring_removed(const host_ring& ring) = 0;
        /// `groups`: bit mask of the groups of events that the driver enables.
        virtual void events_enabled(std::uint32_t groups) = 0;
        /// BAR0 offset of a submission queue's doorbell.
        virtual std::uint32_t doorbell_of(std::uint16_t number) const = 0;
        /// BAR0 offset of a completion queue's interrupt register.
        virtual std::uint32_t interrupt_of(std::uint16_t number) const = 0;

    protected:
        ~listener() = default;
    };

    ena_admin(const config& cfg, ena_queues::queues& queues, listener& engine);

    nitro::step begin(const nitro::admin_entry& command);
    nitro::step resume(std::span<const std::uint8_t> bytes);
    void reset();
    /// Kernel release from the driver's HOST_ATTRIBUTES; "" before it.
    const std::string& host_kernel() const { return driver_.kernel(); }

private:
    nitro::step get_feature(const entry& command) const;
    nitro::step set_feature(const entry& command);
    nitro::step set_low_latency(const entry& command);
    nitro::step set_rss_table(const entry& command);
    nitro::step set_hash_function(const entry& command);
    nitro::step take_host_information(std::span<const std::uint8_t> bytes);
    nitro::step take_rss_table(std::span<const std::uint8_t> bytes);
    nitro::step take_hash_key(std::span<const std::uint8_t> bytes);
    nitro::step device_attributes() const;
    nitro::step queue_numbers() const;
    nitro::step low_latency() const;
    std::optional<std::uint64_t> ring_of(const entry& command) const;
    nitro::step link() const;
    nitro::step get_stats(const entry& command) const;
    nitro::step create_cq(const entry& command);
    nitro::step destroy_cq(const entry& command);
    nitro::step create_sq(const entry& command);
    nitro::step destroy_sq(const entry& command);

    const config cfg_;
    ena_queues::queues& queues_;
    listener& engine_;
    nitro::driver_profile driver_;
    // Resumes the command that waits for memory.
    nitro::step (ena_admin::*awaits_)(std::span<const std::uint8_t>) = nullptr;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "models/cards/efa/admin/efa_admin_regs.h"
#include "models/cards/efa/admin/listener.h"
#include "models/cards/efa/admin/queue_pair_commands.h"
#include "models/cards/efa/admin/region_commands.h"
#include "models/cards/efa/objects/objects.h"
#include "models/cards/nitro_management/admin_target.h"
#include "models/cards/nitro_management/driver_profile.h"
#include "platform/framework/registers/table_entry.h"

namespace trn {

/// Executes the admin commands of an EFA card: creates, changes and removes its objects. Does not
/// access memory or simulated time; returns a memory_request for data that a command needs. Spec:
/// doc/models/cards/efa_admin.md; EFA contract 7, 8, 14, 15, 17.
class efa_admin {
public:
    using entry = table_entry<efa_admin_regs::rows>;

    struct config {
        bool rdma_read = true, rdma_write = true;
        std::uint32_t mtu = 8928;      ///< bytes of the longest datagram
        std::uint16_t gigabits = 100;  ///< link rate
        std::uint64_t guid = 1;
        std::uint16_t doorbell_bar = 0;
        std::uint32_t max_eq = 0;
        unsigned vectors = 1;  ///< number of MSI-X vectors; vector 0 is the admin queue's
    };
    using listener = efa_admin_listener;

    efa_admin(const config& cfg, efa_objects::objects& objects, listener& engine);

    nitro::step begin(const nitro::admin_entry& command);
    nitro::step resume(std::span<const std::uint8_t> bytes);
    void reset();

private:
    using objects = efa_objects::objects;
    using queue_pair = efa_objects::queue_pair;

    nitro::step get_feature(const entry& command);
    nitro::step set_feature(const entry& command);
    nitro::step device_attributes() const;
    nitro::step network_attributes() const;
    nitro::step queue_attributes() const;
    nitro::step get_stats(const entry& command) const;

    nitro::step alloc_pd();
    nitro::step dealloc_pd(const entry& command);
    nitro::step alloc_uar();
    nitro::step dealloc_uar(const entry& command);

    nitro::step create_eq(const entry& command);
    nitro::step destroy_eq(const entry& command);
    nitro::step create_cq(const entry& command);
    nitro::step destroy_cq(const entry& command);
    nitro::step create_ah(const entry& command);
    nitro::step destroy_ah(const entry& command);

    const config cfg_;
    objects& objects_;
    listener& engine_;
    queue_pair_commands queue_pairs_;
    region_commands regions_;
    nitro::driver_profile driver_;
};

}  // namespace trn

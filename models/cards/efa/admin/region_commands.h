// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/cards/efa/admin/efa_admin_regs.h"
#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/objects/page_list.h"
#include "models/cards/nitro_management/admin_target.h"
#include "platform/framework/registers/table_entry.h"

namespace trn {

/// The admin commands of memory regions.
class region_commands {
public:
    using entry = table_entry<efa_admin_regs::rows>;
    /// What a card permits.
    struct access {
        bool rdma_read, rdma_write;
    };

    region_commands(efa_objects::objects& objects, const access& permitted)
        : objects_(objects), permitted_(permitted) {}

    /// REG_MR; may return a request for a list of pages, whose bytes go to resume().
    nitro::step enroll(const nitro::admin_entry& header, const entry& command);
    bool is_waiting() const { return list_.has_value(); }
    nitro::step resume(std::span<const std::uint8_t> bytes);
    nitro::step allocate(const entry& command);
    nitro::step remove(const entry& command);
    void reset() { list_.reset(); }

private:
    efa_objects::memory_region::permissions allowed(const entry& command) const;
    nitro::step finish(std::optional<efa_objects::memory_region> made);

    efa_objects::objects& objects_;
    const access permitted_;
    entry command_;  // REG_MR that waits for its list
    std::optional<efa_objects::page_list> list_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/cards/efa/admin/efa_admin_regs.h"
#include "models/cards/efa/admin/listener.h"
#include "models/cards/efa/objects/objects.h"
#include "models/cards/nitro_management/admin_target.h"
#include "platform/framework/registers/table_entry.h"

namespace trn {

/// The admin commands of queue pairs (EFA contract 8).
class queue_pair_commands {
public:
    using entry = table_entry<efa_admin_regs::rows>;

    queue_pair_commands(efa_objects::objects& objects, efa_admin_listener& engine)
        : objects_(objects), engine_(engine) {}

    nitro::step create(const entry& command);
    nitro::step modify(const entry& command);
    nitro::step query(const entry& command) const;
    nitro::step destroy(const entry& command);
    void reset();

private:
    efa_objects::objects& objects_;
    efa_admin_listener& engine_;
    std::uint32_t created_ = 0;  // number of queue pairs; selects the upper bits of their numbers
};

}  // namespace trn

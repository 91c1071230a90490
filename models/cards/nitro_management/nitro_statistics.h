// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

/// The counters that nitro_management publishes for its card, and the counters of the card itself.
inline std::vector<statistic> with_nitro_statistics(const std::vector<statistic>& own) {
    std::vector<statistic> all{{"admin_commands", "", "executed"},
                               {"failed_admin_commands", "", "of these, with an error"},
                               {"events", "", "asynchronous events sent"},
                               {"lost_events", "", "events without room in their queue"},
                               {"readless_reads", "", "of registers through memory"}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

}  // namespace trn

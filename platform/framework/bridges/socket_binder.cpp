// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/socket_binder.h"

#include <fmt/format.h>

#include <bit>

#include "platform/framework/bridges/reports.h"

namespace trn {

bool socket_binder::admit(const end& initiator, const end& target) {
    const auto refuse = [&](const std::string& reason) {
        bridge_report::binding(fmt::format("cannot bind {} ({} bits) to {} ({} bits): {}",
                                           initiator.name, initiator.width, target.name,
                                           target.width, reason));
        return false;
    };
    for (const end* const each : {&initiator, &target}) {
        if (each->width < 32 || each->width > 512 || !std::has_single_bit(each->width))
            return refuse(fmt::format("{} is not 32, 64, 128, 256 or 512 bits wide", each->name));
        if (const auto bound = peers_.find(each->name); bound != peers_.end())
            return refuse(fmt::format("{} is bound to {} already", each->name, bound->second));
    }
    if (initiator.is_single) peers_[initiator.name] = target.name;
    if (target.is_single) peers_[target.name] = initiator.name;
    return true;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding/unbound_ends.h"

#include <fmt/format.h>

#include "platform/framework/netlist/binding/end_resolver.h"

namespace trn {

const config::node* unbound_ends::bound_at(const plan::endpoint& end) const {
    const auto found = bound_.find(end.key());
    return found == bound_.end() ? nullptr : &found->second;
}

bool unbound_ends::excused(const plan::endpoint& end) const {
    if (excused_.contains(end.key()) || excused_modules_.contains(end.module)) return true;
    for (auto m = all_.result.module_of(end).parent;; m = all_.result.modules[m].parent) {
        if (excused_modules_.contains(m)) return true;
        if (m == plan::none) break;
    }
    if (misnamed_.contains({all_.result.module_of(end).parent, all_.result.port_of(end).name}))
        return true;
    const auto shown = outermost_.find(end.key());
    return shown != outermost_.end() &&
           misnamed_.contains(
               {all_.result.modules[shown->second.assembly].parent, shown->second.port});
}

void unbound_ends::report() const {
    for (std::uint32_t m = 0; m < all_.result.modules.size(); ++m) {
        const plan::module& module = all_.result.modules[m];
        if (module.built_as == nullptr) continue;
        const auto& ports = module.built_as->ports;
        for (std::uint32_t p = 0; p < ports.size(); ++p) {
            if (ports[p].may_be_unbound) continue;
            const auto count = static_cast<std::uint32_t>(sockets_of(ports[p], module.config));
            for (std::uint32_t i = 0; i < count; ++i) check({m, p, i});
        }
    }
}

void unbound_ends::check(const plan::endpoint& end) const {
    if (bound_.contains(end.key()) || excused(end)) return;
    const plan::module& module = all_.result.module_of(end);
    const auto shown = outermost_.find(end.key());
    if (shown == outermost_.end())
        return all_.report(
            module.node, mistake::unbound,
            fmt::format("{} '{}' is not bound", to_string(all_.result.port_of(end).role),
                        all_.result.local_text(end)),
            all_.result.port_of(end).doc);
    const plan::module& container = all_.result.modules[shown->second.assembly];
    all_.report(container.node, mistake::unbound,
                fmt::format("port '{}.{}' is not bound", container.name, shown->second.port),
                fmt::format("it is {} {}: {}", to_string(all_.result.port_of(end).role),
                            all_.result.local_text(end), all_.result.port_of(end).doc));
}

}  // namespace trn

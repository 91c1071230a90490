// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding/binding_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace trn {

namespace {

using port_key = std::pair<std::uint32_t, std::uint32_t>;  // module and port

bool is_output(port_role role) {
    return role == port_role::initiator || role == port_role::irq_out || role == port_role::uses;
}

std::string with_article(port_role role) {
    const auto word = to_string(role);
    return fmt::format("{} {}", word[0] == 'i' ? "an" : "a", word);
}

/// Checks that each link fits into one block of lanes. Blocks are filled in the order of the
/// device's ports; remaining lanes of several blocks cannot form a link.
void check_blocks(planning& all) {
    struct cable {
        const plan::binding* binding;
        const plan::endpoint* here;
        std::uint64_t links, width;
    };
    std::map<port_key, std::vector<cable>> devices;  // by module and port
    for (const auto& b : all.result.bindings)
        for (const auto& [here, there] :
             {std::pair{&b.source, &b.target}, {&b.target, &b.source}}) {
            const port& far = all.result.port_of(*there);
            if (!all.result.port_of(*here).block || !far.lanes) continue;
            const auto& config = all.result.module_of(*there).config;
            const auto links = far.links ? far.links(config) : 1;
            if (links == 0 || far.lanes(config) < links) continue;  // the model reports it (E54)
            devices[{here->module, here->port}].push_back(
                {&b, here, links, far.lanes(config) / links});
        }
    for (auto& [device, cables] : devices) {
        std::ranges::stable_sort(cables, {}, [](const cable& c) { return c.here->index; });
        const port& plug = all.result.port_of(*cables.front().here);
        const auto& config = all.result.module_of(*cables.front().here).config;
        const auto block = plug.block(config), room = plug.room(config);
        if (block == 0) continue;  // the model reports it (E54)
        std::uint64_t used = 0, sum = 0;
        for (const auto& [binding, here, links, width] : cables) {
            sum += links * width;
            if (sum > room) break;  // reported as E57
            for (std::uint64_t n = 0; n < links; ++n) {
                const auto left = block - used % block;
                used += width <= left ? width : left + width;
            }
            if (used <= room && width <= block) continue;
            all.report(binding->node, mistake::no_block_has_room,
                       fmt::format("'{}' is {} x{}, for which no block of {} lanes has room",
                                   all.result.local_text(*here), links, width, block));
            break;
        }
    }
}

}  // namespace

bool arrow_fits(planning& all, const plan::endpoint& source,
                const std::optional<plan::endpoint>& target, bool both_ways,
                const config::node& node) {
    const auto is_plug = [&](const plan::endpoint& end) {
        return all.result.port_of(end).role == port_role::plug;
    };
    const auto refuse = [&](std::string message, std::string suggestion) {
        all.report(node, mistake::not_two_plugs, std::move(message), std::move(suggestion));
        return false;
    };
    const bool plugs = is_plug(source) && (!target || is_plug(*target));
    if (plugs && !both_ways)
        return refuse(
            fmt::format("'{}' is a plug, which works both ways", all.result.local_text(source)),
            fmt::format("write '{} <-> {}'", all.result.local_text(source),
                        target ? all.result.local_text(*target) : std::string("none")));
    if (plugs && target && source.key() == target->key())
        return refuse(fmt::format("'{}' is joined to itself", all.result.local_text(source)),
                      "a wire has two ends");
    if (plugs || (!both_ways && !is_plug(source) && !(target && is_plug(*target)))) return true;
    const plan::endpoint& other = is_plug(source) ? *target : source;
    return refuse(fmt::format("'{}' is {}, not a plug", all.result.local_text(other),
                              with_article(all.result.port_of(other).role)),
                  is_plug(source) || (target && is_plug(*target))
                      ? "a plug meets a plug: 'chip0.port0 <-> wire0.a'"
                      : "'->' leads from an initiator to a target, '<->' joins two plugs");
}

bool directions_fit(planning& all, const plan::endpoint& source, const plan::endpoint& target,
                    const config::node& node) {
    const port_role left = all.result.port_of(source).role, right = all.result.port_of(target).role;
    if (left == port_role::initiator && right == port_role::target) return true;
    if (left == port_role::irq_out && right == port_role::irq_in) return true;
    if (left == port_role::plug && right == port_role::plug) return true;
    if (left == port_role::uses && right == port_role::provides &&
        all.result.port_of(source).interface == all.result.port_of(target).interface)
        return true;
    const bool swapped = is_output(right) && !is_output(left);
    all.report(node, mistake::wrong_direction,
               fmt::format("'{}' is {} and '{}' is {}", all.result.local_text(source),
                           with_article(left), all.result.local_text(target), with_article(right)),
               swapped
                   ? "the arrow points from the initiator or interrupt output"
                   : "an initiator goes to a target, an irq_out to an irq_in, a user to a provider "
                     "of what it uses");
    return false;
}

bool window_fits(planning& all, const plan::endpoint& source, const plan::endpoint& target,
                 const std::optional<plan::range>& window, const config::node& node) {
    const port& initiator = all.result.port_of(source);
    const auto refuse = [&](mistake code, std::string message) {
        all.report(node, code, std::move(message));
        return false;
    };
    if (initiator.ranged && !window)
        return refuse(mistake::range_expected,
                      fmt::format("'{}' decodes addresses: add '@ base + size'",
                                  all.result.local_text(source)));
    if (!initiator.ranged && window)
        return refuse(mistake::range_expected,
                      fmt::format("'{}' sends every address: only a router's initiator has ranges",
                                  all.result.local_text(source)));
    if (!window) return true;
    constexpr auto last = std::numeric_limits<std::uint64_t>::max();
    if (window->size == 0) return refuse(mistake::out_of_range, "a range of 0 bytes");
    if (window->size - 1 > last - window->base || window->size - 1 > last - window->target_base)
        return refuse(mistake::out_of_range, "the range leaves 64 bits");
    const port& receiver = all.result.port_of(target);
    const std::uint64_t room =
        receiver.size ? receiver.size(all.result.module_of(target).config) : 0;
    if (room == 0) return true;
    if (window->target_base < room && window->size <= room - window->target_base) return true;
    return refuse(
        mistake::range_too_large,
        fmt::format("'{}' is {}: 0x{:x} + {} reaches past it", all.result.local_text(target),
                    to_string(bytes{room}), window->target_base, to_string(bytes{window->size})));
}

void check_overlaps(planning& all) {
    std::map<std::uint64_t, std::vector<const plan::binding*>> routers;
    for (const auto& b : all.result.bindings)
        if (b.window) routers[b.source.key()].push_back(&b);
    for (auto& [router, list] : routers) {
        std::ranges::stable_sort(list, {}, [](const auto* b) { return b->window->base; });
        const plan::binding* reaches_furthest = nullptr;
        for (const auto* b : list) {
            const auto* before = reaches_furthest;
            const auto end = b->window->base + (b->window->size - 1);
            const auto end_before =
                before != nullptr ? before->window->base + (before->window->size - 1) : 0;
            if (before != nullptr && b->window->base <= end_before)
                all.report(b->node, mistake::range_overlap,
                           fmt::format("0x{:x} + {} of '{}' is taken", b->window->base,
                                       to_string(bytes{b->window->size}),
                                       all.result.local_text(b->source)),
                           fmt::format("by '{}' at {}", all.result.local_text(before->target),
                                       place_text(before->node)));
            if (before == nullptr || end > end_before) reaches_furthest = b;
        }
    }
}

void check_lanes(planning& all) {
    const auto lanes_of = [&](const plan::endpoint& end) {
        const auto& lanes = all.result.port_of(end).lanes;
        return lanes ? lanes(all.result.module_of(end).config) : 0;
    };
    std::map<port_key, std::uint64_t> used;  // by module and port
    for (const auto& b : all.result.bindings) {
        if (all.result.port_of(b.source).role != port_role::plug) continue;
        const auto left = lanes_of(b.source), right = lanes_of(b.target);
        if (left != 0 && right != 0 && left != right)
            all.report(b.node, mistake::lane_mismatch,
                       fmt::format("'{}' has {} lanes and '{}' {}", all.result.local_text(b.source),
                                   left, all.result.local_text(b.target), right));
        for (const auto& [end, added] : {std::pair{b.source, right}, {b.target, left}}) {
            if (!all.result.port_of(end).room) continue;
            auto& sum = used[{end.module, end.port}];
            const auto room = all.result.port_of(end).room(all.result.module_of(end).config);
            if (sum <= room && sum + added > room)
                all.report(b.node, mistake::too_many_lanes,
                           fmt::format("'{}' has {} lanes, '{}' makes it {}",
                                       all.result.module_of(end).name, room,
                                       all.result.local_text(end), sum + added));
            sum += added;
        }
    }
    check_blocks(all);
}

}  // namespace trn

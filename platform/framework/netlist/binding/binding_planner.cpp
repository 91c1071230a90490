// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding/binding_planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/framework/netlist/binding/binding_checks.h"
#include "platform/framework/netlist/binding/forwarding_checks.h"

namespace trn {

namespace {

/// The end with its module counted from `container`.
plan::endpoint relative(plan::endpoint end, std::uint32_t container) {
    end.module -= container;
    return end;
}
/// The end that relative() gave.
plan::endpoint absolute(plan::endpoint end, std::uint32_t container) {
    end.module += container;
    return end;
}

}  // namespace

void binding_planner::connect(const scope& here) {
    const bool is_whole = here.container != plan::none && here.broken.empty();
    if (const auto* known = is_whole ? wirings_.find(here) : nullptr) return repeat(here, *known);
    made_ = {};
    const auto before = all_.mistakes();
    bind(here);
    export_ports(here);
    if (is_whole && !all_.full && all_.mistakes() == before) wirings_.keep(here, std::move(made_));
}

/// Connects an instance like an earlier one; only parameters of modules can make it fail.
void binding_planner::repeat(const scope& here, const wiring& known) {
    const auto before = all_.mistakes();
    for (const auto& l : known.lines) {
        const auto source = absolute(l.source, here.container);
        if (l.target)
            add(source, absolute(*l.target, here.container), l.window, l.node);
        else
            leave_unbound(source, l.node);
    }
    if (all_.mistakes() != before) unbound_.excuse_module(here.container);
    for (const auto& p : known.ports) show(here, p.name, absolute(p.inner, here.container), p.node);
}

void binding_planner::bind(const scope& here) {
    excuse_broken(here);
    const auto list = here.file->root().find("bind");
    if (!list) return;
    if (!list.is_list()) return all_.report(list, mistake::wrong_shape, "a list was expected");
    for (const auto& node : list.items()) {
        bind_entry e(all_, here);
        if (!e.read(node)) {
            unbound_.excuse_module(here.container);
            continue;
        }
        for (std::uint64_t k = 0; k < e.count() && !all_.full; ++k) {
            const auto before = all_.mistakes();
            const bool bound = bind_once(here, e, k);
            if (bound && all_.mistakes() == before) continue;
            excuse(here, e, k);
            if (!bound) break;
        }
    }
}

bool binding_planner::bind_once(const scope& here, bind_entry& e, std::uint64_t k) {
    auto repetition = e.line(k);
    if (!repetition || !e.place(k, *repetition)) return false;
    const auto& line = repetition->line;
    const auto source = ends_.find(here, line.source, e.node());
    const auto target = line.target ? ends_.find(here, *line.target, e.node()) : std::nullopt;
    if (!source || line.target.has_value() != target.has_value()) return false;
    if (!arrow_fits(all_, *source, target, line.both_ways, e.node())) return false;
    made_.lines.push_back({relative(*source, here.container),
                           target ? std::optional(relative(*target, here.container)) : std::nullopt,
                           line.window, e.node()});
    if (target)
        add(*source, *target, line.window, e.node());
    else
        leave_unbound(*source, e.node());
    return true;
}

// --- Ends of lines with errors, which are not reported as unbound

/// Excuses the ends of the entry's line, from repetition `k` on, from the unbound check.
void binding_planner::excuse(const scope& here, bind_entry& e, std::uint64_t k) {
    constexpr std::uint64_t max_excused = 10'000;  // more costs time, and reports nothing
    all_.quiet = true;
    for (const auto first = k; k < e.count(); ++k) {
        auto repetition = e.line(k);
        if (!repetition || k - first == max_excused) {
            unbound_.excuse_module(here.container);
            break;
        }
        e.place(k, *repetition);
        excuse_end(here, repetition->line.source, e.node());
        if (repetition->line.target) excuse_end(here, *repetition->line.target, e.node());
    }
    all_.quiet = false;
}

/// An end that is not found may refer to any port of the module, or to any port of that name.
void binding_planner::excuse_end(const scope& here, const bind_line::end& end,
                                 const config::node& node) {
    const bool quiet = std::exchange(all_.quiet, true);
    if (const auto found = ends_.find(here, end, node))
        unbound_.excuse(*found);
    else if (const auto module = here.modules.find(end.module); module != here.modules.end())
        unbound_.excuse_module(module->second);
    else
        unbound_.excuse_name(here.container, end.port);
    all_.quiet = quiet;
}

/// A module with invalid parameters has an unknown number of plugs.
void binding_planner::excuse_broken(const scope& here) {
    for (const auto& [name, module] : here.modules)
        if (here.is_broken(name)) unbound_.excuse_module(module);
}

// --- Binding of two ends

void binding_planner::add(const plan::endpoint& source, const plan::endpoint& target,
                          const std::optional<plan::range>& window, const config::node& node) {
    if (all_.result.bindings.size() >= planning::max_bindings)
        return all_.too_many(node, "bindings", planning::max_bindings);
    if (!directions_fit(all_, source, target, node) ||
        !window_fits(all_, source, target, window, node))
        return;
    plan::binding made{source, target, window, 0, false, node};
    if (window) {
        const auto [pair, fresh] = pairs_.try_emplace({source.key(), target.key()}, 0);
        if (fresh) pair->second = router_ports_[source.key()]++;
        made.router_port = pair->second;
        made.repeated = !fresh;
    }
    if (!made.repeated && !(may_bind(source, node) && may_bind(target, node))) return;
    unbound_.bind(source, node);
    unbound_.bind(target, node);
    all_.result.bindings.push_back(made);
}

bool binding_planner::may_bind(const plan::endpoint& end, const config::node& node) {
    if (all_.result.port_of(end).many) return true;
    const auto* const earlier = unbound_.bound_at(end);
    if (earlier == nullptr) return true;
    all_.report(node, mistake::bound_twice,
                fmt::format("'{}' is bound already", all_.result.local_text(end)),
                "first at " + place_text(*earlier));
    return false;
}

/// Explicitly unbound ends: `udma0.irq -> none` leaves the line open, `link.a <-> none` the plug.
void binding_planner::leave_unbound(const plan::endpoint& source, const config::node& node) {
    const port_role role = all_.result.port_of(source).role;
    if (role != port_role::irq_out && role != port_role::plug &&
        !all_.result.port_of(source).may_be_unbound)
        return all_.report(node, mistake::unbound,
                           fmt::format("'{}' cannot stay unbound", all_.result.local_text(source)));
    if (may_bind(source, node)) unbound_.bind(source, node);
}

// --- Ports of assemblies

void binding_planner::export_ports(const scope& here) {
    const auto list = here.file->root().find("ports");
    if (!list) return;
    for (const auto& e : list.entries()) {
        const std::string name = e.key_node.name();
        if (!e.value.is_map()) {
            if (const auto inner = all_.text(e.value, here.values))
                export_one(here, name, *inner, e.value);
            continue;
        }
        e.value.only({"port", "count"}, "a repeated port");
        const auto port = e.value.find("port"), count = e.value.find("count");
        if (!port || !count) {
            all_.report(e.value, mistake::missing_key, "a repeated port has 'port' and 'count'");
            continue;
        }
        bind_entry repeated(all_, here);
        if (!repeated.read_port(port, count)) continue;
        for (std::uint64_t k = 0; k < repeated.count(); ++k) {
            const auto inner = repeated.text(k);
            if (!inner) break;
            export_one(here, fmt::format("{}{}", name, k), *inner, port);
        }
    }
}

void binding_planner::export_one(const scope& here, const std::string& name, std::string_view inner,
                                 const config::node& node) {
    const auto parsed = parse_end(inner);
    if (const auto* why = std::get_if<config::refusal>(&parsed)) return all_.report(node, *why);
    const auto end = ends_.find(here, std::get<bind_line::end>(parsed), node);
    if (!end) return excuse_end(here, std::get<bind_line::end>(parsed), node);
    if (here.container == plan::none)
        return open(name, *end, std::get<bind_line::end>(parsed).index.has_value(), node);
    made_.ports.push_back({name, relative(*end, here.container), node});
    show(here, name, *end, node);
}

void binding_planner::show(const scope& here, const std::string& name, const plan::endpoint& inner,
                           const config::node& node) {
    if (!ends_.show(here.container, name, inner))
        return all_.report(node, mistake::module_twice, fmt::format("two ports '{}'", name));
    unbound_.show(inner, here.container, name);
}

/// A port of the board itself. Without an outside it has no effect: the end is bound inside, or
/// reported as unbound. Lines of one input are a port each, `irqs[3]`. A router's initiator needs
/// ranges, which only a `bind:` can give it.
void binding_planner::open(const std::string& name, plan::endpoint inner, bool is_one,
                           const config::node& node) {
    const port& p = all_.result.port_of(inner);
    if (!all_.open || p.ranged) return;
    const bool is_input = p.role == port_role::irq_in && !p.count;
    const auto lines =
        is_one || !is_input ? 1 : elements_of(p, all_.result.module_of(inner).config);
    if (lines == 1) return open_one(name, inner, node);
    for (inner.index = 0; inner.index < lines; ++inner.index)
        open_one(fmt::format("{}[{}]", name, inner.index), inner, node);
}

void binding_planner::open_one(const std::string& name, const plan::endpoint& inner,
                               const config::node& node) {
    if (std::ranges::find(all_.result.ports, name, &plan::exported::name) !=
        all_.result.ports.end())
        return all_.report(node, mistake::module_twice, fmt::format("two ports '{}'", name));
    if (!may_bind(inner, node)) return;
    unbound_.bind(inner, node);
    all_.result.ports.push_back({name, inner, node});
}

// --- Whole board

void binding_planner::check_whole() {
    check_overlaps(all_);
    if (all_.result.problems->empty()) {
        check_forwarding(all_);
        check_plugs(all_);
        if (all_.result.problems->empty()) check_sides(all_);
        check_reach(all_);
    }
    check_lanes(all_);
    if (!all_.full) unbound_.report();  // otherwise lines not read may bind the reported ends
}

}  // namespace trn

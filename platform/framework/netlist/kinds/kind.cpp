// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind.h"

#include <algorithm>

namespace trn {

namespace {

port::from_config always(std::uint64_t value) {
    return [value](const std::any&) { return value; };
}

port make_port(std::string name, port_role role, std::string doc) {
    port made;
    made.name = std::move(name);
    made.role = role;
    made.doc = std::move(doc);
    return made;
}

}  // namespace

void parameter::assign(std::any& config, std::span<const std::string> texts,
                       const on_refusal& refuse) const {
    auto* const field = static_cast<const char*>(object(config)) + offset;
    converts->assign(const_cast<char*>(field), *this, texts, refuse);
}

std::string parameter::show(const std::any& config) const {
    return converts->show(static_cast<const char*>(object(config)) + offset, dimension);
}

std::string_view to_string(port_role role) {
    switch (role) {
    case port_role::initiator:
        return "initiator";
    case port_role::target:
        return "target";
    case port_role::irq_out:
        return "irq_out";
    case port_role::irq_in:
        return "irq_in";
    case port_role::uses:
        return "user";
    case port_role::provides:
        return "provider";
    case port_role::plug:
        return "plug";
    }
    return "";
}

port port::initiator(std::string name, std::string doc) {
    return make_port(std::move(name), port_role::initiator, std::move(doc));
}
port port::target(std::string name, std::string doc) {
    return make_port(std::move(name), port_role::target, std::move(doc));
}
port port::irq_out(std::string name, std::string doc) {
    return make_port(std::move(name), port_role::irq_out, std::move(doc)).unlimited();
}
port port::irq_in(std::string name, std::string doc) {
    return make_port(std::move(name), port_role::irq_in, std::move(doc)).unlimited().optional();
}
port port::plug(std::string name, std::string doc) {
    return make_port(std::move(name), port_role::plug, std::move(doc));
}

port port::optional() && {
    may_be_unbound = true;
    return std::move(*this);
}
port port::unlimited() && {
    many = true;
    return std::move(*this);
}
port port::with_ranges() && {
    ranged = true;
    return std::move(*this);
}
port port::passing_on() && {
    passes_on = true;
    return std::move(*this);
}
port port::leading_to(std::string initiator) && {
    leads_to = std::move(initiator);
    return std::move(*this);
}
port port::of_size(std::uint64_t bytes) && {
    size = always(bytes);
    return std::move(*this);
}
port port::of_lines(std::uint64_t number) && {
    lines = always(number);
    return std::move(*this);
}
port port::times(std::uint64_t elements) && {
    count = always(elements);
    return std::move(*this);
}
port port::with_lanes(std::uint64_t number) && {
    lanes = always(number);
    return std::move(*this);
}

void kind::find_ways() {
    for (std::size_t initiator = 0; initiator < ports.size(); ++initiator) {
        if (ports[initiator].role != port_role::initiator) continue;
        for (std::size_t target = 0; target < ports.size(); ++target) {
            if (ports[target].role != port_role::target) continue;
            if (ports[initiator].ranged) ports[target].is_decoded = true;
            if (ports[initiator].ranged || ports[target].leads_to == ports[initiator].name)
                ports[initiator].forwards_from = target;
        }
    }
}

const parameter* kind::find_parameter(std::string_view wanted) const {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const parameter& p) { return p.name == wanted; });
    return found == parameters.end() ? nullptr : &*found;
}

std::optional<std::size_t> kind::find_port(std::string_view wanted) const {
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].name == wanted) return i;
    return std::nullopt;
}

const kind* find_kind(const kind_list& kinds, std::string_view name) {
    const auto found =
        std::find_if(kinds.begin(), kinds.end(), [&](const kind& k) { return k.name == name; });
    return found == kinds.end() ? nullptr : &*found;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind.h"

#include <algorithm>
#include <array>

namespace trn {

namespace {

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
    constexpr std::array<std::string_view, 7> names{"initiator", "target",   "irq_out", "irq_in",
                                                    "user",      "provider", "plug"};
    return names.at(static_cast<std::size_t>(role));
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
port port::facing(port_side wanted) && {
    side = wanted;
    return std::move(*this);
}
port port::leading_to(std::string initiator) && {
    leads_to = std::move(initiator);
    return std::move(*this);
}
port port::leading_to(std::string initiator, port_number added) && {
    leads_to = std::move(initiator);
    shift = std::move(added.compute);
    return std::move(*this);
}
port port::reaching(port_number bytes) && {
    reach = std::move(bytes.compute);
    return std::move(*this);
}
port port::of_size(port_number bytes) && {
    size = std::move(bytes.compute);
    return std::move(*this);
}
port port::of_lines(port_number number) && {
    lines = std::move(number.compute);
    return std::move(*this);
}
port port::times(port_number elements) && {
    count = std::move(elements.compute);
    return std::move(*this);
}
port port::with_lanes(port_number number) && {
    lanes = std::move(number.compute);
    return std::move(*this);
}
port port::in_links(port_number number) && {
    links = std::move(number.compute);
    return std::move(*this);
}
port port::within_lanes(port_number total) && {
    room = std::move(total.compute);
    return std::move(*this);
}
port port::in_blocks_of(port_number number) && {
    block = std::move(number.compute);
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
    const auto found = std::ranges::find(parameters, wanted, &parameter::name);
    return found == parameters.end() ? nullptr : &*found;
}

std::optional<std::size_t> kind::find_port(std::string_view wanted) const {
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].name == wanted) return i;
    return std::nullopt;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/drawing/board_vocabulary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <any>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "models/pcie/pcie_link/pcie_link.h"

namespace trn {

namespace {

using drawing::cable;
using drawing::symbol;

using values = std::map<std::string, std::string>;

values values_of(const plan& board, const plan::module& m) {
    values all;
    for (auto& [name, value] : board.parameters_of(m)) all[name] = value;
    return all;
}

symbol symbol_of(const plan::module& m) {
    if (m.built_as == nullptr) {
        if (m.type.starts_with("chips/")) return symbol::chip;
        if (m.type.starts_with("nics/")) return symbol::card;
        return symbol::group;
    }
    static const std::map<std::string_view, symbol> known{
        {"pcie_link", symbol::cable},          {"root_complex", symbol::host},
        {"neuron_switch", symbol::crossing},   {"pcie_switch", symbol::crossing},
        {"ethernet_fabric", symbol::crossing}, {"ethernet_switch", symbol::crossing}};
    const auto found = known.find(m.type);
    return found == known.end() ? symbol::nothing : found->second;
}

cable cable_of(const plan&, const plan::module& m) {
    const auto& link = *std::any_cast<pcie_link::config>(&m.config);
    const auto speed = signalling::of(link.protocol, link.generation);
    auto text = link.links == 1 ? fmt::format("x{}", link.lanes)
                                : fmt::format("{} x{}", link.links, link.lanes);
    text += link.protocol == link_protocol::pcie ? fmt::format(" Gen{}", link.generation)
                                                 : std::string(" UALink");
    return {text, speed.lane_bits_per_second / 8 * link.lanes * link.links};
}

std::string note_of(const plan& board, const plan::module& m) {
    const auto all = values_of(board, m);
    std::vector<std::string> nouns;
    const auto say = [&](const char* name, std::string_view form) {
        if (const auto found = all.find(name); found != all.end())
            nouns.push_back(fmt::format(fmt::runtime(form), found->second));
    };
    if (m.type == "root_complex") {
        say("processor", "{}");
        say("cores", "{} cores");
        say("memory", "{}");
    } else if (m.type == "neuron_switch") {
        nouns.emplace_back("NeuronSwitch");
        say("planes", "{} of");
        say("part", "{}");
    } else if (m.type == "pcie_switch") {
        nouns.emplace_back("PCI Express");
        say("size", "{}");
    } else if (m.type == "ethernet_fabric") {
        nouns.emplace_back("Ethernet of EFA");
    } else if (m.type == "ethernet_switch") {
        nouns.emplace_back("Ethernet");
    }
    return fmt::format("{}", fmt::join(nouns, " "));
}

}  // namespace

const drawing::vocabulary& board_vocabulary() {
    static const drawing::vocabulary words{symbol_of, cable_of, note_of};
    return words;
}

}  // namespace trn

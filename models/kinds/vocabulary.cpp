// SPDX-License-Identifier: Apache-2.0
#include "models/kinds/vocabulary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

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
    static const std::map<std::string_view, symbol> known{{"pcie_link", symbol::cable},
                                                          {"root_complex", symbol::host},
                                                          {"neuron_switch", symbol::crossing},
                                                          {"pcie_switch", symbol::crossing},
                                                          {"ethernet_fabric", symbol::crossing}};
    const auto found = known.find(m.type);
    return found == known.end() ? symbol::nothing : found->second;
}

/// Raw bytes per second of a lane and direction. PCI Express generations 1 to 6.
std::uint64_t lane_rate_of(const values& link) {
    constexpr std::array<std::uint64_t, 6> megatransfers{2500, 5000, 8000, 16000, 32000, 64000};
    const auto generation = std::stoul(link.at("generation"));
    return megatransfers.at(generation - 1) * 1'000'000 / 8;
}

cable cable_of(const plan& board, const plan::module& m) {
    const auto link = values_of(board, m);
    const auto lanes = std::stoul(link.at("lanes")), links = std::stoul(link.at("links"));
    const auto width = links == 1 ? fmt::format("x{}", lanes) : fmt::format("{} x{}", links, lanes);
    if (link.at("protocol") != "pcie") return {fmt::format("{} {}", width, link.at("protocol")), 0};
    return {fmt::format("{} Gen{}", width, link.at("generation")),
            lane_rate_of(link) * lanes * links};
}

std::string note_of(const plan& board, const plan::module& m) {
    const auto all = values_of(board, m);
    std::vector<std::string> said;
    const auto say = [&](const char* name, std::string_view form) {
        if (const auto found = all.find(name); found != all.end())
            said.push_back(fmt::format(fmt::runtime(form), found->second));
    };
    if (m.type == "root_complex") {
        say("processor", "{}");
        say("cores", "{} cores");
        say("memory", "{}");
    } else if (m.type == "neuron_switch") {
        said.emplace_back("NeuronSwitch");
        say("planes", "{} of");
        say("part", "{}");
    } else if (m.type == "pcie_switch") {
        said.emplace_back("PCI Express");
        say("size", "{}");
    } else if (m.type == "ethernet_fabric") {
        said.emplace_back("Ethernet");
    }
    return fmt::format("{}", fmt::join(said, " "));
}

}  // namespace

const drawing::vocabulary& board_vocabulary() {
    static const drawing::vocabulary words{symbol_of, cable_of, note_of};
    return words;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sw-stubs/trnctl/commands.h"
#include "trn/misc_ram_regs.h"

namespace trn {

namespace {

using json = nlohmann::json;

constexpr std::string_view words_of_a_chip = ".management.misc_ram.in";

/// Words that the firmware of a chip has published.
struct chip_words {
    std::string name;
    std::string bdf;               ///< on its host; empty: no host
    std::uint32_t routing_id = 0;  ///< 0xdeadbeef while it boots
    std::uint64_t serial = 0;
    std::optional<trn_topology> found;  ///< empty while firmware is writing it
};

std::uint32_t word_of(const std::string& hex, std::size_t offset) {
    std::uint32_t word = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
        const auto digits = hex.substr(2 * (offset + byte), 2);
        word |= static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16)) << 8 * byte;
    }
    return word;
}

std::string chip_of(const std::string& space) {
    return space.substr(0, space.size() - words_of_a_chip.size());
}

/// Splits a name into words and numbers for natural order: server2.chip1 before server10.chip0.
std::vector<std::pair<std::string, unsigned long>> counted(const std::string& name) {
    std::vector<std::pair<std::string, unsigned long>> parts(1);
    bool in_number = false;
    for (const char c : name) {
        const bool digit = c >= '0' && c <= '9';
        if (in_number && !digit) parts.emplace_back();
        in_number = digit;
        if (digit)
            parts.back().second = parts.back().second * 10 + static_cast<unsigned long>(c - '0');
        else
            parts.back().first += c;
    }
    return parts;
}

/// Reads through control methods, which work while a driver uses the chip.
chip_words read_chip(session& platform, const std::string& space,
                     const std::map<std::string, std::string>& places) {
    static constexpr std::size_t bytes = TRN_TOPOLOGY_OFFSET + 4 * TRN_TOPOLOGY_WORDS;
    const json params{{"space", space}, {"address", 0u}, {"size", bytes}};
    chip_words chip;
    chip.name = chip_of(space);
    if (const auto found = places.find(chip.name); found != places.end()) chip.bdf = found->second;
    for (unsigned tries = 0; tries < 3 && !chip.found; ++tries) {
        const auto hex = platform.call("peek", params).at("data").get<std::string>();
        chip.routing_id = word_of(hex, TRN_MISC_RAM_ROUTING_ID_OFFSET);
        chip.serial = std::uint64_t{word_of(hex, TRN_MISC_RAM_SERIAL_HI_OFFSET)} << 32 |
                      word_of(hex, TRN_MISC_RAM_SERIAL_LO_OFFSET);
        std::array<std::uint32_t, TRN_TOPOLOGY_WORDS> words{};
        for (std::size_t n = 0; n < words.size(); ++n)
            words[n] = word_of(hex, TRN_TOPOLOGY_OFFSET + 4 * n);
        trn_topology decoded{};
        if (trn_topology_decode(words.data(), &decoded)) chip.found = decoded;
    }
    return chip;
}

std::vector<chip_words> read_chips(session& platform, const std::string& only) {
    std::vector<std::string> spaces;
    for (const std::string space : platform.call("list", {{"what", "spaces"}}))
        if (space.ends_with(words_of_a_chip)) spaces.push_back(space);
    std::ranges::sort(spaces, {}, counted);
    std::map<std::string, std::string> places;
    for (const auto& function : platform.call("list", {{"what", "functions"}}))
        places[function.at("name")] = function.at("bdf");
    std::vector<chip_words> chips;
    std::vector<std::string> known;
    for (const auto& space : spaces) {
        known.push_back(chip_of(space));
        if (only.empty() || known.back() == only)
            chips.push_back(read_chip(platform, space, places));
    }
    if (chips.empty()) {
        if (known.empty()) throw user_error("the board has no chips");
        choose_chip(only, known, "the board");
    }
    return chips;
}

// --- Texts --------------------------------------------------------------------------------

std::string_view name_of(trn_topology_kind kind) {
    switch (kind) {
    case TRN_TOPOLOGY_RING:
        return "ring";
    case TRN_TOPOLOGY_TORUS:
        return "torus";
    case TRN_TOPOLOGY_SWITCHED:
        return "switched";
    case TRN_TOPOLOGY_NONE:
        break;
    }
    return "none";
}

std::string words(const trn_partner& partner) {
    const auto& place = partner.place;
    switch (partner.kind) {
    case TRN_PARTNER_CHIP:
        return fmt::format("rack {} server {} chip {}", place.rack, place.server, place.chip);
    case TRN_PARTNER_SLED_SWITCH:
        return fmt::format("the sled switch of rack {} server {}", place.rack, place.server);
    case TRN_PARTNER_RACK_SWITCH:
        return fmt::format("the rack switch of rack {}", place.rack);
    case TRN_PARTNER_NONE:
        break;
    }
    return "no device";
}

std::string shortly(const trn_place& place) {
    return fmt::format("{}/{}/{}", place.rack, place.server, place.chip);
}

std::string shortly(const trn_partner& partner) {
    switch (partner.kind) {
    case TRN_PARTNER_CHIP:
        return shortly(partner.place);
    case TRN_PARTNER_SLED_SWITCH:
        return fmt::format("sled {}/{}", partner.place.rack, partner.place.server);
    case TRN_PARTNER_RACK_SWITCH:
        return fmt::format("rack {}", partner.place.rack);
    case TRN_PARTNER_NONE:
        break;
    }
    return "?";
}

std::string shape_of(const trn_topology& t) {
    switch (t.kind) {
    case TRN_TOPOLOGY_RING:
        return fmt::format("ring of {} chips", t.x);
    case TRN_TOPOLOGY_TORUS:
        return fmt::format("torus of {} x {} chips, {} server{}", t.x, t.y, t.z,
                           t.z == 1 ? "" : "s");
    case TRN_TOPOLOGY_SWITCHED:
        return fmt::format("switched: {} chips per server, {} servers per rack, {} rack{}", t.x,
                           t.y, t.z, t.z == 1 ? "" : "s");
    case TRN_TOPOLOGY_NONE:
        break;
    }
    return "no links";
}

std::string complaint(unsigned port, const trn_link& link) {
    const auto expected = words(link.expected);
    const auto there = link.identified ? words(link.partner) : "an unidentified device";
    switch (link.fault) {
    case TRN_LINK_WRONG_PARTNER:
    case TRN_LINK_UNEXPECTED:
        return fmt::format("port {} leads to {}, expected {}", port, there, expected);
    case TRN_LINK_WRONG_PORT:
        return fmt::format("port {} leads to port {} of {}, its {}", port, link.partner_port, there,
                           trn_link_fault_text(link.fault));
    case TRN_LINK_DEGRADED:
        return fmt::format("port {} is degraded: Gen{}, {} of {} lanes", port, link.generation,
                           link.lanes, link.lanes_full);
    default:
        return fmt::format("port {}: {}, expected {}", port, trn_link_fault_text(link.fault),
                           expected);
    }
}

json place_json(const trn_place& place) {
    return {{"rack", place.rack}, {"server", place.server}, {"chip", place.chip}};
}

json link_json(unsigned port, const trn_link& link) {
    json object{{"port", port},
                {"connected", link.connected},
                {"up", link.up},
                {"generation", link.generation},
                {"lanes", link.lanes},
                {"lanes_full", link.lanes_full},
                {"downs", link.downs},
                {"fault", trn_link_fault_text(link.fault)},
                {"expected", {{"kind", trn_partner_text(link.expected.kind)}}}};
    object["expected"].update(place_json(link.expected.place));
    if (link.fault != TRN_LINK_OK) object["complaint"] = complaint(port, link);
    if (!link.identified) return object;
    object["partner"] = {{"kind", trn_partner_text(link.partner.kind)},
                         {"serial", fmt::format("{:016x}", link.serial)},
                         {"port", link.partner_port}};
    object["partner"].update(place_json(link.partner.place));
    return object;
}

bool matters(const trn_link& link) {
    return link.connected || link.expected.kind != TRN_PARTNER_NONE;
}

json chip_json(const chip_words& chip) {
    json object{
        {"chip", chip.name}, {"bdf", chip.bdf}, {"serial", fmt::format("{:016x}", chip.serial)}};
    if (chip.routing_id != TRN_MISC_RAM_ROUTING_ID_RESET) object["routing_id"] = chip.routing_id;
    if (!chip.found) return object;
    const auto& t = *chip.found;
    object["topology"] = name_of(t.kind);
    if (t.kind == TRN_TOPOLOGY_NONE) return object;
    object["shape"] = {t.x, t.y, t.z};
    object["place"] = place_json(t.own);
    object["reachable"] = {
        {"server", t.reachable_server}, {"rack", t.reachable_rack}, {"other", t.reachable_other}};
    object["links"] = json::array();
    for (unsigned port = 0; port < TRN_MAX_PORTS; ++port)
        if (matters(t.ports[port])) object["links"].push_back(link_json(port, t.ports[port]));
    return object;
}

std::string chip_line(const chip_words& chip, std::size_t width) {
    const bool ready = chip.routing_id != TRN_MISC_RAM_ROUTING_ID_RESET;
    const auto id = ready ? std::to_string(chip.routing_id) : "booting";
    auto line =
        fmt::format("{:<{}} {:<7} {:>7}  {:016x}", chip.name, width, chip.bdf, id, chip.serial);
    if (!chip.found) return line + "  (firmware is writing)";
    const auto& t = *chip.found;
    if (t.kind == TRN_TOPOLOGY_NONE) return line + "  no links";
    line += fmt::format(
        "  {:<8} {:>11} ", shortly(t.own),
        fmt::format("{}+{}+{}", t.reachable_server, t.reachable_rack, t.reachable_other));
    std::string_view before = " ";
    for (unsigned port = 0; port < TRN_MAX_PORTS; ++port) {
        const auto& link = t.ports[port];
        if (!matters(link)) continue;
        line += fmt::format("{}{}: ", std::exchange(before, ", "), port);
        line += link.up ? fmt::format("Gen{} x{} {}", link.generation, link.lanes,
                                      shortly(link.partner))
                        : std::string(trn_link_fault_text(link.fault));
        if (link.up && link.fault != TRN_LINK_OK) line += " (!)";
    }
    return line;
}

struct sums {
    unsigned up = 0, faults = 0;
    std::string shape;
};

sums add_up(const std::vector<chip_words>& chips) {
    sums all;
    for (const auto& chip : chips) {
        if (!chip.found || chip.found->kind == TRN_TOPOLOGY_NONE) continue;
        if (all.shape.empty()) all.shape = shape_of(*chip.found);
        for (const auto& link : chip.found->ports) {
            all.up += link.up;
            all.faults += link.fault != TRN_LINK_OK;
        }
    }
    if (all.shape.empty()) all.shape = shape_of({});
    return all;
}

void print_table(const std::vector<chip_words>& chips) {
    const auto all = add_up(chips);
    std::size_t width = 10;
    for (const auto& chip : chips) width = std::max(width, chip.name.size());
    print("{}\n{:<{}} {:<7} {:>7}  {:<16}  {:<8} {:>11}  {}\n", all.shape, "chip", width, "bdf",
          "routing", "serial", "place", "reaches", "links: speed, width, partner");
    for (const auto& chip : chips) print("{}\n", chip_line(chip, width));
    print("{} chip{}, {} ports up, {} fault{}\n", chips.size(), chips.size() == 1 ? "" : "s",
          all.up, all.faults, all.faults == 1 ? "" : "s");
    for (const auto& chip : chips)
        for (unsigned port = 0; chip.found && port < TRN_MAX_PORTS; ++port)
            if (chip.found->ports[port].fault != TRN_LINK_OK)
                print("{}: {}\n", chip.name, complaint(port, chip.found->ports[port]));
}

}  // namespace

void topology(session& platform, const std::string& only, const output& out) {
    try {
        platform.wait_ready(std::chrono::seconds(60));
    } catch (const std::runtime_error& slow) {
        // Continue: the state of a chip that does not boot is of interest.
        std::fprintf(stderr, "trnctl: %s\n", terminal_text(slow.what()).c_str());
    }
    const auto chips = read_chips(platform, only);
    if (!out.json) return print_table(chips);
    for (const auto& chip : chips) out.result(chip_json(chip), "");
}

}  // namespace trn

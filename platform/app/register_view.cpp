// SPDX-License-Identifier: Apache-2.0
#include "platform/app/register_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <optional>
#include <tlm>
#include <vector>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using rpc::json;

namespace {

/// One element of a register array, or a single register.
struct element {
    register_bank* bank;
    std::size_t row;
    unsigned index = 0, instance = 0;

    const register_row& declared() const { return bank->table().rows[row]; }
    std::uint64_t value() const { return bank->value(row, index, instance); }
    std::uint64_t offset() const { return declared().element(index) + instance * bank->stride(); }
};

json fields_of(const element& place) {
    json all = json::object();
    for (const auto& field : place.bank->table().fields)
        if (field.field.reg == place.row)
            all[std::string(field.name)] = field.field.get(place.value());
    return all;
}

json uses_of(const register_use& use) {
    json all = json::object();
    constexpr std::array names{"host", "firmware", "dma", "tools"};
    for (std::size_t source = 0; source < use.by_initiator.size(); ++source)
        if (use.by_initiator[source].any())
            all[names[source]] = {{"reads", use.by_initiator[source].reads},
                                  {"writes", use.by_initiator[source].writes}};
    return all;
}

json to_json(const element& place) {
    const auto& row = place.declared();
    return {{"block", place.bank->table().block},
            {"name", row.name},
            {"offset", place.offset()},
            {"count", row.count},
            {"index", place.index},
            {"instances", place.bank->instances()},
            {"instance", place.instance},
            {"value", place.value()},
            {"fields", fields_of(place)},
            {"touched", place.bank->touched(place.row)},
            {"used_by", uses_of(place.bank->use(place.row))},
            {"known_by", to_string(row.known_by)},
            {"fidelity", to_string(row.fidelity)}};
}

std::vector<register_bank*> banks_of(std::string_view module) {
    std::vector<register_bank*> all;
    for_each_bank([&](const auto& owner, auto& bank) {
        if (owner.name() == module) all.push_back(&bank);
    });
    return all;
}

/// The register banks of a module. Throws rpc::error when it has none.
std::vector<register_bank*> banks_asked(const std::string& module) {
    auto banks = banks_of(module);
    if (!banks.empty()) return banks;
    std::vector<std::string> known;
    for_each_bank([&](const auto& owner, auto&) { known.emplace_back(owner.name()); });
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw rpc::error(rpc::code::not_found, fmt::format("no module '{}' with registers  {}", module,
                                                       suggest(module, known)));
}

/// `name` is "ROUTING_ID", or "misc_ram.ROUTING_ID" when two blocks of a module share a name.
std::optional<element> find(const std::vector<register_bank*>& banks, std::string_view name) {
    for (auto* bank : banks)
        for (std::size_t row = 0; row < bank->table().rows.size(); ++row) {
            const auto& own = bank->table().rows[row].name;
            if (boost::iequals(name, own) ||
                boost::iequals(name, fmt::format("{}.{}", bank->table().block, own)))
                return element{bank, row};
        }
    return std::nullopt;
}

element element_asked(const rpc::parameters& p, const std::vector<register_bank*>& banks,
                      const std::string& name) {
    auto found = find(banks, name);
    if (!found) {
        const auto own = std::string_view(name).substr(name.rfind('.') + 1);  // without the block
        std::vector<std::string_view> known;
        for (const auto* bank : banks)
            for (const auto& row : bank->table().rows) known.push_back(row.name);
        throw rpc::error(rpc::code::not_found,
                         fmt::format("no register '{}'  {}", name, suggest(own, known)));
    }
    const auto below = [&](std::string_view key, std::uint64_t limit) {
        const auto number = p.number(key, 0);
        if (number >= limit) p.wrong(key, fmt::format("below {}", limit));
        return static_cast<unsigned>(number);
    };
    found->index = below("index", found->declared().count);
    found->instance = below("instance", found->bank->instances());
    return *found;
}

json registers(const rpc::parameters& p) {
    const auto module = p.text("module");
    const auto banks = banks_asked(module);
    if (p.has("name")) return json::array({to_json(element_asked(p, banks, p.text("name")))});
    return registers_of(module);
}

/// A register, or one of its fields, as the text of a request names it.
struct named_register {
    element place;
    std::string text, module;
    const field_row* field = nullptr;

    register_field bits() const {
        if (field) return field->field;
        const auto width = static_cast<std::uint8_t>(8 * place.bank->table().width);
        return {static_cast<std::uint16_t>(place.row), 0, width};
    }
    std::uint64_t value() const { return bits().get(place.value()); }
};

const field_row* field_of(const element& place, std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& field : place.bank->table().fields) {
        if (field.field.reg != place.row) continue;
        if (boost::iequals(name, field.name)) return &field;
        known.push_back(field.name);
    }
    throw rpc::error(rpc::code::not_found,
                     fmt::format("register '{}' has no field '{}'  {}", place.declared().name, name,
                                 suggest(name, known)));
}

/// Parses "chip0.management.misc_ram.ROUTING_ID", with ".CHIP" appended for a field: the longest
/// prefix that is a module, then block, register and field.
named_register register_asked(const rpc::parameters& p) {
    const auto text = p.text("register");
    for (auto dot = text.rfind('.'); dot != std::string::npos && dot > 0;
         dot = text.rfind('.', dot - 1)) {
        const auto banks = banks_of(text.substr(0, dot));
        if (banks.empty()) continue;
        const auto name = text.substr(dot + 1);
        const auto last = name.rfind('.');
        // "A.B" is register B of block A, or field B of register A.
        const auto is_block = [&](const auto* bank) {
            return boost::iequals(name.substr(0, last), bank->table().block);
        };
        if (last == std::string::npos || std::ranges::any_of(banks, is_block))
            return {element_asked(p, banks, name), text, text.substr(0, dot)};
        const auto place = element_asked(p, banks, name.substr(0, last));
        return {place, text, text.substr(0, dot), field_of(place, name.substr(last + 1))};
    }
    banks_asked(text.substr(0, text.rfind('.')));  // throws with the list of modules
    throw rpc::error(rpc::code::not_found, fmt::format("'{}' names no register", text));
}

json peek(const rpc::parameters& p) {
    p.only({"register", "index", "instance"});
    const auto asked = register_asked(p);
    auto result = to_json(asked.place);
    result["value"] = asked.value();
    if (asked.field) result["field"] = asked.field->name;
    return result;
}

/// The value of a request for a register or field. \throws rpc::error if it does not fit
std::uint64_t value_for(const named_register& asked, const rpc::parameters& p) {
    const auto bits = asked.bits();
    const auto value = p.number("value");
    if (value > bits.mask() >> bits.lsb)
        p.wrong("value", fmt::format("at most {:#x}", bits.mask() >> bits.lsb));
    return value;
}

/// The register with the values that its fields keep when software writes another field.
std::uint64_t kept_by_a_write(const element& place) {
    return place.declared().bits.neutral(place.value());
}

json poke(const rpc::parameters& p) {
    p.only({"register", "index", "instance", "value"});
    const auto asked = register_asked(p);
    auto* const bank = asked.place.bank;
    const auto bits = asked.bits();
    auto word = bits.set(kept_by_a_write(asked.place), value_for(asked, p));
    if ((asked.place.declared().bits.writable() & bits.mask()) == 0)
        throw rpc::error(rpc::code::failed,
                         fmt::format("software cannot write '{}': use deposit", asked.text));
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_WRITE_COMMAND, asked.place.offset(), &word, bank->table().width);
    auto delay = sc_core::SC_ZERO_TIME;  // between two slices: not waited for
    bank->access(payload, delay);
    if (!payload.is_response_ok())
        throw rpc::error(rpc::code::failed, fmt::format("'{}' refuses this write ({})", asked.text,
                                                        payload.get_response_string()));
    return json::object();
}

json deposit(const rpc::parameters& p) {
    p.only({"register", "index", "instance", "value"});
    const auto asked = register_asked(p);
    const auto value = value_for(asked, p);
    asked.place.bank->set(asked.bits(), value, asked.place.index, asked.place.instance);
    if (asked.value() != value)
        throw rpc::error(rpc::code::failed,
                         fmt::format("'{}' keeps no value: its model computes it", asked.text));
    return json::object();
}

}  // namespace

register_handle find_register(const json& named) {
    const auto asked = register_asked({"peek", named});
    const auto& place = asked.place;
    const auto own = std::string(place.declared().name);
    return {.value = [asked] { return asked.value(); },
            .use = [place] { return place.bank->use(place.row); },
            .module = asked.module,
            .name = asked.field ? fmt::format("{}.{}", own, asked.field->name) : own,
            .width = asked.bits().width,
            .index = place.index,
            .count = place.declared().count,
            .instance = place.instance,
            .instances = place.bank->instances()};
}

json registers_of(const std::string& module) {
    json all = json::array();
    for (auto* bank : banks_of(module))
        for (std::size_t row = 0; row < bank->table().rows.size(); ++row)
            all.push_back(to_json({bank, row}));
    return all;
}

void add_register_methods(control& methods) {
    methods.add_list("registers", [] {
        json all = json::array();
        for_each_bank([&](const auto& owner, auto& bank) {
            all.push_back({{"module", owner.name()},
                           {"block", bank.table().block},
                           {"registers", bank.table().rows.size()},
                           {"instances", bank.instances()}});
        });
        return all;
    });
    methods.methods().add(
        {"registers",
         "A module's registers.",
         {{"module", "text", "its full name", rpc::required},
          {"name", "text", "only this register; BLOCK.NAME if two blocks have the name"},
          {"index", "number", "of an element of a register array", "0"},
          {"instance", "number", "of a block that a module has several times", "0"}},
         {{"", "list", "of registers, each with:"},
          {"block", "text"},
          {"name", "text"},
          {"offset", "number", "bytes, in the block"},
          {"count, index", "number", "elements of the array; the element"},
          {"instances, instance", "number", "of the block in the module"},
          {"value", "number"},
          {"fields", "{name: value}"},
          {"touched", "true or false", "software has accessed it"},
          {"used_by", "{initiator: {reads, writes}}", "host, firmware, dma, tools"},
          {"known_by, fidelity", "text", "see doc/registers.md"}},
         {{rpc::code::not_found, "no such module or register"}}},
        [](const auto& p, auto&) { return registers(p); });
    methods.reach_registers({.peek = [](const auto& p) { return peek(p); },
                             .poke = [](const auto& p) { return poke(p); },
                             .deposit = [](const auto& p) { return deposit(p); }});
}

}  // namespace trn

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

json fields_of(const element& at) {
    json all = json::object();
    for (const auto& field : at.bank->table().fields)
        if (field.field.reg == at.row) all[std::string(field.name)] = field.field.get(at.value());
    return all;
}

json uses_of(const register_use& use) {
    json all = json::object();
    constexpr std::array names{"host", "firmware", "dma", "tools"};
    for (std::size_t source = 0; source < use.by.size(); ++source)
        if (use.by[source].any())
            all[names[source]] = {{"reads", use.by[source].reads},
                                  {"writes", use.by[source].writes}};
    return all;
}

json to_json(const element& at) {
    const auto& row = at.declared();
    return {{"block", at.bank->table().block},
            {"name", row.name},
            {"offset", at.offset()},
            {"count", row.count},
            {"index", at.index},
            {"instances", at.bank->instances()},
            {"instance", at.instance},
            {"value", at.value()},
            {"fields", fields_of(at)},
            {"touched", at.bank->touched(at.row)},
            {"used_by", uses_of(at.bank->use(at.row))},
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
        std::vector<std::string_view> known;
        for (const auto* bank : banks)
            for (const auto& row : bank->table().rows) known.push_back(row.name);
        throw rpc::error(rpc::code::not_found,
                         fmt::format("no register '{}'  {}", name, suggest(name, known)));
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
    element at;
    std::string text, module;
    const field_row* field = nullptr;

    register_field bits() const {
        if (field) return field->field;
        const auto width = static_cast<std::uint8_t>(8 * at.bank->table().width);
        return {static_cast<std::uint16_t>(at.row), 0, width};
    }
    std::uint64_t value() const { return bits().get(at.value()); }
};

const field_row* field_of(const element& at, std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& field : at.bank->table().fields) {
        if (field.field.reg != at.row) continue;
        if (boost::iequals(name, field.name)) return &field;
        known.push_back(field.name);
    }
    throw rpc::error(rpc::code::not_found,
                     fmt::format("register '{}' has no field '{}'  {}", at.declared().name, name,
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
        const auto at = element_asked(p, banks, name.substr(0, last));
        return {at, text, text.substr(0, dot), field_of(at, name.substr(last + 1))};
    }
    banks_asked(text.substr(0, text.rfind('.')));  // throws with the list of modules
    throw rpc::error(rpc::code::not_found, fmt::format("'{}' names no register", text));
}

json peek(const rpc::parameters& p) {
    p.only({"register", "index", "instance"});
    const auto asked = register_asked(p);
    auto result = to_json(asked.at);
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

/// What a write of one field puts into the other ones, so that they keep their values.
std::uint64_t kept_by_a_write(const element& at) {
    const auto& bits = at.declared().bits;
    return (at.value() & bits.stored) | bits.kept;
}

json poke(const rpc::parameters& p) {
    p.only({"register", "index", "instance", "value"});
    const auto asked = register_asked(p);
    auto* const bank = asked.at.bank;
    const auto bits = asked.bits();
    auto word = bits.set(kept_by_a_write(asked.at), value_for(asked, p));
    if ((asked.at.declared().bits.writable() & bits.mask()) == 0)
        throw rpc::error(rpc::code::failed,
                         fmt::format("software cannot write '{}': use deposit", asked.text));
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_WRITE_COMMAND, asked.at.offset(), &word, bank->table().width);
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
    asked.at.bank->set(asked.bits(), value, asked.at.index, asked.at.instance);
    if (asked.value() != value)
        throw rpc::error(rpc::code::failed,
                         fmt::format("'{}' keeps no value: its model computes it", asked.text));
    return json::object();
}

}  // namespace

register_handle find_register(const json& named) {
    const auto asked = register_asked({"peek", named});
    const auto& at = asked.at;
    const auto own = std::string(at.declared().name);
    return {.value = [asked] { return asked.value(); },
            .use = [at] { return at.bank->use(at.row); },
            .module = asked.module,
            .name = asked.field ? fmt::format("{}.{}", own, asked.field->name) : own,
            .width = asked.bits().width,
            .index = at.index,
            .count = at.declared().count,
            .instance = at.instance,
            .instances = at.bank->instances()};
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

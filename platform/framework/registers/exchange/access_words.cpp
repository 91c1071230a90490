// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/exchange/access_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace trn::registers {

namespace {

template <class Choice>
bool set_if_named(Choice& value, std::string_view word) {
    for (const auto& each : config::choices<Choice>::list)
        if (each.name == word) {
            value = each.value;
            return true;
        }
    return false;
}

std::uint64_t mask_of(unsigned bits) {
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

std::uint64_t covered(const std::vector<field_part>& parts) {
    std::uint64_t mask = 0;
    for (const auto& part : parts) mask |= part.field.mask();
    return mask;
}

field_part unnamed(const register_spec& reg, std::string name, unsigned lsb, unsigned width) {
    field_part part{.is_unnamed = true};
    part.field.name = std::move(name);
    while (
        std::ranges::any_of(reg.fields, [&](const auto& f) { return f.name == part.field.name; }))
        part.field.name += '_';
    part.field.lsb = lsb;
    part.field.width = width;
    part.field.access = reg.access;
    part.field.place = reg.place;
    part.reset = (reg.reset & part.field.mask()) >> lsb;
    return part;
}

}  // namespace

plain_rules plain(const access_rules& rules) {
    const auto [is_readable, is_writable, write, read] = effects_of(rules.access);
    return {is_readable, is_writable, rules.write != write_effect::none ? rules.write : write,
            rules.read != read_effect::none ? rules.read : read, rules.once};
}

access_rules shortest(const plain_rules& rules) {
    access_rules out{.write = rules.write, .read = rules.read, .once = rules.once};
    const auto take = [&](access kind) {
        out.access = kind;
        if (kind != access::rw && kind != access::wo) out.write = write_effect::none;
        if (kind == access::rc) out.read = read_effect::none;
        return out;
    };
    if (!rules.is_writable) return take(rules.read == read_effect::clear ? access::rc : access::ro);
    if (rules.write == write_effect::one_to_clear)
        return take(rules.is_readable ? access::rw1c : access::w1c);
    if (rules.write == write_effect::one_to_set)
        return take(rules.is_readable ? access::rw1s : access::w1s);
    if (rules.write == write_effect::zero_to_clear && rules.is_readable) return take(access::rw0c);
    return take(rules.is_readable ? access::rw : access::wo);
}

std::string to_words(const access_rules& rules) {
    std::string text(name_of(rules.access));
    if (rules.write != write_effect::none) text += fmt::format(" {}", name_of(rules.write));
    if (rules.read != read_effect::none) text += fmt::format(" read_{}", name_of(rules.read));
    return text + (rules.once ? " once" : "");
}

std::optional<access_rules> from_words(std::string_view text) {
    access_rules rules;
    bool is_first = true;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const auto word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (is_first ? !set_if_named(rules.access, word)
                     : word != "once" && !set_if_named(rules.write, word) &&
                           !(word.starts_with("read_") && set_if_named(rules.read, word.substr(5))))
            return std::nullopt;
        if (word == "once") rules.once = true;
        is_first = false;
    }
    if (is_first) return std::nullopt;
    return rules;
}

std::vector<field_part> parts_of(const register_spec& reg, unsigned bits) {
    std::vector<field_part> parts;
    if (reg.fields.empty()) return {unnamed(reg, "VALUE", 0, bits)};
    for (const auto& field : reg.fields)
        parts.push_back({field, (reg.reset & field.mask()) >> field.lsb, false});
    const std::uint64_t outside = mask_of(bits) & ~covered(parts);
    if (outside != 0 && (rules_of(parts, bits) != reg.access || (reg.reset & outside) != 0))
        for (unsigned lsb = 0; lsb < bits; ++lsb) {
            unsigned width = 0;
            while (lsb + width < bits && (outside >> (lsb + width) & 1) != 0) ++width;
            if (width == 0) continue;
            parts.push_back(
                unnamed(reg, fmt::format("BITS_{}_{}", lsb + width - 1, lsb), lsb, width));
            lsb += width;
        }
    std::ranges::sort(parts, {}, [](const field_part& part) { return part.field.lsb; });
    return parts;
}

access_rules rules_of(const std::vector<field_part>& parts, unsigned bits) {
    bool is_readable = parts.empty();
    bool is_uniform = !parts.empty() && covered(parts) == mask_of(bits);
    for (const auto& part : parts) {
        if (part.is_unnamed) return part.field.access;
        is_uniform = is_uniform && part.field.access == parts[0].field.access;
        is_readable = is_readable || plain(part.field.access).is_readable;
    }
    if (is_uniform) return parts[0].field.access;
    return {.access = is_readable ? access::ro : access::wo};
}

bool is_defined_by_model(const std::vector<field_part>& parts) {
    return std::ranges::any_of(parts, [](const field_part& part) {
        const bool is_pulse = std::ranges::any_of(
            part.field.rdl, [](const rdl_property& each) { return each.name == "singlepulse"; });
        return (part.field.access.write == write_effect::modify && !is_pulse) ||
               part.field.access.read == read_effect::modify;
    });
}

void join_parts(register_spec& reg, std::vector<field_part> parts, unsigned bits,
                const std::optional<access_rules>& own) {
    reg.access = own.value_or(rules_of(parts, bits));
    for (auto& part : parts) {
        reg.reset |= (part.reset << part.field.lsb) & part.field.mask();
        if (!part.is_unnamed) reg.fields.push_back(std::move(part.field));
    }
    std::ranges::stable_sort(reg.fields, std::greater<>(), &field_spec::lsb);
}

}  // namespace trn::registers

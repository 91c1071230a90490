// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/btf.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace trn {

namespace {

enum kind : unsigned {
    integer = 1,
    pointer,
    array,
    structure,
    union_,
    enumeration,
    forward,
    type_name,
    is_volatile,
    is_const,
    is_restrict,
    function,
    prototype,
    variable,
    section,
    floating,
    declaration_tag,
    type_tag,
    enumeration64,
};

struct header {
    std::uint16_t magic;
    std::uint8_t version, flags;
    std::uint32_t length, type_offset, type_length, string_offset, string_length;
};
constexpr std::uint16_t magic = 0xeb9f;
constexpr std::size_t type_size = 12;
constexpr unsigned max_depth = 32;
constexpr std::size_t max_looks = 1 << 17;  // at members, for one; a structure has 65,535 at most

/// Bytes after the common part of a type; nothing for an unknown kind.
std::optional<std::size_t> details_of(unsigned kind, std::size_t length) {
    switch (kind) {
    case integer:
    case variable:
    case declaration_tag:
        return 4;
    case array:
        return 12;
    case structure:
    case union_:
    case section:
    case enumeration64:
        return 12 * length;
    case enumeration:
    case prototype:
        return 8 * length;
    case pointer:
    case forward:
    case type_name:
    case is_volatile:
    case is_const:
    case is_restrict:
    case function:
    case floating:
    case type_tag:
        return 0;
    default:
        return std::nullopt;
    }
}

bool is_composite(unsigned kind) {
    return kind == structure || kind == union_;
}

}  // namespace

btf::btf(std::span<const std::uint8_t> data) {
    header head{};
    if (data.size() < sizeof head) throw btf_error("the BTF is shorter than its header");
    std::memcpy(&head, data.data(), sizeof head);
    if (head.magic != magic || head.version != 1 || head.length < sizeof head)
        throw btf_error("there is no BTF of version 1");
    const auto part = [&](std::uint64_t offset, std::uint64_t length) {
        offset += head.length;
        if (offset > data.size() || length > data.size() - offset)
            throw btf_error("the BTF ends outside of its section");
        return data.subspan(offset, length);
    };
    const auto types = part(head.type_offset, head.type_length);
    const auto strings = part(head.string_offset, head.string_length);
    types_.assign(types.begin(), types.end());
    strings_.assign(strings.begin(), strings.end());
    for (std::size_t offset = 0; types_.size() - offset >= type_size;) {
        const type each{word(offset), word(offset + 4), word(offset + 8), offset + type_size};
        const auto details = details_of(each.kind(), each.length());
        if (!details || *details > types_.size() - each.details)
            throw btf_error("the BTF has a type that cannot be read");
        all_.push_back(each);
        if (is_composite(each.kind()) && each.name != 0)
            structures_.emplace(text(each.name), static_cast<std::uint32_t>(all_.size() - 1));
        offset = each.details + *details;
    }
}

std::string_view btf::text(std::uint32_t offset) const {
    return offset < strings_.size() ? std::string_view(strings_.c_str() + offset)
                                    : std::string_view();
}

/// Zero outside of the types.
std::uint32_t btf::word(std::size_t offset) const {
    std::uint32_t value = 0;
    if (offset <= types_.size() && types_.size() - offset >= sizeof value)
        std::memcpy(&value, types_.data() + offset, sizeof value);
    return value;
}

const btf::type* btf::structure_named(std::string_view name) const {
    const auto found = structures_.find(name);
    return found == structures_.end() ? nullptr : &all_[found->second];
}

/// The type without its qualifiers and names; null: none.
const btf::type* btf::stripped(std::uint32_t id) const {
    for (unsigned depth = 0; depth < max_depth && id != 0 && id <= all_.size(); ++depth) {
        const auto& found = all_[id - 1];
        switch (found.kind()) {
        case type_name:
        case is_volatile:
        case is_const:
        case is_restrict:
        case type_tag:
            id = found.size_or_type;
            break;
        default:
            return &found;
        }
    }
    return nullptr;
}

std::uint64_t btf::size_of(std::uint32_t id, unsigned depth) const {
    const auto* found = stripped(id);
    if (found == nullptr || depth == max_depth) return 0;
    switch (found->kind()) {
    case pointer:
        return 8;
    case array:
        return size_of(word(found->details), depth + 1) * word(found->details + 8);
    default:
        return found->size_or_type;
    }
}

btf::place btf::place_of(std::uint32_t id) const {
    place found{.type = id};
    for (unsigned depth = 0; depth < max_depth; ++depth) {
        const auto* each = stripped(found.type);
        if (each == nullptr || each->kind() != array) break;
        found.type = word(each->details);
        found.count *= word(each->details + 8);
    }
    found.size = size_of(found.type, 0);
    return found;
}

/// `left`: members that may still be looked at. Structures may contain themselves several times.
std::optional<btf::place> btf::member(const type& in, std::string_view name, unsigned depth,
                                      std::size_t& left) const {
    if (depth == max_depth) return std::nullopt;
    for (std::uint32_t i = 0; i < in.length(); ++i) {
        if (left == 0) return std::nullopt;
        --left;
        const std::size_t entry = in.details + std::size_t{12} * i;
        const auto own = text(word(entry));
        const std::uint32_t bits =
            in.has_bit_fields() ? word(entry + 8) & 0xffffff : word(entry + 8);
        const bool is_field = in.has_bit_fields() && word(entry + 8) >> 24 != 0;
        if (own == name) {
            auto found = place_of(word(entry + 4));
            found.offset = bits / 8;
            if (is_field) found.bit = bits % 8;
            return found;
        }
        const auto* inner = own.empty() ? stripped(word(entry + 4)) : nullptr;
        if (inner == nullptr || !is_composite(inner->kind())) continue;
        if (auto found = member(*inner, name, depth + 1, left)) {
            found->offset += bits / 8;
            return found;
        }
    }
    return std::nullopt;
}

std::optional<btf::place> btf::find(std::string_view structure, std::string_view path) const {
    const auto* in = structure_named(structure);
    place sum;
    for (;;) {
        if (in == nullptr || !is_composite(in->kind())) return std::nullopt;
        const auto dot = std::min(path.find('.'), path.size());
        std::size_t left = max_looks;
        auto found = member(*in, path.substr(0, dot), 0, left);
        if (!found) return std::nullopt;
        found->offset += sum.offset;
        sum = *found;
        if (dot == path.size()) return sum;
        path.remove_prefix(dot + 1);
        in = stripped(sum.type);
    }
}

std::optional<std::uint64_t> btf::size_of(std::string_view structure) const {
    const auto* found = structure_named(structure);
    return found == nullptr ? std::nullopt : std::optional<std::uint64_t>(found->size_or_type);
}

std::optional<std::int64_t> btf::enumerator(std::string_view name) const {
    for (const auto& each : all_) {
        if (each.kind() != enumeration) continue;
        for (std::uint32_t i = 0; i < each.length(); ++i)
            if (const std::size_t entry = each.details + std::size_t{8} * i;
                text(word(entry)) == name)
                return static_cast<std::int32_t>(word(entry + 4));
    }
    return std::nullopt;
}

}  // namespace trn

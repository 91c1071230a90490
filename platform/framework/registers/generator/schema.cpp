// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/generator/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

namespace trn::registers {

access_effects effects_of(access kind) {
    switch (kind) {
    case access::rw:
        return {true, true};
    case access::ro:
        return {true, false};
    case access::wo:
        return {false, true};
    case access::rw1c:
        return {true, true, write_effect::one_to_clear};
    case access::rw0c:
        return {true, true, write_effect::zero_to_clear};
    case access::rw1s:
        return {true, true, write_effect::one_to_set};
    case access::w1c:
        return {false, true, write_effect::one_to_clear};
    case access::w1s:
        return {false, true, write_effect::one_to_set};
    case access::rc:
        return {true, false, write_effect::none, read_effect::clear};
    }
    return {};
}

namespace {

constexpr std::uint64_t largest_aperture = 1ull << 28;  // the index has an entry per 4 KiB of it
constexpr std::uint64_t largest_ram = 1ull << 20;
constexpr std::uint64_t max_elements = 1u << 16;
constexpr std::size_t max_dims = 3;

/// Properties that registers inherit from the block and its enclosing groups.
struct context {
    std::uint64_t base = 0;
    std::vector<array_dimension> dims;
    std::string prefix;
    std::optional<registers::access> access;
    std::optional<knowledge> known_by;
    std::optional<trn::fidelity> fidelity;
};

/// Adds without wrap-around: saturates beyond the largest aperture.
void advance(std::uint64_t& offset, std::uint64_t step) {
    constexpr std::uint64_t far = 1ull << 40;
    offset = std::min(std::min(offset, far) + std::min(step, far), far);
}

/// A number, word or quoted text without line breaks that end it early: safe to copy into a file.
bool is_rdl_literal(std::string_view text) {
    if (config::is_word(text)) return true;
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
    text = text.substr(1, text.size() - 2);
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '"' || (text[i] == '\\' && ++i == text.size())) return false;
    return true;
}

template <class T>
void override_by(std::optional<T>& inherited, const config::node& map, std::string_view key) {
    if (const auto own = map.find(key)) inherited = own.as<T>();
}

void inherit(context& c, const config::node& map) {
    override_by(c.access, map, "access");
    override_by(c.known_by, map, "known_by");
    override_by(c.fidelity, map, "fidelity");
}

template <class T>
T required(const std::optional<T>& value, const config::node& map, std::string_view key) {
    if (!value) map.at(key);  // reports the missing key
    return value.value_or(T{});
}

class reader {
public:
    reader(const config::document& document, block_spec& out)
        : root_(document.root()), file_(document.name()), out_(out) {}

    void read() {
        root_.only({"block", "source", "desc", "width", "size", "holes", "access", "known_by",
                    "fidelity", "rdl", "registers"},
                   "a register description");
        out_.block = root_.at("block").name();
        out_.place = root_.find("block").place();
        out_.source = root_.require<std::string>("source");
        out_.desc = root_.get<std::string>("desc", "");
        check_file_name();
        read_layout();
        context c;
        inherit(c, root_);
        if (!root_.is_map() || out_.width == 0) return;
        out_.rdl = read_rdl_properties(root_);
        read_list(root_.at("registers"), c, 0, out_.items);
        if (placeable_) check_layout();
    }

private:
    void check_file_name() {
        const std::string file = std::filesystem::path(file_).filename().string();
        if (out_.block.empty() || file == out_.block + ".regs.yaml") return;
        root_.at("block").report(mistake::block_name,
                                 fmt::format("block '{}' is described in '{}'", out_.block, file),
                                 fmt::format("a block's file is {}.regs.yaml", out_.block));
    }

    void read_layout() {
        const auto bits = root_.get<unsigned>("width", 32);
        if (bits == 8 || bits == 16 || bits == 32 || bits == 64) {
            out_.width = bits / 8;
        } else {
            root_.find("width").report(
                mistake::out_of_range,
                fmt::format("registers are 8, 16, 32 or 64 bits, not {}", bits));
            out_.width = 0;
        }
        const auto size = root_.at("size");
        // Offsets are plain numbers, so the aperture's size may be one too.
        out_.size = size.raw().find(' ') != std::string_view::npos ? size.as<bytes>().value
                                                                   : size.as<std::uint64_t>();
        out_.holes = root_.get("holes", hole_policy::error);
        const auto limit = out_.holes == hole_policy::ram ? largest_ram : largest_aperture;
        if (size && (out_.size == 0 || out_.size > limit))
            size.report(mistake::out_of_range,
                        fmt::format("the aperture must have 1 to {} bytes", limit));
        else if (size && out_.width != 0 && out_.size % out_.width != 0)
            size.report(mistake::misaligned, "the aperture must be a whole number of registers");
    }

    void read_list(const config::node& list, const context& c, int depth,
                   std::vector<item_spec>& items) {
        for (const auto& item : list.items()) {
            if (item.is_map() && item.find("registers"))
                read_group(item, c, depth, items);
            else
                read_register(item, c, items);
        }
    }

    /// `{array, prefix, access, ..., registers}`: registers that are repeated as a group.
    /// `{offset, prefix, ..., registers}`: a group that does not repeat.
    void read_group(const config::node& group, context c, int depth,
                    std::vector<item_spec>& items) {
        std::vector<std::string_view> known{"array",    "prefix", "access",   "known_by",
                                            "fidelity", "rdl",    "registers"};
        if (!group.find("array")) known.emplace_back("offset");
        group.only(known, "a group");
        inherit(c, group);
        item_spec item{.place = group.place()};
        if (const auto prefix = group.find("prefix")) item.prefix = prefix.name();
        c.prefix += item.prefix;
        const context outside = c;
        if (const auto array = group.find("array"))
            read_array(array, c, false);
        else
            advance(c.base, group.get<std::uint64_t>("offset", 0));
        item.base = c.base - outside.base;
        item.dims.assign(c.dims.begin() + std::ptrdiff_t(outside.dims.size()), c.dims.end());
        item.rdl = read_rdl_properties(group);
        if (depth > 4) return group.report(mistake::nested_too_deep, "groups nested too deep");
        read_list(group.at("registers"), c, depth + 1, item.items);
        items.push_back(std::move(item));
    }

    static std::vector<rdl_property> read_rdl_properties(const config::node& map) {
        std::vector<rdl_property> out;
        const auto properties = map.find("rdl");
        if (!properties) return out;
        for (const auto& [key, key_node, value] : properties.entries()) {
            const std::string name = key_node.name();
            if (!is_rdl_literal(value.raw()))
                value.report(mistake::wrong_shape,
                             "it is no number, word or quoted text of SystemRDL",
                             "for a text: '\"text\"'");
            else if (!name.empty())
                out.push_back({name, std::string(value.raw())});
        }
        return out;
    }

    /// {base, offset, stride, count} or {base, offset, dims: [{stride, count}, ...]}.
    void read_array(const config::node& array, context& c, bool of_register) {
        if (of_register)
            array.only({"base", "offset", "stride", "count", "dims"}, "an array");
        else
            array.only({"base", "stride", "count", "dims"}, "a group's array");
        advance(c.base, array.get<std::uint64_t>("base", 0));
        if (of_register) advance(c.base, array.get<std::uint64_t>("offset", 0));
        if (const auto dims = array.find("dims"))
            for (const auto& dim : dims.items()) {
                dim.only({"stride", "count"}, "an array's dimension");
                read_dimension(dim, c);
            }
        else
            read_dimension(array, c);
        if (c.dims.size() > max_dims)
            array.report(mistake::bad_array, fmt::format("more than {} dimensions", max_dims));
    }

    void read_dimension(const config::node& map, context& c) {
        const auto stride = map.require<std::uint64_t>("stride");
        const auto count = map.require<std::uint32_t>("count");
        if (count == 0)
            map.at("count").report(mistake::bad_array, "an array has at least one element");
        if (stride % out_.width != 0)
            map.at("stride").report(
                mistake::misaligned,
                fmt::format("stride {:#x} is not a multiple of {}", stride, out_.width));
        placeable_ = placeable_ && (stride != 0 || count <= 1);
        if (stride == 0 && count > 1)
            map.at("stride").report(mistake::bad_array, "elements would lie on each other");
        c.dims.push_back({stride, std::max(count, 1u)});
    }

    void read_register(const config::node& map, context c, std::vector<item_spec>& items) {
        map.only({"name", "offset", "array", "access", "modified_write_value", "read_action",
                  "write_once", "reset", "fields", "desc", "known_by", "fidelity", "contract_skip",
                  "rdl"},
                 "a register");
        const context outside = c;
        inherit(c, map);
        register_spec r;
        r.place = map.find("name") ? map.find("name").place() : map.place();
        r.name = upper(c.prefix + map.at("name").name());
        if (const auto array = map.find("array"))
            read_array(array, c, true);
        else
            advance(c.base, map.require<std::uint64_t>("offset"));
        r.offset = c.base;
        r.dims = c.dims;
        r.desc = map.get<std::string>("desc", "");
        r.access = read_rules(map, {.access = required(c.access, map, "access")});
        r.known_by = required(c.known_by, map, "known_by");
        r.fidelity = required(c.fidelity, map, "fidelity");
        r.contract_skip = map.get<std::string>("contract_skip", "");
        r.rdl = read_rdl_properties(map);
        read_reset(map, r.reset, out_.width * 8);
        if (const auto fields = map.find("fields")) read_fields(fields, r);
        check_resets(map);
        check_register(map, r);
        item_spec item{.reg = r, .place = r.place};
        item.reg->name = map.find("name").raw();
        item.reg->offset -= outside.base;
        item.reg->dims.erase(item.reg->dims.begin(),
                             item.reg->dims.begin() + std::ptrdiff_t(outside.dims.size()));
        items.push_back(std::move(item));
        out_.registers.push_back(std::move(r));
    }

    void read_reset(const config::node& map, std::uint64_t& value, unsigned bits) {
        const auto reset = map.find("reset");
        if (!reset) return;
        value = reset.as<std::uint64_t>();
        if (bits < 64 && value >> bits != 0)
            reset.report(mistake::reset_too_wide,
                         fmt::format("{:#x} does not fit {} bits", value, bits));
    }

    /// The rules with the keys of a register or field.
    static access_rules read_rules(const config::node& map, access_rules rules) {
        if (const auto key = map.find("modified_write_value")) {
            rules.write = key.as<write_effect>();
            if (rules.access != access::rw && rules.access != access::wo)
                report_without_effect(key, rules.access, "whose access is rw or wo");
        }
        if (const auto key = map.find("read_action")) {
            rules.read = key.as<read_effect>();
            if (!effects_of(rules.access).is_readable || rules.access == access::rc)
                report_without_effect(key, rules.access, "that software can read");
        }
        if (const auto key = map.find("write_once")) {
            rules.once = key.as<bool>();
            if (rules.once && !effects_of(rules.access).is_writable)
                report_without_effect(key, rules.access, "that software can write");
        }
        return rules;
    }
    static void report_without_effect(const config::node& key, access kind,
                                      std::string_view wanted) {
        key.report(mistake::unused_key,
                   fmt::format("it has no effect here: the access is {}", name_of(kind)),
                   fmt::format("for bits {}", wanted));
    }

    /// Reports a reset value of a register whose fields have reset values too.
    void check_resets(const config::node& map) {
        const auto reset = map.find("reset");
        const auto fields = map.find("fields");
        if (!reset || !fields) return;
        for (const auto& field : fields.items())
            if (field.find("reset"))
                return reset.report(mistake::unused_key,
                                    "a register whose fields have reset values has none",
                                    "give each field its part of the value");
    }

    void read_fields(const config::node& list, register_spec& r) {
        std::map<std::string, int> names;
        std::uint64_t taken = 0;
        for (const auto& map : list.items()) {
            map.only({"name", "bits", "access", "modified_write_value", "read_action", "write_once",
                      "reset", "desc", "values", "rdl"},
                     "a field");
            field_spec f;
            const auto name = map.at("name");
            f.name = upper(name.name());
            f.place = name.place();
            if (!f.name.empty() && !names.emplace(f.name, 0).second)
                name.report(mistake::duplicate_name, fmt::format("a second field '{}'", f.name));
            if (!read_bits(map.at("bits"), f)) continue;
            const auto own = map.find("access");
            f.access = read_rules(map, own ? access_rules{.access = own.as<access>()} : r.access);
            f.desc = map.get<std::string>("desc", "");
            f.rdl = read_rdl_properties(map);
            if ((taken & f.mask()) != 0)
                map.at("bits").report(mistake::field_overlap,
                                      fmt::format("field '{}' shares bits with another", f.name));
            taken |= f.mask();
            std::uint64_t reset = 0;
            if (map.find("reset")) {
                read_reset(map, reset, f.width);
                r.reset = (r.reset & ~f.mask()) | ((reset << f.lsb) & f.mask());
            }
            if (const auto values = map.find("values")) read_values(values, f);
            r.fields.push_back(std::move(f));
        }
        std::ranges::sort(r.fields, std::greater<>(), &field_spec::lsb);
    }

    /// "7" or "23:16", the high bit first.
    bool read_bits(const config::node& node, field_spec& f) {
        const std::string_view text = node.raw();
        const auto colon = text.find(':');
        const auto high = config::parse_unsigned(text.substr(0, colon));
        const auto low =
            colon == std::string_view::npos ? high : config::parse_unsigned(text.substr(colon + 1));
        const auto* h = std::get_if<std::uint64_t>(&high);
        const auto* l = std::get_if<std::uint64_t>(&low);
        if (h != nullptr && l != nullptr && *h >= *l && *h < out_.width * 8) {
            f.lsb = static_cast<unsigned>(*l);
            f.width = static_cast<unsigned>(*h - *l + 1);
            return true;
        }
        node.report(mistake::bad_bits,
                    fmt::format("'{}' is not a bit range of a {}-bit register", text.substr(0, 40),
                                out_.width * 8),
                    "write it like \"7\" or \"23:16\"");
        return false;
    }

    void read_values(const config::node& map, field_spec& f) {
        std::map<std::string, int> names;
        for (const auto& e : map.entries()) {
            value_spec v{upper(e.key_node.name()), e.value.as<std::uint64_t>(), e.key_node.place()};
            if (f.width < 64 && v.value >> f.width != 0)
                e.value.report(mistake::reset_too_wide,
                               fmt::format("{:#x} does not fit {} bits", v.value, f.width));
            if (!v.name.empty() && !names.emplace(v.name, 0).second)
                e.key_node.report(mistake::duplicate_name,
                                  fmt::format("a second value '{}'", v.name));
            f.values.push_back(std::move(v));
        }
    }

    void check_register(const config::node& map, const register_spec& r) {
        if (r.offset % out_.width != 0)
            map.report(mistake::misaligned,
                       fmt::format("offset {:#x} is not a multiple of {}", r.offset, out_.width));
        std::uint64_t last = r.offset;
        std::uint64_t elements = 1;
        for (const auto& dim : r.dims) {
            elements *= std::min<std::uint64_t>(dim.count, max_elements + 1);
            if (elements > max_elements) {
                placeable_ = false;
                return map.report(mistake::bad_array,
                                  fmt::format("more than {} elements", max_elements));
            }
            advance(last, std::min(dim.stride, largest_aperture) * (dim.count - 1));
        }
        if (last + out_.width > out_.size)
            map.report(mistake::register_outside,
                       fmt::format("'{}' ends at {:#x}, the aperture at {:#x}", r.name,
                                   last + out_.width, out_.size));
        if (!r.name.empty() && !names_.emplace(r.name, r.place.line).second)
            map.at("name").report(mistake::duplicate_name,
                                  fmt::format("a second register '{}'", r.name),
                                  fmt::format("first on line {}", names_[r.name]));
    }

    /// Reports elements of registers that share an offset.
    void check_layout() {
        std::ranges::stable_sort(out_.registers, {}, &register_spec::offset);
        std::uint64_t total = 0;
        for (const auto& r : out_.registers) total += r.count();
        if (total > max_elements)
            return root_.at("registers")
                .report(mistake::bad_array,
                        fmt::format("more than {} registers in a block", max_elements));
        std::map<std::uint64_t, const register_spec*> by_offset;
        for (const auto& r : out_.registers)
            for_each_element(r, [&](std::uint64_t offset) {
                const auto [other, fresh] = by_offset.emplace(offset, &r);
                if (!fresh) report_overlap(r, *other->second, offset);
                return fresh;
            });
    }

    template <class Visit>
    static void for_each_element(const register_spec& r, Visit visit) {
        std::array<array_dimension, max_dims> d{};
        std::copy_n(r.dims.begin(), std::min(r.dims.size(), max_dims), d.begin());
        for (std::uint32_t i = 0; i < d[0].count; ++i)
            for (std::uint32_t j = 0; j < d[1].count; ++j)
                for (std::uint32_t k = 0; k < d[2].count; ++k)
                    if (!visit(r.offset + i * d[0].stride + j * d[1].stride + k * d[2].stride))
                        return;
    }

    void report_overlap(const register_spec& r, const register_spec& other, std::uint64_t offset) {
        root_.report_at(r.place, mistake::register_overlap,
                        fmt::format("'{}' and '{}' are both at {:#x}", r.name, other.name, offset),
                        fmt::format("'{}' is on line {}", other.name, other.place.line));
    }

    const config::node root_;
    const std::string file_;
    block_spec& out_;
    std::map<std::string, int> names_;  // register -> line
    bool placeable_ = true;             // false: an array exceeds all bounds
};

void apply_write(bit_access& bits, write_effect effect, std::uint64_t mask) {
    switch (effect) {
    case write_effect::none:
        bits.stored |= mask;
        break;
    case write_effect::one_to_clear:
        bits.clears |= mask;
        break;
    case write_effect::one_to_set:
        bits.sets |= mask;
        break;
    case write_effect::one_to_toggle:
        bits.toggles |= mask;
        break;
    case write_effect::zero_to_clear:
        bits.kept |= mask;
        break;
    case write_effect::zero_to_set:
        bits.zero_sets |= mask;
        break;
    case write_effect::zero_to_toggle:
        bits.zero_toggles |= mask;
        break;
    case write_effect::clear:
        bits.clears |= mask;
        bits.kept |= mask;
        break;
    case write_effect::set:
        bits.sets |= mask;
        bits.zero_sets |= mask;
        break;
    case write_effect::modify:
        bits.written_by_model |= mask;
        break;
    }
}

void apply(bit_access& bits, const access_rules& rules, std::uint64_t mask) {
    for (auto* m : {&bits.readable, &bits.stored, &bits.clears, &bits.sets, &bits.drained,
                    &bits.kept, &bits.toggles, &bits.zero_sets, &bits.zero_toggles, &bits.filled,
                    &bits.once, &bits.written_by_model, &bits.read_by_model})
        *m &= ~mask;
    const auto [is_readable, is_writable, write, read] = effects_of(rules.access);
    if (is_readable) bits.readable |= mask;
    if (is_writable)
        apply_write(bits, rules.write != write_effect::none ? rules.write : write, mask);
    const read_effect action = rules.read != read_effect::none ? rules.read : read;
    if (action == read_effect::clear) bits.drained |= mask;
    if (action == read_effect::set) bits.filled |= mask;
    if (action == read_effect::modify) bits.read_by_model |= mask;
    if (rules.once) bits.once |= mask;
}

}  // namespace

std::string to_string(const access_rules& rules) {
    std::string text(name_of(rules.access));
    if (rules.write != write_effect::none) text += fmt::format(", {}", name_of(rules.write));
    if (rules.read != read_effect::none) text += fmt::format(", read {}", name_of(rules.read));
    return text + (rules.once ? ", once" : "");
}

std::uint32_t register_spec::count() const {
    std::uint64_t n = 1;
    for (const auto& dim : dims) n = std::min<std::uint64_t>(n * dim.count, 1u << 20);
    return static_cast<std::uint32_t>(n);
}

bit_access register_spec::bits(unsigned width) const {
    bit_access bits{};
    apply(bits, access, register_field{0, 0, static_cast<std::uint8_t>(width * 8)}.mask());
    for (const auto& f : fields) apply(bits, f.access, f.mask());
    return bits;
}

block_spec read_block(const config::document& document) {
    block_spec block;
    reader(document, block).read();
    document.reject_unused();
    return block;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <charconv>

#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/exchange/ipxact_words.h"
#include "platform/framework/registers/exchange/xml_tree.h"

namespace trn::registers {

namespace {

constexpr std::uint64_t max_offset = 1ull << 40;

/// Reads IEEE 1685-2014, and of 1685-2009 and 1685-2022 what looks alike.
class ipxact_reader {
public:
    explicit ipxact_reader(foreign_reader& reader) : reader_(reader) {}

    block_spec block(const xml_element& component) {
        if (component.name != "component")
            reader_.refuse(
                component.place, mistake::wrong_shape,
                fmt::format("a component is expected, not '{}'", printable(component.name)));
        read_parameters(component);
        const auto& [map, addresses] = choose(component);
        block_spec out{.block = name_of(addresses), .place = name_place(addresses)};
        if (const auto* unit = map.find("addressUnitBits"); unit != nullptr && number(*unit) != 8)
            reader_.unsupported(unit->place, "an address unit of other than 8 bits");
        width_ = 0;
        find_width(addresses);
        if (width_ == 0)
            width_ = static_cast<unsigned>(bounded(require(addresses, "width"), 1 << 16));
        out.width = width_ / 8;
        if (width_ != 8 && width_ != 16 && width_ != 32 && width_ != 64)
            reader_.refuse(require(addresses, "width").place, mistake::out_of_range,
                           fmt::format("registers are 8, 16, 32 or 64 bits, not {}", width_));
        out.size = bounded(require(addresses, "range"), max_offset);
        out.source = "read from " + reader_.file().name;
        if (const auto* source = own(addresses, "source")) out.source = source->text;
        if (const auto* holes = own(addresses, "holes")) out.holes = choice_of<hole_policy>(*holes);
        out.desc = description(addresses);
        out.rdl = kept(addresses);
        if (!check(addresses,
                   {"baseAddress", "range", "width", "usage", "register", "registerFile"}))
            reader_.leave_out(addresses.place, "the address block is not present in this design");
        out.items = items(addresses, access_of(addresses, {}));
        return out;
    }

private:
    struct chosen {
        const xml_element& map;
        const xml_element& addresses;
    };

    chosen choose(const xml_element& component) {
        std::vector<chosen> found;
        std::vector<std::string> names;
        const auto& wanted = reader_.file().block;
        const auto* maps = component.find("memoryMaps");
        if (maps == nullptr)
            reader_.refuse(component.place, mistake::missing_key,
                           "the component has no memory map");
        for (const auto& map : maps->children)
            for (const auto& each : map.children) {
                if (each.name != "addressBlock" || is_memory(each)) continue;
                names.push_back(text_of(each, "name"));
                if (wanted.empty() || wanted == names.back() || wanted == text_of(map, "name"))
                    found.push_back({map, each});
            }
        if (found.empty() && !wanted.empty())
            reader_.refuse(maps->place, mistake::unknown_type,
                           fmt::format("no address block '{}'", wanted), suggest(wanted, names));
        if (found.empty())
            reader_.refuse(maps->place, mistake::missing_key, "no address block has registers");
        if (found.size() > 1)
            reader_.refuse(found[1].addresses.place, mistake::duplicate_key,
                           fmt::format("{} address blocks: a description is of one", found.size()),
                           fmt::format("choose one with --block: {}", fmt::join(names, ", ")));
        for (const auto& each : found[0].map.children)
            if (each.name == "bank" || each.name == "subspaceMap" || each.name == "memoryRemap")
                reader_.leave_out(each.place, fmt::format("'{}': left out", each.name));
        return found[0];
    }
    static bool is_memory(const xml_element& addresses) {
        const auto* usage = addresses.find("usage");
        return usage != nullptr && usage->text != "register";
    }

    void read_parameters(const xml_element& component) {
        if (const auto* list = component.find("parameters"))
            for (const auto& each : list->children)
                if (const auto id = each.attributes.find("parameterId");
                    id != each.attributes.end())
                    if (const auto* value = each.find("value"))
                        if (const auto parsed = parse(value->text))
                            parameters_[id->second] = *parsed;
    }

    const xml_element& require(const xml_element& in, std::string_view name) const {
        const auto* found = in.find(name);
        if (found == nullptr)
            reader_.refuse(in.place, mistake::missing_key,
                           fmt::format("'{}' has no '{}'", in.name, name));
        return *found;
    }
    std::string text_of(const xml_element& in, std::string_view name) const {
        return require(in, name).text;
    }
    /// A name becomes a word of YAML: only a word stays what it is there.
    std::string name_of(const xml_element& in) const {
        return checked_word(require(in, "name"), text_of(in, "name"));
    }
    std::string checked_word(const xml_element& in, const std::string& text) const {
        if (!config::is_word(text))
            reader_.refuse(in.place, mistake::bad_name,
                           fmt::format("'{}' is not a name: letters, digits and _ only",
                                       printable(text.substr(0, 60))));
        return text;
    }
    config::place name_place(const xml_element& in) const { return require(in, "name").place; }
    static std::string description(const xml_element& in) {
        const auto* found = in.find("description");
        return found == nullptr ? "" : found->text;
    }

    /// 12, 0x1f, #1f, 'h1f, 8'b101, "1f", 4K; a parameter.
    std::optional<std::uint64_t> parse(std::string_view text) const {
        int base = 10;
        std::uint64_t unit = 1;
        if (text.size() > 1 && text.front() == '"' && text.back() == '"')
            text = text.substr(1, text.size() - 2);
        if (const auto found = parameters_.find(std::string(text)); found != parameters_.end())
            return found->second;
        if (text.starts_with("0x") || text.starts_with("0X")) {
            base = 16;
            text.remove_prefix(2);
        } else if (text.starts_with('#')) {
            base = 16;
            text.remove_prefix(1);
        } else if (const auto quote = text.find('\'');
                   quote != text.npos && quote + 1 < text.size()) {
            if (text.substr(0, quote).find_first_not_of("0123456789") != text.npos)
                return std::nullopt;
            text.remove_prefix(quote + 1);
            if (text[0] == 's' || text[0] == 'S') text.remove_prefix(1);
            const char kind = text.empty() ? ' ' : text[0];
            base = kind == 'h' || kind == 'H'   ? 16
                   : kind == 'b' || kind == 'B' ? 2
                   : kind == 'o' || kind == 'O' ? 8
                   : kind == 'd' || kind == 'D' ? 10
                                                : 0;
            if (base == 0) return std::nullopt;
            text.remove_prefix(1);
        } else if (!text.empty()) {
            const auto power = std::string_view("KMGT").find(text.back());
            if (power != std::string_view::npos) {
                unit = 1ull << (10 * (power + 1));
                text.remove_suffix(1);
            }
        }
        std::string digits;
        for (const char c : text)
            if (c != '_') digits += c;
        std::uint64_t value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
        if (error != std::errc() || end != digits.data() + digits.size() ||
            __builtin_mul_overflow(value, unit, &value))
            return std::nullopt;
        return value;
    }
    std::uint64_t number(const xml_element& in) const {
        const auto value = parse(in.text);
        if (!value)
            reader_.refuse(
                in.place, mistake::not_a_number,
                fmt::format(
                    "'{}' is '{}': numbers of up to 64 bits and names of parameters are supported",
                    in.name, printable(in.text.substr(0, 60))));
        return *value;
    }
    std::uint64_t bounded(const xml_element& in, std::uint64_t max) const {
        const auto value = number(in);
        if (value > max)
            reader_.refuse(in.place, mistake::out_of_range,
                           fmt::format("'{}' is {}, at most {} is possible", in.name, value, max));
        return value;
    }

    /// All registers of a block have one width.
    void find_width(const xml_element& in) {
        for (const auto& each : in.children) {
            if (each.name == "registerFile") find_width(each);
            if (each.name != "register") continue;
            const auto& size = require(each, "size");
            const auto bits = bounded(size, 1 << 16);
            if (width_ != 0 && bits != width_)
                reader_.unsupported(
                    size.place,
                    fmt::format("a register of {} bits beside registers of {} bits", bits, width_),
                    "give each width a block of its own");
            width_ = static_cast<unsigned>(bits);
        }
    }

    /// What the description's own words became; null if this is a file of others.
    static const xml_element* own(const xml_element& in, std::string_view name) {
        const auto* all = in.find("vendorExtensions");
        if (all == nullptr) return nullptr;
        for (const auto& each : all->children)
            if (each.is_ours() && each.name == name) return &each;
        return nullptr;
    }
    std::vector<rdl_property> kept(const xml_element& in) {
        std::vector<rdl_property> out;
        const auto* all = in.find("vendorExtensions");
        if (all == nullptr) return out;
        for (const auto& each : all->children)
            if (!each.is_ours())
                reader_.leave_out(
                    each.place, fmt::format("the extension '{}' of a vendor: left out", each.name));
            else if (const auto name = each.attributes.find("name");
                     each.name == "rdl" && name != each.attributes.end())
                out.push_back(
                    {checked_word(each, name->second),
                     each.text.starts_with('"') ? each.text : checked_word(each, each.text)});
        return out;
    }
    template <class Choice>
    Choice choice_of(const xml_element& in) const {
        std::vector<std::string_view> names;
        for (const auto& each : config::choices<Choice>::list) {
            if (each.name == in.text) return each.value;
            names.push_back(each.name);
        }
        reader_.refuse(in.place, mistake::not_a_choice,
                       fmt::format("'{}' is no choice", printable(in.text)),
                       suggest(in.text, names));
    }

    /// Of 1685-2022, elements of an access policy.
    static const xml_element* policy(const xml_element& in, std::string_view name) {
        if (const auto* direct = in.find(name)) return direct;
        for (const auto* outer : {"accessPolicies", "fieldAccessPolicies"})
            if (const auto* list = in.find(outer))
                for (const auto& each : list->children)
                    if (const auto* found = each.find(name)) return found;
        return nullptr;
    }
    ipxact_access access_of(const xml_element& in, const ipxact_access& inherited) const {
        const auto* access = policy(in, "access");
        if (access == nullptr) return inherited.word.empty() ? ipxact_accesses[0] : inherited;
        for (const auto& each : ipxact_accesses)
            if (each.word == access->text) return each;
        reader_.refuse(access->place, mistake::not_a_choice,
                       fmt::format("'{}' is no access of IP-XACT", printable(access->text)));
    }

    /// Names the elements that are not read; false: the item is not present.
    bool check(const xml_element& in, std::initializer_list<std::string_view> read) {
        static constexpr std::array<std::string_view, 16> harmless{
            "name",        "displayName",      "shortDescription",
            "description", "accessHandles",    "typeIdentifier",
            "volatile",    "testable",         "writeValueConstraint",
            "parameters",  "vendorExtensions", "isPresent",
            "access",      "accessPolicies",   "fieldAccessPolicies",
            "reserved"};
        for (const auto& each : in.children) {
            if (each.name == "alternateRegisters")
                reader_.unsupported(each.place, "'alternateRegisters'");
            if (std::ranges::find(harmless, each.name) == harmless.end() &&
                std::ranges::find(read, each.name) == read.end())
                reader_.leave_out(each.place, fmt::format("'{}': left out", each.name));
        }
        const auto* present = in.find("isPresent");
        return present == nullptr || number(*present) != 0;
    }

    struct shape {
        std::uint64_t offset;
        std::vector<array_dimension> dims;
    };
    /// Elements are as far apart as `size` says, or 1685-2022's stride.
    shape shape_of(const xml_element& in, std::uint64_t size) const {
        shape out{bounded(require(in, "addressOffset"), max_offset), {}};
        const auto* array = in.find("array");
        const auto& dims = array != nullptr ? *array : in;
        if (const auto* stride = dims.find("stride"); stride != nullptr && array != nullptr)
            size = bounded(*stride, max_offset);
        for (const auto& each : dims.children)
            if (each.name == "dim") {
                const auto count = bounded(each, 1u << 31);
                if (count == 0)
                    reader_.refuse(each.place, mistake::bad_array,
                                   "an array has at least one element");
                out.dims.push_back({0, static_cast<std::uint32_t>(count)});
            }
        for (auto dim = out.dims.rbegin(); dim != out.dims.rend(); ++dim) {
            dim->stride = size;
            if (__builtin_mul_overflow(size, dim->count, &size) || size > max_offset)
                reader_.refuse(in.place, mistake::bad_array, "the array ends beyond 2^40 bytes");
        }
        return out;
    }

    std::vector<item_spec> items(const xml_element& in, const ipxact_access& access) {
        std::vector<item_spec> out;
        for (const auto& each : in.children) {
            if (each.name == "register" &&
                check(each, {"addressOffset", "size", "dim", "array", "field", "reset"}))
                out.push_back(one_register(each, access));
            if (each.name == "registerFile" &&
                check(each, {"addressOffset", "range", "dim", "array", "register", "registerFile"}))
                out.push_back(group(each, access));
        }
        return out;
    }

    item_spec group(const xml_element& in, const ipxact_access& access) {
        item_spec item{.prefix = name_of(in) + "_", .place = name_place(in)};
        const auto range = bounded(require(in, "range"), max_offset);
        auto [offset, dims] = shape_of(in, range);
        item.base = offset;
        item.dims = std::move(dims);
        if (const auto* prefix = own(in, "prefix"))
            item.prefix = prefix->text.empty() ? "" : checked_word(*prefix, prefix->text);
        item.rdl = kept(in);
        item.items = items(in, access_of(in, access));
        if (own(in, "of_register") != nullptr && item.items.size() == 1 && item.items[0].reg) {
            auto inner = std::move(item.items[0]);
            inner.reg->offset = item.base;
            inner.reg->dims = std::move(item.dims);
            return inner;
        }
        return item;
    }

    item_spec one_register(const xml_element& in, const ipxact_access& inherited) {
        auto [offset, dims] = shape_of(in, width_ / 8);
        register_spec r{.name = name_of(in),
                        .offset = offset,
                        .dims = std::move(dims),
                        .place = name_place(in)};
        r.desc = description(in);
        r.known_by = knowledge::document;
        r.fidelity = fidelity::stub;
        if (const auto* known = own(in, "known_by")) r.known_by = choice_of<knowledge>(*known);
        if (const auto* exact = own(in, "fidelity")) r.fidelity = choice_of<trn::fidelity>(*exact);
        if (const auto* skip = own(in, "contract_skip")) r.contract_skip = skip->text;
        r.rdl = kept(in);
        const auto access = access_of(in, inherited);
        const auto reset = register_reset(in);
        std::vector<field_part> parts;
        for (const auto& each : in.children)
            if (each.name == "field" &&
                check(each, {"bitOffset", "bitWidth", "resets", "enumeratedValues",
                             "modifiedWriteValue", "readAction"})) {
                auto part = field(each, access, reset);
                if (part) parts.push_back(std::move(*part));
            }
        auto rules = own_access(in);
        if (parts.empty() && !rules && (access.is_readable || access.is_writable)) {
            rules = shortest({access.is_readable, access.is_writable, {}, {}, access.once});
            r.reset = reset;
        }
        join_parts(r, std::move(parts), width_, rules);
        const auto place = r.place;
        return {.reg = std::move(r), .place = place};
    }

    std::optional<access_rules> own_access(const xml_element& in) const {
        const auto* text = own(in, "access");
        if (text == nullptr) return std::nullopt;
        const auto rules = from_words(text->text);
        if (!rules)
            reader_.refuse(text->place, mistake::not_a_choice,
                           fmt::format("'{}' is no access", printable(text->text)));
        return rules;
    }

    /// Of 1685-2009: one value for the register.
    std::uint64_t register_reset(const xml_element& in) const {
        const auto* reset = in.find("reset");
        if (reset == nullptr) return 0;
        const auto* mask = reset->find("mask");
        const auto value =
            number(require(*reset, "value")) & (mask != nullptr ? number(*mask) : ~0ull);
        if (width_ < 64 && value >> width_ != 0)
            reader_.refuse(reset->place, mistake::reset_too_wide,
                           fmt::format("{:#x} does not fit {} bits", value, width_));
        return value;
    }

    std::optional<field_part> field(const xml_element& in, const ipxact_access& inherited,
                                    std::uint64_t of_register) {
        field_part part;
        auto& f = part.field;
        f.name = name_of(in);
        f.place = name_place(in);
        f.desc = description(in);
        f.lsb = static_cast<unsigned>(bounded(require(in, "bitOffset"), width_ - 1));
        const auto& width = require(in, "bitWidth");
        f.width = static_cast<unsigned>(bounded(width, width_ - f.lsb));
        if (f.width == 0)
            reader_.refuse(width.place, mistake::bad_bits, "a field has at least one bit");
        const auto access = access_of(in, inherited);
        if (!access.is_readable && !access.is_writable) {
            reader_.leave_out(f.place,
                              fmt::format("software has no access to '{}': left out", f.name));
            return std::nullopt;
        }
        plain_rules rules{access.is_readable, access.is_writable, {}, {}, access.once};
        rules.write = effect_of(in, "modifiedWriteValue", ipxact_write_words, rules.is_writable);
        rules.read = effect_of(in, "readAction", ipxact_read_words, rules.is_readable);
        f.access = own_access(in).value_or(shortest(rules));
        f.rdl = kept(in);
        part.is_unnamed = own(in, "unnamed") != nullptr;
        part.reset = (of_register & f.mask()) >> f.lsb;
        if (const auto* resets = in.find("resets")) part.reset = field_reset(*resets, f);
        if (const auto* values = in.find("enumeratedValues"))
            for (const auto& each : values->children)
                if (each.name == "enumeratedValue")
                    f.values.push_back(
                        {name_of(each), number(require(each, "value")), name_place(each)});
        return part;
    }

    std::uint64_t field_reset(const xml_element& resets, const field_spec& f) const {
        const xml_element* reset = nullptr;
        for (const auto& each : resets.children)
            if (each.name == "reset" &&
                (reset == nullptr || !each.attributes.contains("resetTypeRef")))
                reset = &each;
        if (reset == nullptr) return 0;
        const auto* mask = reset->find("mask");
        const auto value =
            number(require(*reset, "value")) & (mask != nullptr ? number(*mask) : ~0ull);
        if (f.width < 64 && value >> f.width != 0)
            reader_.refuse(reset->place, mistake::reset_too_wide,
                           fmt::format("{:#x} does not fit {} bits", value, f.width));
        return value;
    }

    template <class Effect, std::size_t Size>
    Effect effect_of(const xml_element& in, std::string_view name,
                     const std::array<effect_word<Effect>, Size>& words, bool is_possible) const {
        const auto* found = policy(in, name);
        if (found == nullptr) return Effect::none;
        if (!is_possible)
            reader_.refuse(found->place, mistake::unused_key,
                           fmt::format("'{}' has no effect with this access", name));
        for (const auto& each : words)
            if (each.word == found->text) return each.effect;
        reader_.refuse(found->place, mistake::not_a_choice,
                       fmt::format("'{}' is no value of '{}'", printable(found->text), name));
    }

    foreign_reader& reader_;
    std::map<std::string, std::uint64_t> parameters_;
    unsigned width_ = 0;  // bits of all registers
};

}  // namespace

foreign_block read_ipxact(const foreign_text& file) {
    foreign_reader reader(file);
    const auto component = read_xml(reader);
    foreign_block out{.block = ipxact_reader(reader).block(component), .left_out = {}};
    out.left_out = reader.take_left_out();
    return out;
}

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "platform/framework/registers/exchange/access_words.h"
#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/exchange/rdl_properties.h"
#include "platform/framework/registers/exchange/rdl_tree.h"
#include "platform/framework/registers/exchange/rdl_words.h"

namespace trn::registers {

namespace {

using rdl::component_kind;
using rdl::node;
using rdl::property;
using rdl::value;
using rdl::value_kind;

constexpr std::uint64_t max_address = 1ull << 40;

/// Addresses of the components of an addrmap, by the rules of SystemRDL for those that have none.
class placement {
public:
    explicit placement(const foreign_reader& reader) : reader_(reader) {}

    /// Sets `address` and `stride` of everything in `group`.
    void place(node& group, const std::string& addressing, std::uint64_t alignment) {
        std::string mode = addressing;
        if (group.kind == component_kind::addrmap) {  // an inner one inherits nothing
            mode = "regalign";
            alignment = 1;
        }
        if (const auto* own = group.find("addressing")) {
            mode = own->value.text;
            if (mode != "compact" && mode != "regalign" && mode != "fullalign")
                reader_.refuse(own->place, mistake::not_a_choice,
                               "addressing is compact, regalign or fullalign");
        }
        if (const auto* own = group.find("alignment")) alignment = positive(*own);
        std::uint64_t next = 0;
        for (auto& child : group.children) {
            if (child.kind == component_kind::signal) continue;
            if (child.kind != component_kind::reg) place(child, mode, alignment);
            const auto size = element_size(child);
            if (!child.stride) child.stride = size;
            if (!child.address) {
                std::uint64_t align = std::max<std::uint64_t>(alignment, child.align.value_or(1));
                if (mode == "compact")
                    align = std::max(align,
                                     child.kind == component_kind::reg ? access_bytes(child) : 1);
                else
                    align =
                        std::max(align, std::bit_ceil(mode == "fullalign" ? span(child) : size));
                child.address = checked(child, (next + align - 1) / align * align);
            }
            next = end(child);
        }
    }

    std::uint64_t end(const node& child) const {
        return checked(child, checked(child, *child.address) + span(child));
    }

private:
    std::uint64_t positive(const property& p) const {
        if (p.value.number == 0 || p.value.number > max_address)
            reader_.refuse(p.place, mistake::out_of_range, "an alignment is 1 to 2^40 bytes");
        return p.value.number;
    }
    std::uint64_t checked(const node& child, std::uint64_t address) const {
        if (child.align.value_or(1) == 0 || child.align.value_or(1) > max_address)
            reader_.refuse(child.place, mistake::out_of_range, "an alignment is 1 to 2^40 bytes");
        if (address > max_address)
            reader_.refuse(child.place, mistake::out_of_range,
                           fmt::format("'{}' lies beyond 2^40 bytes", child.name));
        return address;
    }
    static std::uint64_t access_bytes(const node& reg) {
        const auto* width = reg.find("accesswidth");
        if (width == nullptr) width = reg.find("regwidth");
        return width == nullptr ? 4 : std::clamp<std::uint64_t>(width->value.number / 8, 1, 8);
    }
    std::uint64_t element_size(const node& child) const {
        if (child.kind == component_kind::reg) {
            const auto* width = child.find("regwidth");
            return width == nullptr
                       ? 4
                       : std::clamp<std::uint64_t>(width->value.number / 8, 1, 1 << 16);
        }
        std::uint64_t last = 0;
        for (const auto& each : child.children)
            if (each.kind != component_kind::signal) last = std::max(last, end(each));
        return last;
    }
    /// Bytes from the first element's begin to the last one's end.
    std::uint64_t span(const node& child) const {
        std::uint64_t count = 1;
        for (const auto dim : child.dims) {
            if (dim == 0)
                reader_.refuse(child.place, mistake::bad_array,
                               "an array has at least one element");
            if (__builtin_mul_overflow(count, dim, &count) || count > max_address)
                reader_.refuse(child.place, mistake::bad_array,
                               fmt::format("'{}' has too many elements", child.name));
        }
        std::uint64_t bytes = 0;
        if (__builtin_mul_overflow(count - 1, *child.stride, &bytes)) bytes = max_address;
        return checked(child, std::min(bytes, max_address) + element_size(child));
    }

    const foreign_reader& reader_;
};

class rdl_reader {
public:
    explicit rdl_reader(foreign_reader& reader) : reader_(reader) {}

    block_spec block(node& top) {
        block_spec out{.block = top.name, .place = top.place};
        placement places(reader_);
        places.place(top, "regalign", 1);
        width_ = 0;
        is_msb0_ = is_true(top, "msb0");
        find_width(top);
        out.width = width_ == 0 ? 4 : width_ / 8;
        out.source = text_of(top, "trnvp_source").value_or("read from " + reader_.file().name);
        out.desc = text_of(top, "desc").value_or("");
        if (const auto* holes = top.find("trnvp_holes")) out.holes = choice_of<hole_policy>(*holes);
        std::uint64_t last = out.width;
        for (const auto& child : top.children)
            if (child.kind != component_kind::signal) last = std::max(last, places.end(child));
        const auto* size = top.find("trnvp_size");
        out.size = size != nullptr ? size->value.number : std::bit_ceil(last);
        out.rdl = kept(top);
        out.items = items(top);
        return out;
    }

private:
    bool is_true(const node& n, const std::string& name) const {
        const auto* p = n.find(name);
        if (p == nullptr) return false;
        if (p->value.kind != value_kind::boolean && p->value.kind != value_kind::number)
            reader_.refuse(p->place, mistake::not_a_choice,
                           fmt::format("'{}' is true or false", name));
        return p->value.is_true();
    }
    std::optional<std::string> text_of(const node& n, const std::string& name) const {
        const auto* p = n.find(name);
        if (p == nullptr) return std::nullopt;
        if (p->value.kind != value_kind::text)
            reader_.refuse(p->place, mistake::wrong_shape, fmt::format("'{}' is a text", name));
        return p->value.text;
    }
    template <class Choice>
    Choice choice_of(const property& p) const {
        std::vector<std::string_view> names;
        for (const auto& each : config::choices<Choice>::list) {
            if (each.name == p.value.text) return each.value;
            names.push_back(each.name);
        }
        reader_.refuse(p.place, mistake::not_a_choice,
                       fmt::format("'{}' is no choice", p.value.text),
                       suggest(p.value.text, names));
    }

    /// All registers of a block have one width.
    void find_width(const node& group) {
        for (const auto& child : group.children) {
            if (child.kind == component_kind::signal) continue;
            if (child.kind != component_kind::reg) {
                find_width(child);
                continue;
            }
            const auto* width = child.find("regwidth");
            const std::uint64_t bits = width == nullptr ? 32 : width->value.number;
            if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
                reader_.refuse(width->place, mistake::out_of_range,
                               fmt::format("registers are 8, 16, 32 or 64 bits, not {}", bits));
            if (width_ != 0 && bits != width_)
                reader_.unsupported(child.place,
                                    fmt::format("'{}' of {} bits beside registers of {} bits",
                                                child.name, bits, width_),
                                    "give each width a block of its own");
            const auto* access = child.find("accesswidth");
            if (access != nullptr && access->value.number != bits)
                reader_.unsupported(access->place,
                                    fmt::format("an access of {} bits to a register of {} bits",
                                                access->value.number, bits));
            width_ = static_cast<unsigned>(bits);
        }
    }

    /// Properties that the platform does not use. Those that name other hardware are left out.
    std::vector<rdl_property> kept(const node& n) {
        std::vector<rdl_property> out;
        for (const auto& [name, p] : n.properties) {
            const auto* const row =
                std::ranges::find(rdl::property_rows, name, &rdl::property_row::name);
            const bool is_desc =
                name == "desc" && (n.kind == component_kind::regfile ||
                                   (n.kind == component_kind::addrmap && depth_ > 0));
            if (row->use != rdl::use::kept && !is_desc) continue;
            switch (p.value.kind) {
            case value_kind::boolean:
                out.push_back({name, !p.modifier.empty()   ? p.modifier
                                     : p.value.number != 0 ? "true"
                                                           : "false"});
                break;
            case value_kind::number:
                out.push_back({name, std::to_string(p.value.number)});
                break;
            case value_kind::word:
                out.push_back({name, p.value.text});
                break;
            case value_kind::text:
                out.push_back({name, rdl_text(p.value.text)});
                break;
            case value_kind::reference:
            case value_kind::values:
            case value_kind::array:
                reader_.leave_out(p.place,
                                  fmt::format("'{}' names other hardware: left out", name));
            }
        }
        return out;
    }
    static std::vector<array_dimension> dims_of(const node& n) {
        std::vector<array_dimension> out(n.dims.size());
        std::uint64_t stride = n.stride.value_or(0);
        for (std::size_t i = out.size(); i-- > 0;) {
            out[i] = {stride, static_cast<std::uint32_t>(std::min<std::uint64_t>(n.dims[i], ~0u))};
            stride *= n.dims[i];
        }
        return out;
    }

    std::vector<item_spec> items(const node& group) {
        std::vector<item_spec> out;
        ++depth_;
        for (const auto& child : group.children) {
            if (child.kind == component_kind::signal) continue;
            if (child.find("ispresent") != nullptr && !is_true(child, "ispresent")) continue;
            item_spec item{.base = *child.address, .place = child.place};
            if (child.kind == component_kind::reg) {
                item.reg = one_register(child);
            } else {
                item.prefix = text_of(child, "trnvp_prefix").value_or(child.name + "_");
                item.dims = dims_of(child);
                item.rdl = kept(child);
                const bool outer = is_msb0_;
                if (child.find("msb0") != nullptr || child.find("lsb0") != nullptr)
                    is_msb0_ = is_true(child, "msb0");
                item.items = items(child);
                is_msb0_ = outer;
            }
            out.push_back(std::move(item));
        }
        --depth_;
        return out;
    }

    register_spec one_register(const node& n) {
        register_spec r{.name = n.name, .offset = *n.address, .dims = dims_of(n), .place = n.place};
        r.desc = text_of(n, "desc").value_or("");
        r.known_by = knowledge::document;
        r.fidelity = fidelity::stub;
        if (const auto* p = n.find("trnvp_known_by")) r.known_by = choice_of<knowledge>(*p);
        if (const auto* p = n.find("trnvp_fidelity")) r.fidelity = choice_of<trn::fidelity>(*p);
        r.contract_skip = text_of(n, "trnvp_contract_skip").value_or("");
        r.rdl = kept(n);
        std::vector<field_part> parts;
        std::uint64_t next = 0;
        for (const auto& child : n.children) {
            if (child.kind != component_kind::field) continue;
            auto part = field(child, next);
            next = part.field.lsb + part.field.width;
            if (child.find("ispresent") != nullptr && !is_true(child, "ispresent")) continue;
            if (is_hidden(child))
                reader_.leave_out(
                    child.place,
                    fmt::format("software has no access to '{}': left out", child.name));
            else
                parts.push_back(std::move(part));
        }
        if (is_defined_by_model(parts))  // what writes of the description repeat
            std::erase_if(r.rdl, [](const rdl_property& each) { return each.name == "external"; });
        join_parts(r, std::move(parts), width_, own_access(n));
        return r;
    }

    std::optional<access_rules> own_access(const node& n) const {
        const auto* p = n.find("trnvp_access");
        if (p == nullptr) return std::nullopt;
        const auto rules = from_words(p->value.text);
        if (!rules)
            reader_.refuse(p->place, mistake::not_a_choice,
                           fmt::format("'{}' is no access", printable(p->value.text)));
        return rules;
    }

    static bool is_hidden(const node& n) {
        const auto* sw = n.find("sw");
        return sw != nullptr && sw->value.text == "na";
    }

    field_part field(const node& n, std::uint64_t next) {
        field_part part;
        auto& f = part.field;
        f.name = n.name;
        f.place = n.place;
        f.desc = text_of(n, "desc").value_or("");
        std::tie(f.lsb, f.width) = bits(n, next);
        f.access = own_access(n).value_or(access_of(n));
        f.rdl = kept(n);
        if (const auto* p = n.find("encode")) f.values = p->value.entries;
        part.is_unnamed = is_true(n, "trnvp_unnamed");
        if (const auto* reset = n.find("reset")) part.reset = reset_of(*reset, f);
        return part;
    }

    std::pair<unsigned, unsigned> bits(const node& n, std::uint64_t next) const {
        const auto refuse = [&](const std::string& message) {
            reader_.refuse(n.place, mistake::bad_bits,
                           fmt::format("field '{}' {}", n.name, message));
        };
        const auto* width = n.find("fieldwidth");
        if (n.dims.size() > 1) refuse("is an array");
        if (n.msb) {
            if (*n.msb < *n.lsb)
                reader_.unsupported(n.place, "the order msb0 ([low:high])", "[high:low]");
            if (*n.msb >= width_)
                refuse(fmt::format("ends at bit {}, the register has {}", *n.msb, width_));
            if (width != nullptr && width->value.number != *n.msb - *n.lsb + 1)
                refuse("has another fieldwidth");
            return {static_cast<unsigned>(*n.lsb), static_cast<unsigned>(*n.msb - *n.lsb + 1)};
        }
        if (is_msb0_) reader_.unsupported(n.place, "the order msb0", "give bits as [high:low]");
        const std::uint64_t count = !n.dims.empty()    ? n.dims[0]
                                    : width != nullptr ? width->value.number
                                                       : 1;
        if (count == 0 || count > width_ || next + count > width_)
            refuse(fmt::format("of {} bits begins at bit {}, the register has {}", count, next,
                               width_));
        return {static_cast<unsigned>(next), static_cast<unsigned>(count)};
    }

    std::uint64_t reset_of(const property& reset, const field_spec& f) {
        if (reset.value.kind != value_kind::number && reset.value.kind != value_kind::boolean) {
            reader_.leave_out(reset.place,
                              fmt::format("the reset value of '{}' is no number: 0", f.name));
            return 0;
        }
        // A value with a sign is as wide as its number.
        const auto number = reset.value.number;
        if (f.width < 64 && number >> f.width != 0)
            reader_.refuse(reset.place, mistake::reset_too_wide,
                           fmt::format("{:#x} does not fit {} bits", number, f.width));
        return number;
    }

    template <class Words, class Effect>
    void effect_of(const node& n, const std::string& name, const Words& words, Effect& out) const {
        const auto* p = n.find(name);
        if (p == nullptr) return;
        for (const auto& each : words)
            if (each.word == p->value.text) {
                out = each.effect;
                return;
            }
        reader_.refuse(p->place, mistake::not_a_choice,
                       fmt::format("'{}' has no such value", name));
    }

    access_rules access_of(const node& n) const {
        plain_rules rules;
        if (const auto* sw = n.find("sw")) {
            const auto& word = sw->value.text;
            static constexpr std::array<std::string_view, 7> words{"na", "rw",  "wr", "r",
                                                                   "w",  "rw1", "w1"};
            if (sw->value.kind != value_kind::word || std::ranges::find(words, word) == words.end())
                reader_.refuse(sw->place, mistake::not_a_choice, "sw is rw, r, w, rw1, w1 or na");
            rules.is_readable = word.find('r') != word.npos || word == "na";
            rules.is_writable = word.find('w') != word.npos;
            rules.once = word.ends_with('1');
        }
        if (is_true(n, "rclr")) rules.read = read_effect::clear;
        if (is_true(n, "rset")) rules.read = read_effect::set;
        if (is_true(n, "woclr")) rules.write = write_effect::one_to_clear;
        if (is_true(n, "woset")) rules.write = write_effect::one_to_set;
        effect_of(n, "onread", rdl_read_words, rules.read);
        effect_of(n, "onwrite", rdl_write_words, rules.write);
        if (is_true(n, "singlepulse") && rules.write == write_effect::none)
            rules.write = write_effect::modify;
        const auto check = [&](bool has_effect, bool is_possible, std::string_view names) {
            if (!has_effect || is_possible) return;
            reader_.refuse(n.place, mistake::unused_key,
                           fmt::format("'{}' has {}, and sw has no such access", n.name, names));
        };
        check(rules.read != read_effect::none, rules.is_readable, "an effect of reads");
        check(rules.write != write_effect::none, rules.is_writable, "an effect of writes");
        return shortest(rules);
    }

    foreign_reader& reader_;
    unsigned width_ = 0;  // bits of all registers; 0: none yet
    bool is_msb0_ = false;
    int depth_ = 0;
};

}  // namespace

foreign_block read_rdl(const foreign_text& file) {
    foreign_reader reader(file);
    const auto syntax = rdl::parse(reader);
    auto top = rdl::elaborate(reader, syntax);
    foreign_block out{.block = rdl_reader(reader).block(top), .left_out = {}};
    out.left_out = reader.take_left_out();
    return out;
}

}  // namespace trn::registers

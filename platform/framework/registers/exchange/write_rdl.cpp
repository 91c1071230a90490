// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "platform/framework/registers/exchange/access_words.h"
#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/exchange/rdl_words.h"
#include "platform/framework/registers/exchange/regular.h"
#include "platform/framework/registers/generator/plain_text.h"

namespace trn::registers {

namespace {

/// What a description says and SystemRDL has no property for.
constexpr std::string_view own_properties = R"(
property trnvp_source { component = addrmap; type = string; };
property trnvp_size { component = addrmap; type = longint unsigned; };
property trnvp_holes { component = addrmap; type = string; };
property trnvp_prefix { component = regfile; type = string; };
property trnvp_known_by { component = reg; type = string; };
property trnvp_fidelity { component = reg; type = string; };
property trnvp_contract_skip { component = reg; type = string; };
property trnvp_access { component = reg | field; type = string; };
property trnvp_unnamed { component = field; type = boolean; };
)";

std::string id(const std::string& name) {
    return std::ranges::find(rdl_keywords, name) != rdl_keywords.end() ? "\\" + name : name;
}

class rdl_writer {
public:
    explicit rdl_writer(const block_spec& block) : block_(block) {}

    std::string write(const std::string& file) {
        out_ = fmt::format("// Written by trn-generate-registers from {}\n", one_line(file));
        out_ += own_properties;
        line("");
        line(fmt::format("addrmap {} {{", id(block_.block)));
        ++depth_;
        if (!block_.desc.empty()) line(fmt::format("desc = {};", rdl_text(block_.desc)));
        line(fmt::format("trnvp_source = {};", rdl_text(block_.source)));
        line(fmt::format("trnvp_size = {:#x};", block_.size));
        line(fmt::format("trnvp_holes = \"{}\";", holes_name(block_.holes)));
        kept(block_.rdl);
        if (block_.width != 4) line(fmt::format("default regwidth = {};", block_.width * 8));
        line("");
        items(regular_items(block_.items, file, block_.width));
        --depth_;
        line("};");
        return std::move(out_);
    }

private:
    void line(std::string_view text) {
        if (!text.empty()) out_.append(depth_ * 4, ' ');
        out_.append(text).append("\n");
    }

    void kept(const std::vector<rdl_property>& properties) {
        static constexpr std::array<std::string_view, 5> kinds{"posedge", "negedge", "bothedge",
                                                               "level", "nonsticky"};
        for (const auto& [name, value] : properties)
            if (name == "external")
                continue;
            else if (std::ranges::find(kinds, value) != kinds.end())
                line(fmt::format("{} {};", value, name));
            else
                line(fmt::format("{} = {};", name, value));
    }

    static bool is_set(const std::vector<rdl_property>& properties, std::string_view name) {
        return std::ranges::any_of(properties, [&](const rdl_property& each) {
            return each.name == name && each.value == "true";
        });
    }

    static std::string place(std::uint64_t offset, const std::vector<array_dimension>& dims) {
        std::string text;
        for (const auto& dim : dims) text += fmt::format("[{}]", dim.count);
        text += fmt::format(" @ {:#x}", offset);
        if (!dims.empty()) text += fmt::format(" += {:#x}", dims.back().stride);
        return text;
    }

    void items(const std::vector<item_spec>& list) {
        std::set<std::string> names;
        for (const auto& item : list)
            if (item.reg) names.insert(item.reg->name);
        for (const auto& item : list) item.reg ? one_register(*item.reg) : group(item, names);
    }

    void group(const item_spec& item, std::set<std::string>& names) {
        const std::string name = group_name(item, names);
        line("regfile {");
        ++depth_;
        if (name + "_" != item.prefix) line(fmt::format("trnvp_prefix = \"{}\";", item.prefix));
        kept(item.rdl);
        items(item.items);
        --depth_;
        line(fmt::format("}} {}{}{};", is_set(item.rdl, "external") ? "external " : "", id(name),
                         place(item.base, item.dims)));
    }

    void one_register(const register_spec& r) {
        const unsigned bits = block_.width * 8;
        const auto parts = parts_of(r, bits);
        line("reg {");
        ++depth_;
        if (!r.desc.empty()) line(fmt::format("desc = {};", rdl_text(r.desc)));
        line(fmt::format("trnvp_known_by = \"{}\";", to_string(r.known_by)));
        line(fmt::format("trnvp_fidelity = \"{}\";", to_string(r.fidelity)));
        if (!r.contract_skip.empty())
            line(fmt::format("trnvp_contract_skip = {};", rdl_text(r.contract_skip)));
        if (rules_of(parts, bits) != r.access)
            line(fmt::format("trnvp_access = \"{}\";", to_words(r.access)));
        kept(r.rdl);
        for (const auto& part : parts) field(part);
        --depth_;
        // An effect that the model defines needs an external register.
        const bool is_external = is_set(r.rdl, "external") || is_defined_by_model(parts);
        line(fmt::format("}} {}{}{};", is_external ? "external " : "", id(r.name),
                         place(r.offset, r.dims)));
    }

    void field(const field_part& part) {
        const auto& f = part.field;
        if (!f.values.empty()) {
            line(fmt::format("enum {}_e {{", f.name));
            for (const auto& value : f.values)
                line(fmt::format("    {} = {}'h{:x};", id(value.name), f.width, value.value));
            line("};");
        }
        line("field {");
        ++depth_;
        if (!f.desc.empty()) line(fmt::format("desc = {};", rdl_text(f.desc)));
        access(f);
        if (part.is_unnamed) line("trnvp_unnamed = true;");
        if (!f.values.empty()) line(fmt::format("encode = {}_e;", f.name));
        kept(f.rdl);
        --depth_;
        line(fmt::format("}} {}[{}:{}] = {:#x};", id(f.name), f.lsb + f.width - 1, f.lsb,
                         part.reset));
    }

    void access(const field_spec& f) {
        const auto rules = plain(f.access);
        line(fmt::format("sw = {}{}{};", rules.is_readable ? "r" : "", rules.is_writable ? "w" : "",
                         rules.once ? "1" : ""));
        const bool is_pulse = rules.write == write_effect::modify && is_set(f.rdl, "singlepulse");
        if (rules.write != write_effect::none && !is_pulse)
            line(fmt::format("onwrite = {};", word_of(rdl_write_words, rules.write)));
        if (rules.read != read_effect::none)
            line(fmt::format("onread = {};", word_of(rdl_read_words, rules.read)));
        if (shortest(rules) != f.access)
            line(fmt::format("trnvp_access = \"{}\";", to_words(f.access)));
    }

    const block_spec& block_;
    std::string out_;
    std::size_t depth_ = 0;
};

}  // namespace

std::string rdl_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20 ? c : ' ';
    }
    return out + "\"";
}

std::string write_rdl(const block_spec& block, const std::string& file) {
    return rdl_writer(block).write(file);
}

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/generator/plain_text.h"

namespace trn::registers {

namespace {

/// Text in double quotes on one line.
std::string yaml_text_of(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", c);
        else if (c == '\n')
            out += "\\n";
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    return out + "\"";
}

class yaml_writer {
public:
    explicit yaml_writer(const block_spec& block) : block_(block) {}

    yaml_text write(const std::string& file) {
        line(0, fmt::format("# Written by trn-generate-registers from {}", one_line(file)), {});
        line(0, "block: " + block_.block, block_.place);
        line(0, "source: " + yaml_text_of(block_.source), block_.place);
        if (!block_.desc.empty()) line(0, "desc: " + yaml_text_of(block_.desc), block_.place);
        line(0, fmt::format("width: {}", block_.width * 8), block_.place);
        line(0, fmt::format("size: {:#x}", block_.size), block_.place);
        line(0, "holes: " + holes_name(block_.holes), block_.place);
        count(block_.items);
        if (!known_.empty()) known_by_ = most(known_);
        if (!fidelities_.empty()) fidelity_ = most(fidelities_);
        line(0, fmt::format("known_by: {}", to_string(known_by_)), block_.place);
        line(0, fmt::format("fidelity: {}", to_string(fidelity_)), block_.place);
        if (!block_.rdl.empty()) line(0, kept(block_.rdl), block_.place);
        line(0, block_.items.empty() ? "registers: []" : "registers:", block_.place);
        items(block_.items, 2);
        return std::move(out_);
    }

private:
    void line(std::size_t indent, const std::string& text, const config::place& place) {
        out_.text += std::string(indent, ' ') + text + "\n";
        out_.origins.push_back(place);
    }

    void count(const std::vector<item_spec>& items) {
        for (const auto& item : items) {
            if (item.reg) {
                ++known_[item.reg->known_by];
                ++fidelities_[item.reg->fidelity];
            }
            count(item.items);
        }
    }
    template <class Key>
    static Key most(const std::map<Key, int>& counts) {
        return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })
            ->first;
    }

    static std::string kept(const std::vector<rdl_property>& properties) {
        std::string text;
        for (const auto& [name, value] : properties)
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name,
                                value.starts_with('"') ? yaml_text_of(value) : value);
        return fmt::format("rdl: {{{}}}", text);
    }

    static std::string access_keys(const access_rules& rules) {
        std::string text = fmt::format("access: {}", name_of(rules.access));
        if (rules.write != write_effect::none)
            text += fmt::format(", modified_write_value: {}", name_of(rules.write));
        if (rules.read != read_effect::none)
            text += fmt::format(", read_action: {}", name_of(rules.read));
        return text + (rules.once ? ", write_once: true" : "");
    }

    static std::string array(const std::vector<array_dimension>& dims, std::uint64_t base) {
        std::string text;
        for (const auto& [stride, count] : dims)
            text += fmt::format("{}{{stride: {:#x}, count: {}}}", text.empty() ? "" : ", ", stride,
                                count);
        return fmt::format("array: {{base: {:#x}, dims: [{}]}}", base, text);
    }

    void items(const std::vector<item_spec>& list, std::size_t indent) {
        for (const auto& item : list)
            item.reg ? one_register(*item.reg, indent) : group(item, indent);
    }

    void group(const item_spec& item, std::size_t indent) {
        line(indent,
             "- " + (item.dims.empty() ? fmt::format("offset: {:#x}", item.base)
                                       : array(item.dims, item.base)),
             item.place);
        if (!item.prefix.empty()) line(indent + 2, "prefix: " + item.prefix, item.place);
        if (!item.rdl.empty()) line(indent + 2, kept(item.rdl), item.place);
        line(indent + 2, item.items.empty() ? "registers: []" : "registers:", item.place);
        items(item.items, indent + 4);
    }

    void one_register(const register_spec& r, std::size_t indent) {
        line(indent, "- name: " + r.name, r.place);
        indent += 2;
        const auto key = [&](const std::string& text) { line(indent, text, r.place); };
        key(r.dims.empty() ? fmt::format("offset: {:#x}", r.offset) : array(r.dims, r.offset));
        std::string access = access_keys(r.access);
        for (auto comma = access.find(", "); comma != access.npos; comma = access.find(", ")) {
            key(access.substr(0, comma));
            access.erase(0, comma + 2);
        }
        key(access);
        if (r.reset != 0) key(fmt::format("reset: {:#x}", r.reset));
        if (!r.desc.empty()) key("desc: " + yaml_text_of(r.desc));
        if (r.known_by != known_by_) key(fmt::format("known_by: {}", to_string(r.known_by)));
        if (r.fidelity != fidelity_) key(fmt::format("fidelity: {}", to_string(r.fidelity)));
        if (!r.contract_skip.empty()) key("contract_skip: " + yaml_text_of(r.contract_skip));
        if (!r.rdl.empty()) key(kept(r.rdl));
        if (!r.fields.empty()) key("fields:");
        for (const auto& f : r.fields) line(indent + 2, "- " + field(f, r), f.place);
    }

    static std::string field(const field_spec& f, const register_spec& r) {
        std::string text = f.width == 1 ? fmt::format("name: {}, bits: \"{}\"", f.name, f.lsb)
                                        : fmt::format("name: {}, bits: \"{}:{}\"", f.name,
                                                      f.lsb + f.width - 1, f.lsb);
        if (f.access != r.access) text += ", " + access_keys(f.access);
        if (!f.desc.empty()) text += ", desc: " + yaml_text_of(f.desc);
        std::string values;
        for (const auto& value : f.values)
            values +=
                fmt::format("{}{}: {:#x}", values.empty() ? "" : ", ", value.name, value.value);
        if (!values.empty()) text += fmt::format(", values: {{{}}}", values);
        if (!f.rdl.empty()) text += ", " + kept(f.rdl);
        return "{" + text + "}";
    }

    const block_spec& block_;
    yaml_text out_;
    std::map<knowledge, int> known_;
    std::map<trn::fidelity, int> fidelities_;
    knowledge known_by_{};
    trn::fidelity fidelity_{};
};

}  // namespace

yaml_text write_yaml(const block_spec& block, const std::string& file) {
    return yaml_writer(block).write(file);
}

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "platform/framework/registers/exchange/exchange.h"
#include "platform/framework/registers/exchange/ipxact_words.h"
#include "platform/framework/registers/exchange/regular.h"
#include "platform/framework/registers/exchange/xml_tree.h"
#include "platform/framework/registers/generator/plain_text.h"
#include "platform/framework/terminal_text.h"

namespace trn::registers {

namespace {

std::string xml_text(std::string_view text) {
    std::string out;
    for (const char c : terminal_text(one_line(text)))  // XML has no bytes that are no UTF-8
        out += c == '&'   ? "&amp;"
               : c == '<' ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '"' ? "&quot;"
                          : std::string(1, c);
    return out;
}

class ipxact_writer {
public:
    explicit ipxact_writer(const block_spec& block) : block_(block) {}

    void write(const std::string& file) {
        out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
        auto shown = xml_text(file);
        for (auto dashes = shown.find("--"); dashes != shown.npos; dashes = shown.find("--"))
            shown.erase(dashes, 1);
        line(fmt::format("<!-- Written by trn-generate-registers from {} -->", shown));
        const element component(
            *this,
            fmt::format(
                "component xmlns:ipxact=\"http://www.accellera.org/XMLSchema/IPXACT/1685-2014\" "
                "xmlns:trnvp=\"{}\"",
                ipxact_extension));
        value("vendor", "trnvp");
        value("library", "registers");
        value("name", block_.block);
        value("version", "1.0");
        {
            const element maps(*this, "memoryMaps");
            const element map(*this, "memoryMap");
            value("name", block_.block);
            {
                const element addresses(*this, "addressBlock");
                value("name", block_.block);
                description(block_.desc);
                value("baseAddress", "0");
                value("range", fmt::format("{:#x}", block_.size));
                value("width", block_.width * 8);
                value("usage", "register");
                items(regular_items(block_.items, file, block_.width));
                const extensions own(*this);
                own.add("source", block_.source);
                own.add("holes", holes_name(block_.holes));
                own.add(block_.rdl);
            }
            value("addressUnitBits", 8);
        }
    }
    std::string take() { return std::move(out_); }

private:
    void line(std::string_view text) { out_.append(depth_ * 2, ' ').append(text).append("\n"); }
    template <class Value>
    void value(std::string_view name, const Value& content) {
        line(fmt::format("<ipxact:{0}>{1}</ipxact:{0}>", name, content));
    }
    void description(const std::string& text) {
        if (!text.empty()) value("description", xml_text(text));
    }

    /// Writes the end of an element at the end of a scope.
    class element {
    public:
        element(ipxact_writer& writer, std::string_view name)
            : writer_(writer), name_(name.substr(0, name.find(' '))) {
            writer_.line(fmt::format("<ipxact:{}>", name));
            ++writer_.depth_;
        }
        ~element() {
            --writer_.depth_;
            writer_.line(fmt::format("</ipxact:{}>", name_));
        }
        element(const element&) = delete;
        element& operator=(const element&) = delete;

    private:
        ipxact_writer& writer_;
        const std::string name_;
    };

    /// vendorExtensions, written at the end of a scope if there are any.
    class extensions {
    public:
        explicit extensions(ipxact_writer& writer) : writer_(writer) {}
        ~extensions() {
            if (lines_.empty()) return;
            const element all(writer_, "vendorExtensions");
            for (const auto& each : lines_) writer_.line(each);
        }
        extensions(const extensions&) = delete;
        extensions& operator=(const extensions&) = delete;

        void add(std::string_view name, std::string_view text) const {
            lines_.push_back(fmt::format("<trnvp:{0}>{1}</trnvp:{0}>", name, xml_text(text)));
        }
        void add(const std::vector<rdl_property>& properties) const {
            for (const auto& each : properties)
                lines_.push_back(fmt::format("<trnvp:rdl name=\"{}\">{}</trnvp:rdl>", each.name,
                                             xml_text(each.value)));
        }

    private:
        ipxact_writer& writer_;
        mutable std::vector<std::string> lines_;
    };

    void items(const std::vector<item_spec>& list) {
        std::set<std::string> names;
        for (const auto& item : list)
            if (item.reg) names.insert(item.reg->name);
        for (const auto& item : list) item.reg ? placed_register(*item.reg) : group(item, names);
    }

    void array(const std::vector<array_dimension>& dims) {
        for (const auto& dim : dims) value("dim", dim.count);
    }

    /// The elements of an array are as far apart as an element's range says.
    void group(const item_spec& item, std::set<std::string>& names) {
        const element file(*this, "registerFile");
        const auto name = group_name(item, names);
        value("name", name);
        array(item.dims);
        value("addressOffset", fmt::format("{:#x}", item.base));
        std::uint64_t range = block_.width;
        for (const auto& each : item.items) range = std::max(range, item_end(each, block_.width));
        value("range", fmt::format("{:#x}", item.dims.empty() ? range : item.dims.back().stride));
        items(item.items);
        const extensions own(*this);
        if (name + "_" != item.prefix) own.add("prefix", item.prefix);
        own.add(item.rdl);
    }

    /// A register array whose elements do not follow each other is a group of one register.
    void placed_register(const register_spec& r) {
        if (r.dims.empty() || r.dims.back().stride == block_.width) return one_register(r);
        register_spec inner = r;
        inner.offset = 0;
        inner.dims.clear();
        const element file(*this, "registerFile");
        value("name", r.name);
        array(r.dims);
        value("addressOffset", fmt::format("{:#x}", r.offset));
        value("range", fmt::format("{:#x}", r.dims.back().stride));
        one_register(inner);
        const extensions own(*this);
        own.add("of_register", "true");
    }

    void one_register(const register_spec& r) {
        const unsigned bits = block_.width * 8;
        const auto parts = parts_of(r, bits);
        const element reg(*this, "register");
        value("name", r.name);
        description(r.desc);
        array(r.dims);
        value("addressOffset", fmt::format("{:#x}", r.offset));
        value("size", bits);
        for (const auto& part : parts) field(part);
        const extensions own(*this);
        own.add("known_by", to_string(r.known_by));
        own.add("fidelity", to_string(r.fidelity));
        if (!r.contract_skip.empty()) own.add("contract_skip", r.contract_skip);
        if (rules_of(parts, bits) != r.access) own.add("access", to_words(r.access));
        own.add(r.rdl);
    }

    void field(const field_part& part) {
        const auto& f = part.field;
        const auto rules = plain(f.access);
        const element whole(*this, "field");
        value("name", f.name);
        description(f.desc);
        value("bitOffset", f.lsb);
        {
            const element resets(*this, "resets");
            const element reset(*this, "reset");
            value("value", fmt::format("{:#x}", part.reset));
        }
        value("bitWidth", f.width);
        for (const auto& each : ipxact_accesses)
            if (each.is_readable == rules.is_readable && each.is_writable == rules.is_writable &&
                each.once == rules.once)
                value("access", each.word);
        if (!f.values.empty()) {
            const element values(*this, "enumeratedValues");
            for (const auto& each : f.values) {
                const element one(*this, "enumeratedValue");
                value("name", each.name);
                value("value", fmt::format("{:#x}", each.value));
            }
        }
        if (rules.write != write_effect::none)
            value("modifiedWriteValue", word_of(ipxact_write_words, rules.write));
        if (rules.read != read_effect::none)
            value("readAction", word_of(ipxact_read_words, rules.read));
        const extensions own(*this);
        if (shortest(rules) != f.access) own.add("access", to_words(f.access));
        if (part.is_unnamed) own.add("unnamed", "true");
        own.add(f.rdl);
    }

    const block_spec& block_;
    std::string out_;
    std::size_t depth_ = 0;
};

}  // namespace

std::string write_ipxact(const block_spec& block, const std::string& file) {
    ipxact_writer writer(block);
    writer.write(file);
    return writer.take();
}

}  // namespace trn::registers

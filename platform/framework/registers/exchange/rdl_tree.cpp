// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/exchange/rdl_tree.h"

#include <algorithm>
#include <tuple>

#include "platform/framework/registers/exchange/rdl_properties.h"

namespace trn::registers::rdl {

namespace {

constexpr int max_depth = 32;
constexpr std::size_t max_nodes = 200'000;

const property_row* find_row(std::string_view name) {
    const auto* const row = std::ranges::find(property_rows, name, &property_row::name);
    return row == property_rows.end() ? nullptr : row;
}

class elaborator {
public:
    explicit elaborator(foreign_reader& reader, const component& file)
        : reader_(reader), evaluator_(reader), file_{.type = &file} {}

    node top() {
        for (const auto& s : file_.type->body)
            if (s.assigned && s.assigned->is_default) file_.defaults.push_back(&*s.assigned);
        const auto& wanted = reader_.file().block;
        const component* found = nullptr;
        std::vector<std::string> names;
        const auto consider = [&](const component& type, const std::string& name) {
            if (type.kind != component_kind::addrmap) return;
            names.push_back(name);
            if (wanted.empty() || wanted == name) found = &type;
        };
        for (const auto& type : file_.type->order) consider(*type, type->name);
        for (const auto& s : file_.type->body)
            if (s.instances && s.instances->type && s.instances->type->name.empty())
                for (const auto& i : s.instances->instances)
                    consider(*s.instances->type, i.name.text);
        if (found == nullptr && !wanted.empty())
            reader_.refuse({}, mistake::unknown_type, fmt::format("no addrmap '{}'", wanted),
                           suggest(wanted, names));
        if (found == nullptr) reader_.refuse({}, mistake::missing_key, "the file has no addrmap");
        return make(*found, found->name.empty() ? names.back() : found->name, found->place, file_,
                    {}, 0);
    }

private:
    using arguments = std::vector<std::pair<rdl_token, expression>>;

    node make(const component& type, const std::string& name, const config::place& place,
              const scope& outer, std::map<std::string, value> given, int depth) {
        if (depth > max_depth)
            reader_.refuse(place, mistake::nested_too_deep,
                           fmt::format("components nested deeper than {}", max_depth));
        if (++nodes_ > max_nodes)
            reader_.refuse(place, mistake::too_many_values,
                           fmt::format("more than {} components", max_nodes));
        scope own{.type = &type, .outer = &outer};
        set_parameters(own, std::move(given), place);
        node out{.kind = type.kind, .name = name, .place = place};
        std::set<std::string> names;
        for (const auto& s : type.body)
            if (s.instances)
                instances(*s.instances, own, out, names, depth);
            else if (s.assigned->is_default)
                own.defaults.push_back(&*s.assigned);
            else
                assign(*s.assigned, own, out);
        apply_defaults(out, type, outer);
        return out;
    }

    void set_parameters(scope& own, std::map<std::string, value> given,
                        const config::place& place) {
        for (const auto& p : own.type->parameters) {
            const auto found = given.find(p.name.text);
            if (found != given.end()) {
                own.parameters[p.name.text] = std::move(found->second);
                given.erase(found);
            } else if (p.value) {
                own.parameters[p.name.text] = evaluator_.evaluate(*p.value, own);
            } else {
                reader_.refuse(p.name.place, mistake::missing_parameter,
                               fmt::format("the parameter '{}' has no value", p.name.text));
            }
        }
        if (!given.empty())
            reader_.refuse(
                place, mistake::unknown_parameter,
                fmt::format("'{}' has no parameter '{}'", own.type->name, given.begin()->first));
    }

    static bool may_contain(component_kind outer, component_kind inner) {
        switch (inner) {
        case component_kind::addrmap:
            return outer == component_kind::addrmap;
        case component_kind::regfile:
        case component_kind::reg:
            return outer == component_kind::addrmap || outer == component_kind::regfile;
        case component_kind::field:
            return outer == component_kind::reg;
        case component_kind::mem:
        case component_kind::signal:
            return true;
        }
        return false;
    }

    void instances(const instance_list& list, const scope& in, node& out,
                   std::set<std::string>& names, int depth) {
        const scope* outer = &in;
        const component* type = list.type.get();
        for (const scope* s = &in; type == nullptr && s != nullptr; s = s->outer)
            if (const auto found = s->type->types.find(list.type_name.text);
                found != s->type->types.end()) {
                type = found->second.get();
                outer = s;
            }
        if (type == nullptr)
            reader_.refuse(list.type_name.place, mistake::unknown_type,
                           fmt::format("no component '{}'", list.type_name.text),
                           suggest_type(list, in));
        for (const auto& i : list.instances) {
            if (type->kind == component_kind::signal)
                reader_.leave_out(i.name.place, "a signal is about hardware: left out");
            if (type->kind == component_kind::mem)
                reader_.unsupported(i.name.place, "a mem",
                                    "the registers of the addrmap can be read without it");
            if (!may_contain(out.kind, type->kind))
                reader_.refuse(
                    i.name.place, mistake::wrong_shape,
                    fmt::format("a {} in a {}", to_string(type->kind), to_string(out.kind)));
            if (!names.insert(i.name.text).second)
                reader_.refuse(i.name.place, mistake::duplicate_name,
                               fmt::format("a second '{}'", i.name.text));
            std::map<std::string, value> given;
            for (const auto& [name, expression] : list.arguments)
                given[name.text] = evaluator_.evaluate(expression, in);
            out.children.push_back(placed(
                i, in,
                make(*type, i.name.text, i.name.place, *outer, std::move(given), depth + 1)));
            if (list.is_external)
                out.children.back().properties["external"] = {
                    .value = {.kind = value_kind::boolean, .number = 1}, .place = i.name.place};
        }
    }

    std::string suggest_type(const instance_list& list, const scope& in) const {
        std::vector<std::string> names;
        for (const scope* s = &in; s != nullptr; s = s->outer)
            for (const auto& [name, type] : s->type->types) names.push_back(name);
        return did_you_mean(list.type_name.text, names);
    }

    node placed(const instance& i, const scope& in, node out) {
        const auto number = [&](const std::optional<expression>& e) {
            return e ? std::optional(evaluator_.number(*e, in)) : std::nullopt;
        };
        for (const auto& dim : i.dims) out.dims.push_back(evaluator_.number(dim, in));
        out.msb = number(i.msb);
        out.lsb = number(i.lsb);
        out.address = number(i.address);
        out.stride = number(i.stride);
        out.align = number(i.align);
        const bool is_field = out.kind == component_kind::field;
        if (is_field && (i.address || i.stride || i.align))
            reader_.refuse(i.name.place, mistake::wrong_shape, "a field has no address");
        if (!is_field && (i.msb || i.reset))
            reader_.refuse(i.name.place, mistake::wrong_shape,
                           "only a field has bits and a reset value");
        if (i.address && i.align)
            reader_.refuse(i.name.place, mistake::wrong_shape, "'@' and '%=' exclude each other");
        if (i.stride && i.dims.empty())
            reader_.refuse(i.name.place, mistake::wrong_shape, "'+=' is for arrays");
        if (i.reset)
            out.properties["reset"] = {evaluator_.evaluate(*i.reset, in), "", i.name.place};
        return out;
    }

    void assign(const assignment& a, const scope& in, node& out) {
        node* target = &out;
        for (const auto& step : a.path) {
            evaluator_.count(step.place, target->children.size() / 64);
            const auto found = std::ranges::find(target->children, step.text, &node::name);
            if (found == target->children.end()) {
                std::vector<std::string> names;
                for (const auto& child : target->children) names.push_back(child.name);
                reader_.refuse(step.place, mistake::unknown_module,
                               fmt::format("no instance '{}'", step.text),
                               did_you_mean(step.text, names));
            }
            target = &*found;
        }
        set(*target, a, in, false);
    }

    bool is_defined_by_user(const std::string& name, const scope& in) const {
        for (const scope* s = &in; s != nullptr; s = s->outer)
            if (s->type->properties.contains(name)) return true;
        return false;
    }

    void set(node& out, const assignment& a, const scope& in, bool is_default) {
        const auto& name = a.property.text;
        evaluator_.count(a.property.place);
        const auto* const row = find_row(name);
        if (row == nullptr) {
            std::vector<std::string_view> known;
            for (const auto& each : property_rows) known.push_back(each.name);
            if (!is_defined_by_user(name, in))
                reader_.refuse(a.property.place, mistake::unknown_key,
                               fmt::format("no property '{}'", name), did_you_mean(name, known));
            if (left_out_.insert(name).second)
                reader_.leave_out(a.property.place,
                                  fmt::format("the property '{}' of the user: left out", name));
            return;
        }
        if ((row->kinds >> static_cast<unsigned>(out.kind) & 1) == 0) {
            if (is_default) return;
            reader_.refuse(a.property.place, mistake::unknown_key,
                           fmt::format("a {} has no property '{}'", to_string(out.kind), name));
        }
        property p{.value = {.kind = value_kind::boolean, .number = 1, .width = 1},
                   .modifier = a.modifier,
                   .place = a.property.place};
        if (name == "encode")
            p.value = enumeration_of(a, in);
        else if (name == "precedence" && a.value && a.value->kind == expression_kind::reference)
            p.value = {.kind = value_kind::word, .text = a.value->token.text};
        else if (a.value)
            p.value = evaluator_.evaluate(*a.value, in);
        evaluator_.count(a.property.place, p.value.text.size() / 64);
        if (row->use == use::refused_if_true && p.value.is_true())
            reader_.unsupported(a.property.place, name);
        // The last assignment of properties that exclude each other counts.
        static const std::vector<std::vector<std::string>> exclusive{{"onread", "rclr", "rset"},
                                                                     {"onwrite", "woclr", "woset"}};
        for (const auto& names : exclusive)
            if (std::ranges::find(names, name) != names.end())
                for (const auto& other : names) {
                    if (is_default && out.properties.contains(other)) return;
                    if (p.value.kind != value_kind::boolean || p.value.is_true())
                        out.properties.erase(other);
                }
        if (is_default && out.properties.contains(name)) return;
        out.properties[name] = std::move(p);
    }

    value enumeration_of(const assignment& a, const scope& in) const {
        const scope* found_in = nullptr;
        if (a.value && a.value->kind == expression_kind::reference)
            if (const auto* list = evaluator_.find_enumeration(a.value->words[0], in, &found_in))
                return evaluator_.entries(*list, *found_in);
        reader_.refuse(a.property.place, mistake::not_a_choice, "encode names no enum");
    }

    /// Defaults of the scopes in whose text the type is, the innermost first.
    void apply_defaults(node& out, const component& type, const scope& outer) {
        const auto before = [&](const config::place& p) {
            return std::tuple(p.line, p.column) < std::tuple(type.place.line, type.place.column);
        };
        for (const scope* s = &outer; s != nullptr; s = s->outer)
            for (auto a = s->defaults.rbegin(); a != s->defaults.rend(); ++a)
                if (before((*a)->property.place)) set(out, **a, *s, true);
    }

    foreign_reader& reader_;
    const evaluator evaluator_;
    scope file_;
    std::size_t nodes_ = 0;
    std::set<std::string> left_out_;
};

}  // namespace

node elaborate(foreign_reader& reader, const component& file) {
    return elaborator(reader, file).top();
}

}  // namespace trn::registers::rdl

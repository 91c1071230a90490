// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "platform/framework/registers/exchange/rdl_syntax.h"
#include "platform/framework/registers/exchange/rdl_words.h"

namespace trn::registers::rdl {

namespace {

constexpr int max_nesting = 256;
constexpr int max_operators = 64;

struct binary_operator {
    std::string_view text;
    int rank;
};
constexpr std::array binary_operators{
    binary_operator{"||", 1}, binary_operator{"&&", 2}, binary_operator{"|", 3},
    binary_operator{"^", 4},  binary_operator{"^~", 4}, binary_operator{"~^", 4},
    binary_operator{"&", 5},  binary_operator{"==", 6}, binary_operator{"!=", 6},
    binary_operator{"<", 7},  binary_operator{"<=", 7}, binary_operator{">", 7},
    binary_operator{">=", 7}, binary_operator{"<<", 8}, binary_operator{">>", 8},
    binary_operator{"+", 9},  binary_operator{"-", 9},  binary_operator{"*", 10},
    binary_operator{"/", 10}, binary_operator{"%", 10}, binary_operator{"**", 11}};

class parser {
public:
    explicit parser(foreign_reader& reader) : reader_(reader), tokens_(rdl_lexer(reader).all()) {}

    component file() {
        component root{.kind = component_kind::addrmap, .place = now().place};
        while (now().kind != token_kind::end) element(root, 0);
        return root;
    }

private:
    const rdl_token& now(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    rdl_token take() {
        rdl_token token = now();
        if (at_ + 1 < tokens_.size()) ++at_;
        return token;
    }
    bool accept(std::string_view text) {
        if (!now().is(text)) return false;
        take();
        return true;
    }
    [[noreturn]] void unexpected(std::string_view wanted) const {
        reader_.refuse(now().place, mistake::not_yaml,
                       now().kind == token_kind::end
                           ? fmt::format("the file ends where {} is expected", wanted)
                           : fmt::format("{} is expected, not '{}'", wanted,
                                         printable(now().text.substr(0, 40))));
    }
    void expect(std::string_view text) {
        if (!accept(text)) unexpected(fmt::format("'{}'", text));
    }
    rdl_token name(std::string_view noun) {
        if (now().kind != token_kind::word ||
            (!now().is_escaped &&
             std::ranges::find(rdl_keywords, now().text) != rdl_keywords.end()))
            unexpected(noun);
        return take();
    }
    void check_depth(int depth) const {
        if (depth > max_nesting)
            reader_.refuse(now().place, mistake::nested_too_deep,
                           fmt::format("nested deeper than {}", max_nesting));
    }

    static std::optional<component_kind> kind_of(const rdl_token& token) {
        for (const auto kind :
             {component_kind::addrmap, component_kind::regfile, component_kind::reg,
              component_kind::field, component_kind::mem, component_kind::signal})
            if (token.is(to_string(kind))) return kind;
        return std::nullopt;
    }

    void element(component& out, int depth) {
        check_depth(depth);
        const auto place = now().place;
        const bool is_external = now().is("external");
        const bool is_placed = is_external || now().is("internal");  // an instance follows
        if (is_placed) take();
        if (now().is("alias")) reader_.unsupported(now().place, "alias");
        if (const auto kind = kind_of(now())) return definition(out, *kind, is_external, depth);
        if (!is_placed) {
            if (accept("enum")) return define_enumeration(out);
            if (accept("property")) return define_property(out);
            if (now().is("abstract") || now().is("struct")) reader_.unsupported(place, "a struct");
            if (accept("constraint")) return skip_constraint(place);
            if (now().is("default") || now().is("encode") || is_modifier(now()) || is_assignment())
                return assign(out);
        }
        if (now().kind != token_kind::word) unexpected("a component, an instance or a property");
        instance_list list{.type_name = name("a type"), .is_external = is_external};
        if (now().is("->") || now().is(".") || now().is("[")) unexpected("an instance");
        instances(list, depth);
        expect(";");
        out.body.push_back({.assigned = {}, .instances = std::move(list)});
    }

    static bool is_modifier(const rdl_token& token) {
        return token.is("posedge") || token.is("negedge") || token.is("bothedge") ||
               token.is("level") || token.is("nonsticky");
    }
    /// `a = ..;`, `a;`, `a.b[1]->c = ..;`
    bool is_assignment() const {
        if (now().kind != token_kind::word) return false;
        const auto& after = now(1);
        return after.is("=") || after.is(";") || after.is("->") || after.is(".") || after.is("[");
    }

    void assign(component& out) {
        assignment a{.is_default = accept("default")};
        if (is_modifier(now()) && !now(1).is("=") && !now(1).is(";")) {
            a.modifier = take().text;
            a.property = name("a property");
        } else if (now(1).is("->") || now(1).is(".") || now(1).is("[")) {
            do {
                a.path.push_back(name("an instance"));
                if (now().is("["))
                    reader_.unsupported(now().place, "a property of one element of an array",
                                        "give it to all elements, without an index");
            } while (accept("."));
            expect("->");
            a.property = any_word("a property");
        } else {
            a.property = any_word("a property");
        }
        if (accept("=")) a.value = value(0);
        expect(";");
        out.body.push_back({.assigned = std::move(a), .instances = {}});
    }
    rdl_token any_word(std::string_view noun) {
        if (now().kind != token_kind::word) unexpected(noun);
        return take();
    }

    void definition(component& out, component_kind kind, bool is_external, int depth) {
        const auto type = std::make_shared<component>();
        type->kind = kind;
        type->place = take().place;
        const bool is_named = now().kind == token_kind::word;
        if (is_named) {
            const auto token = name("a name");
            type->name = token.text;
            type->place = token.place;
            if (out.types.contains(type->name))
                reader_.refuse(token.place, mistake::duplicate_name,
                               fmt::format("a second type '{}'", type->name));
        }
        if (accept("#")) parameters(*type);
        expect("{");
        while (!now().is("}")) {
            if (now().kind == token_kind::end) unexpected("'}'");
            element(*type, depth + 1);
        }
        take();
        if (is_named) {
            out.types[type->name] = type;
            out.order.push_back(type);
        }
        is_external = is_external || now().is("external");
        if (now().is("external") || now().is("internal")) take();
        instance_list list{.type = type, .is_external = is_external};
        if (!now().is(";"))
            instances(list, depth);
        else if (!is_named)
            unexpected("an instance");
        expect(";");
        if (!list.instances.empty())
            out.body.push_back({.assigned = {}, .instances = std::move(list)});
    }

    void parameters(component& out) {
        expect("(");
        do {
            const auto type = any_word("a type");
            if (type.is("bit") || type.is("longint")) accept("unsigned");
            parameter p{.name = name("a parameter"), .value = {}};
            if (now().is("[")) reader_.unsupported(now().place, "a parameter that is an array");
            if (accept("=")) p.value = value(0);
            out.parameters.push_back(std::move(p));
        } while (accept(","));
        expect(")");
    }

    void instances(instance_list& list, int depth) {
        if (accept("#")) {
            expect("(");
            do {
                expect(".");
                auto parameter_name = name("a parameter");
                expect("(");
                list.arguments.emplace_back(std::move(parameter_name), value(depth));
                expect(")");
            } while (accept(","));
            expect(")");
        }
        do {
            instance i{.name = name("an instance's name")};
            while (accept("[")) {
                auto first = value(depth);
                if (accept(":")) {
                    i.msb = std::move(first);
                    i.lsb = value(depth);
                    expect("]");
                    break;
                }
                i.dims.push_back(std::move(first));
                expect("]");
            }
            if (accept("=")) i.reset = value(depth);
            if (accept("@")) i.address = value(depth);
            if (accept("+=")) i.stride = value(depth);
            if (accept("%=")) i.align = value(depth);
            list.instances.push_back(std::move(i));
        } while (accept(","));
    }

    void define_enumeration(component& out) {
        enumeration e{.name = name("a name"), .entries = {}};
        expect("{");
        while (!accept("}")) {
            enumeration::entry entry{.name = any_word("an entry"), .value = {}};
            if (accept("=")) entry.value = value(0);
            if (accept("{"))
                while (!accept("}")) {
                    const auto property = any_word("a property");
                    expect("=");
                    value(0);
                    expect(";");
                    reader_.leave_out(property.place,
                                      fmt::format("'{}' of a value: left out", property.text));
                }
            expect(";");
            e.entries.push_back(std::move(entry));
        }
        expect(";");
        out.enumerations[e.name.text] = std::move(e);
    }

    /// What a property may belong to is not checked.
    void define_property(component& out) {
        const auto property = name("a name");
        expect("{");
        while (!accept("}")) {
            if (now().kind == token_kind::end) unexpected("'}'");
            take();
        }
        expect(";");
        out.properties[property.text] = true;
    }

    void skip_constraint(const config::place& place) {
        reader_.leave_out(place, "a constraint is about verification: left out");
        int open = 0;
        while (open > 0 || !now().is(";")) {
            if (now().kind == token_kind::end) unexpected("';'");
            if (now().is("{")) ++open;
            if (now().is("}") && --open < 0) unexpected("';'");
            take();
        }
        take();
    }

    // Expressions

    expression value(int depth) {
        check_depth(depth);
        auto condition = binary(0, depth + 1);
        if (!now().is("?")) return condition;
        expression out{.kind = expression_kind::choice, .token = take()};
        out.operands.push_back(std::move(condition));
        out.operands.push_back(value(depth + 1));
        expect(":");
        out.operands.push_back(value(depth + 1));
        return out;
    }

    int rank_of(const rdl_token& token) const {
        if (token.kind != token_kind::sign) return 0;
        for (const auto& each : binary_operators)
            if (each.text == token.text) return each.rank;
        return 0;
    }

    expression binary(int above, int depth) {
        check_depth(depth);
        auto left = unary(depth + 1);
        int length = 0;
        for (int rank = rank_of(now()); rank > above; rank = rank_of(now())) {
            if (++length > max_operators)
                reader_.refuse(now().place, mistake::nested_too_deep,
                               fmt::format("more than {} operators in a row", max_operators));
            expression out{.kind = expression_kind::binary, .token = take()};
            out.operands.push_back(std::move(left));
            out.operands.push_back(binary(rank, depth + 1));
            left = std::move(out);
        }
        return left;
    }

    expression unary(int depth) {
        check_depth(depth);
        for (const auto* sign : {"+", "-", "~", "!", "&", "|", "^", "~&", "~|", "~^", "^~"})
            if (now().is(sign)) {
                expression out{.kind = expression_kind::unary, .token = take()};
                out.operands.push_back(unary(depth + 1));
                return out;
            }
        return cast(primary(depth + 1), depth + 1);
    }

    /// `8'(x)`, `(W)'(x)`, `bit'(x)` after the width or type.
    expression cast(expression first, int depth) {
        if (!now().is("'(")) return first;
        expression out{.kind = expression_kind::cast, .token = take()};
        out.operands.push_back(std::move(first));
        out.operands.push_back(value(depth + 1));
        expect(")");
        return out;
    }

    expression primary(int depth) {
        check_depth(depth);
        if (now().kind == token_kind::number)
            return {.kind = expression_kind::number, .token = take()};
        if (now().kind == token_kind::text) return {.kind = expression_kind::text, .token = take()};
        if (accept("(")) {
            auto inner = value(depth + 1);
            expect(")");
            return inner;
        }
        if (now().is("{")) return joined(depth);
        if (now().is("'{")) {
            expression out{.kind = expression_kind::array, .token = take()};
            if (!now().is("}")) do
                    out.operands.push_back(value(depth + 1));
                while (accept(","));
            expect("}");
            return out;
        }
        if (now().kind == token_kind::word) return reference(depth + 1);
        unexpected("a value");
    }

    expression joined(int depth) {
        expression out{.kind = expression_kind::join, .token = take()};
        out.operands.push_back(value(depth + 1));
        if (now().is("{")) {
            out.kind = expression_kind::repeat;
            out.operands.push_back(joined(depth + 1));
        } else {
            while (accept(",")) out.operands.push_back(value(depth + 1));
        }
        expect("}");
        return out;
    }

    expression reference(int depth) {
        expression out{.kind = expression_kind::reference, .token = take()};
        out.words.push_back(out.token.text);
        if (accept("::")) {
            out.kind = expression_kind::enumerator;
            out.words.push_back(any_word("an entry").text);
            return out;
        }
        if (now().is("'{")) reader_.unsupported(out.token.place, "a struct");
        for (;;)
            if (accept(".")) {
                out.words.push_back(any_word("an instance").text);
            } else if (accept("[")) {
                out.has_index = true;
                value(depth);
                expect("]");
            } else if (accept("->")) {
                out.is_of_property = true;
                any_word("a property");
            } else {
                return out;
            }
    }

    foreign_reader& reader_;
    const std::vector<rdl_token> tokens_;
    std::size_t at_ = 0;
};

}  // namespace

std::string_view to_string(component_kind kind) {
    static constexpr std::array<std::string_view, 6> names{"addrmap", "regfile", "reg",
                                                           "field",   "mem",     "signal"};
    return names[static_cast<unsigned>(kind)];
}

component parse(foreign_reader& reader) {
    return parser(reader).file();
}

}  // namespace trn::registers::rdl

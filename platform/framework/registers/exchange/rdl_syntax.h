// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/registers/exchange/rdl_lexer.h"

/// A SystemRDL file as it is written.
namespace trn::registers::rdl {

enum class expression_kind : std::uint8_t {
    number,
    text,
    reference,   ///< words: a parameter, a path of instances, or a word such as `rw`
    enumerator,  ///< words: enumeration, entry
    unary,
    binary,
    choice,  ///< condition, value if true, otherwise
    cast,    ///< type or width in `token`, or the first operand
    join,    ///< {a, b}
    repeat,  ///< {count {a, b}}
    array    ///< '{a, b}
};

struct expression {
    expression_kind kind{};
    rdl_token token = {};  ///< the number, text or operator
    std::vector<std::string> words = {};
    std::vector<expression> operands = {};
    bool has_index = false;       ///< a reference to an element
    bool is_of_property = false;  ///< a->b
};

struct assignment {
    std::vector<rdl_token> path = {};  ///< of a dynamic assignment: instances
    rdl_token property = {};
    std::string modifier = {};  ///< "posedge" of `posedge intr`
    std::optional<expression> value = {};
    bool is_default = false;
};

struct enumeration {
    struct entry {
        rdl_token name;
        std::optional<expression> value;
    };
    rdl_token name;
    std::vector<entry> entries;
};

struct parameter {
    rdl_token name;
    std::optional<expression> value;
};

enum class component_kind : std::uint8_t { addrmap, regfile, reg, field, mem, signal };
std::string_view to_string(component_kind kind);

struct component;
struct instance {
    rdl_token name = {};
    std::vector<expression> dims = {};
    std::optional<expression> msb = {}, lsb = {};
    std::optional<expression> reset = {}, address = {}, stride = {}, align = {};
};
struct instance_list {
    std::shared_ptr<const component> type = {};  ///< null: by name
    rdl_token type_name = {};
    std::vector<std::pair<rdl_token, expression>> arguments = {};
    std::vector<instance> instances = {};
    bool is_external = false;
};

/// Exactly one member is set.
struct statement {
    std::optional<assignment> assigned;
    std::optional<instance_list> instances;
};

struct component {
    component_kind kind{};
    std::string name = {};
    config::place place = {};
    std::vector<parameter> parameters = {};
    std::vector<statement> body = {};
    std::map<std::string, std::shared_ptr<const component>> types = {};
    std::map<std::string, enumeration> enumerations = {};
    std::vector<std::shared_ptr<const component>> order = {};  ///< the types, as written
    std::map<std::string, bool> properties = {};               ///< defined by the user
};

/// Syntax is checked; names are not yet resolved. The whole file is a component without a name.
component parse(foreign_reader& reader);

}  // namespace trn::registers::rdl

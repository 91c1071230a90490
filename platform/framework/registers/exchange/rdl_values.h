// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/framework/registers/exchange/rdl_syntax.h"

namespace trn::registers::rdl {

enum class value_kind : std::uint8_t {
    number,
    boolean,  ///< in `number`
    text,
    word,       ///< such as `rw`
    reference,  ///< to a component or a property
    values,     ///< an enumeration
    array
};

/// Value of an expression.
struct value {
    value_kind kind{};
    std::uint64_t number = 0;
    unsigned width = 64;  ///< of a number, bits
    std::string text = {};
    std::vector<value_spec> entries = {};

    bool is_true() const {
        return (kind == value_kind::number || kind == value_kind::boolean) && number != 0;
    }
};

/// A component while it is elaborated: its parameters, and the component in whose text it is
/// defined.
struct scope {
    const component* type = nullptr;
    const scope* outer = nullptr;
    std::map<std::string, value> parameters = {};
    std::vector<const assignment*> defaults = {};
};

/// Computes expressions. Numbers have 64 bits: a result that needs more, or is negative, is
/// refused.
class evaluator {
public:
    explicit evaluator(const foreign_reader& reader) : reader_(reader) {}

    value evaluate(const expression& e, const scope& in) const;
    std::uint64_t number(const expression& e, const scope& in) const;
    /// The values of an enumeration that is visible in the scope; null if there is none.
    const enumeration* find_enumeration(const std::string& name, const scope& in,
                                        const scope** found_in) const;
    value entries(const enumeration& e, const scope& in) const;
    /// Counts what a description makes of its text: a few lines can ask for more than any machine
    /// has. \throws config_error beyond 5,000,000 steps
    void count(const config::place& place, std::size_t steps = 1) const;

private:
    value reference(const expression& e, const scope& in) const;
    value unary(const expression& e, const scope& in) const;
    value binary(const expression& e, const scope& in) const;
    value compute(const expression& e, const value& a, const value& b) const;
    value cast(const expression& e, const scope& in) const;
    value join(const expression& e, const scope& in) const;
    value operand(const expression& e, const scope& in) const;
    value as_number(value result, const expression& e) const;
    [[noreturn]] void too_large(const expression& e) const;

    const foreign_reader& reader_;
    mutable std::size_t steps_ = 0;
    mutable int open_ = 0;  // enumerations
};

}  // namespace trn::registers::rdl

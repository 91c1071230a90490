// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/language/scenario.h"

namespace trn::scenario {

/// KEY=VALUE, which selects the scenarios with this value of a parameter of their matrix, or of
/// `board`, `tag` or `file`. The value may have wildcards; blanks and case are not compared.
struct where_clause {
    std::string key, value;

    /// "board=trn3-chip". \throws std::invalid_argument
    static where_clause parse(const std::string& text);
    bool selects(const scenario& run) const;
};

/// Whether the scenario has, for each key, one of the values that the clauses list.
bool selected(std::span<const where_clause> clauses, const scenario& run);
/// Checks that some scenario has the key, and the value. \throws std::invalid_argument
void check(const where_clause& clause, std::span<const scenario> all);

}  // namespace trn::scenario

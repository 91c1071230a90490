// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/scenario/language/scenario.h"

namespace trn::scenario {

/// An expression of words that selects scenarios, as -k of pytest: "copies and not (gen2 or slow)".
/// A scenario has a word if its name (with the point of the matrix), a tag or the name of its file
/// contains it, in upper or lower case. Words with blanks or parentheses are quoted.
class selection_expression {
public:
    static constexpr std::size_t max_length = 1000, max_depth = 50;

    /// \throws std::invalid_argument with column, expression and caret
    static selection_expression parse(const std::string& text);

    bool selects(const scenario& run) const;
    /// Checks each word that is not excluded by `not`: if no scenario had it, it would select
    /// nothing. \throws std::invalid_argument as parse()
    void check_words(std::span<const scenario> all) const;

    /// A word, or an operator with its operands.
    struct node {
        enum class operation { word, negation, all, any };
        operation kind = operation::word;
        std::string word = {};  ///< in lower case
        std::size_t column = 0, length = 0;
        std::vector<node> parts = {};
    };

private:
    void check_words(const node& part, std::span<const scenario> all) const;

    std::string text_;
    node root_;
};

}  // namespace trn::scenario

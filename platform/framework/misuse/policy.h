// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/misuse/allowance.h"
#include "platform/framework/misuse/misuse.h"

namespace trn::misuse {

/// A user's policy for rules: "log", "fail:TRN-DMA-003,ring-id-mismatch".
struct policy_choice {
    policy chosen = policy::log;
    std::vector<rule> rules = {};  ///< empty: all rules

    /// \throws std::invalid_argument with one sentence and a suggestion
    static policy_choice parse(std::string_view text);
    /// The text that parse() reads.
    std::string text() const;
    void apply() const;
};

std::string_view to_string(policy chosen);

/// "did you mean ...": ids for a word that begins like one, else names.
std::string suggest_rule(std::string_view word);

/// All that users choose about rules for one run.
struct choices {
    std::vector<policy_choice> policies = {};  ///< later ones override earlier ones
    std::vector<rule> checked = {};            ///< to check also when no policy names them
    std::vector<allowance> allowances = {};

    void add(const choices& more);
    void apply() const;
};

}  // namespace trn::misuse

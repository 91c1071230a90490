// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/misuse/misuse.h"

namespace trn::misuse {

/// A user's policy for rules: "log", "fail:TRN-DMA-003,ring-id-mismatch".
struct policy_choice {
    policy chosen = policy::log;
    std::vector<rule> which = {};  ///< empty: all rules

    /// \throws std::invalid_argument with one sentence and a suggestion
    static policy_choice parse(std::string_view text);
    /// The text that parse() reads.
    std::string text() const;
    void apply() const;
};

std::string_view to_string(policy chosen);

}  // namespace trn::misuse

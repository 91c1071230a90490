// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/misuse/misuse.h"

namespace trn::misuse {

/// What a user wants of rules: "log", "fail:TRN-DMA-003,ring-id-mismatch".
struct policy_choice {
    policy what = policy::log;
    std::vector<rule> which = {};  ///< empty: all of them

    /// \throws std::invalid_argument with one sentence that suggests what may have been meant
    static policy_choice parse(std::string_view text);
    void apply() const;
};

std::string_view to_string(policy what);

}  // namespace trn::misuse

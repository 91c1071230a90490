// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/app/platform.h"

namespace trn {

/// Selects the servers of a board that become guests, and the functions of each guest.
struct guest_choice {
    std::string server;  ///< the only guest; its console is the command's
    /// names or numbers, or "all"; output lines have the guest's prefix
    std::vector<std::string> servers;
    unsigned devices = 0;  ///< 0: `functions` selects; else the number of chips, without cards
    std::vector<std::string> functions;  ///< all, chips, none, or names; empty: all

    /// Names of the selected servers; by default the first server. \throws user_error
    std::vector<std::string> servers_of(const std::vector<platform::function>& all,
                                        std::string_view board) const;
    /// Selects the functions of one server's guest from `own`. \throws user_error
    std::vector<platform::function> functions_of(std::vector<platform::function> own,
                                                 std::string_view board) const;
};

}  // namespace trn

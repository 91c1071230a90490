// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/app/platform.h"

namespace trn {

/// Which servers of a board become guests, and which of their functions these get.
struct guest_choice {
    std::string server;                  ///< the only guest; its output is the command's
    std::vector<std::string> servers;    ///< names or numbers, or "all"; each guest has a prefix
    unsigned devices = 0;                ///< 0: what `functions` says; else so many chips, no card
    std::vector<std::string> functions;  ///< all, chips, none, or names; empty: all

    /// Names of the servers: those that were asked for, or the first.
    /// \throws user_error
    std::vector<std::string> servers_of(const std::vector<platform::function>& all,
                                        std::string_view board) const;
    /// Those of a server's functions that its guest gets.
    /// \throws user_error
    std::vector<platform::function> functions_of(std::vector<platform::function> own,
                                                 std::string_view board) const;
};

}  // namespace trn

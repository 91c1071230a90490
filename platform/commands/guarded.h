// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>

namespace trn {

/// What the user said wrong on the command line, in one sentence.
struct user_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Runs a command to its exit status. A mistake of the user's (in a board, a program, a recording,
/// an address) becomes its text on standard error and status 2; any other exception is ours and
/// ends the process.
int guarded(const std::function<int()>& command);

}  // namespace trn

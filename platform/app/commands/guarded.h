// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>

namespace trn {

/// A mistake on the command line, in one sentence.
struct user_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Runs a command to its exit status, and checks that all its output was written. A
/// mistake of the user's (in a board, a program, a recording, an address) becomes its text on
/// standard error and status 2; lost output and refusals of the operating system (memory,
/// processes, descriptors) one sentence and status 1. Any other exception is a bug and ends the
/// process.
int guarded(const std::function<int()>& command);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>

namespace trn {

/// An error on the command line, in one sentence.
struct user_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Runs a command, checks that all its output was written, and returns its exit status. Errors of
/// the user (in a board, a program, a recording, an address) are printed on standard error and give
/// status 2; lost output and errors of the operating system (memory, processes, descriptors) are
/// printed as one sentence and give status 1. Any other exception is a bug and ends the process.
int guarded(const std::function<int()>& command);

}  // namespace trn

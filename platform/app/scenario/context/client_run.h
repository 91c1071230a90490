// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trn::scenario {

/// A user's program that a step starts, and its result.
struct client_run {
    std::vector<std::string> command;  ///< the program, found as by execvp(), and its arguments
    std::uint64_t wall_limit_ns = 0;

    int status = 0;            ///< its exit status, 128 + the signal that killed it
    bool late = false;         ///< killed at its time limit
    std::string refused = {};  ///< why it could not be started
    std::string output = {};   ///< stdout and stderr, the last 256 KiB
};

}  // namespace trn::scenario

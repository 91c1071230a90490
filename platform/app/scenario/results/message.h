// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/scenario/results/outcome.h"

namespace trn::scenario {

/// A step that begins, or continues after the steps inside it.
struct step_message {
    outcome::begun step;
    int column = 0;
    bool begins = false;
    pid_t process = 0;
};

/// The end of a run.
struct end_message {
    bool passed = false;
    std::string message;  ///< reason of the failure
    std::uint64_t simulated_ns = 0, trace_digest = 0;
    std::vector<std::string> state;  ///< of the board, for the report
};

/// A member of a group has ended.
struct member_message {
    std::size_t number = 0;
    outcome result;
};

/// A line from the process of a run to its runner; it has one of these.
struct run_message {
    std::optional<step_message> step = {};
    std::optional<figure> measured = {};
    std::optional<std::string> note = {};
    std::optional<std::vector<std::uint64_t>> backtrace = {};  ///< code addresses, innermost first
    std::optional<bool> branched = {};                         ///< the shared steps have ended
    std::optional<std::size_t> runs = {};                      ///< number of a member that begins
    std::optional<member_message> member = {};
    std::optional<end_message> end = {};
};

/// Writes one message as one line. Replaces bytes that are not UTF-8 (output of guests); ignores a
/// closed pipe.
void send(int pipe, const run_message& message);
/// \throws nlohmann::json::exception for a line that is not a message
run_message parse_message(std::string_view line);

}  // namespace trn::scenario

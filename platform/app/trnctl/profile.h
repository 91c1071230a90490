// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/trnctl/sessions.h"

namespace trn {

struct profile_options {
    std::vector<std::string> out;  ///< folders, or files whose endings say what they hold
    std::optional<std::uint64_t> execution;
};

/// The platform records events from now on. \throws control_error, std::runtime_error
void start_profile(session& where);
/// Stops recording and becomes `trn-nki profile` of the same folder as this program, which writes
/// the profile of what ran. \throws user_error when there is none
[[noreturn]] void write_profile(session& where, const session_options& target,
                                const profile_options& options);

}  // namespace trn

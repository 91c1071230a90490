// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/trnctl/sessions.h"

namespace trn {

struct profile_options {
    std::vector<std::string> out;  ///< folders, or files whose extension selects the format
    std::optional<std::uint64_t> execution;
};

/// Starts recording events of the platform. \throws control_error, std::runtime_error
void start_profile(session& platform);
/// Stops recording, and replaces this process by `trn-nki profile` of the same folder, which writes
/// the profile. \throws user_error when it does not exist
[[noreturn]] void write_profile(session& platform, const session_options& target,
                                const profile_options& options);

}  // namespace trn

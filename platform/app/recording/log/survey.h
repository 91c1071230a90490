// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/recording/log/log.h"
#include "platform/app/recording/log/manifest.h"

namespace trn::recording {

/// What a log contains.
struct survey {
    std::uint64_t from_outside = 0;  ///< events that a replay repeats
    std::uint64_t from_inside = 0;   ///< events that it compares
    std::uint64_t bytes_read = 0;    ///< of host memory, by the platform
    std::uint64_t last_time = 0;     ///< of the last event, ps
    std::uint64_t last_deltas = 0;   ///< delta cycles that had begun by then
    bool complete = false;           ///< the platform ended regularly
};

/// Reads and checks a whole log, so that a replay finds no error in its middle. Throws
/// recording_error for data that no recorder writes.
survey look_over(log_reader& log, const manifest& about);

}  // namespace trn::recording

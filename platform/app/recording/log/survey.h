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
    std::uint64_t last_deltas = 0;   ///< delta cycles that had run, or were running, then
    bool complete = false;           ///< the platform ended in order
};

/// Reads a whole log, so that nothing is found wrong in the middle of a replay. Throws
/// recording_error for what no recorder writes.
survey look_over(log_reader& log, const manifest& about);

}  // namespace trn::recording

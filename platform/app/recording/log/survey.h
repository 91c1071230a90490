// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/recording/log/log.h"
#include "platform/app/recording/log/manifest.h"

namespace trn::recording {

/// Summary of a log.
struct survey {
    std::uint64_t from_outside = 0;  ///< number of events that a replay repeats
    std::uint64_t from_inside = 0;   ///< number of events that a replay compares
    std::uint64_t bytes_read = 0;    ///< bytes of host memory that the platform read
    std::uint64_t last_time = 0;     ///< time of the last event, ps
    std::uint64_t last_deltas = 0;   ///< delta cycle count at that time
    bool complete = false;           ///< the log has an `end` event
};

/// Checks events in their order, so that a replay can rely on their numbers and sizes.
class event_checker {
public:
    explicit event_checker(const manifest& about)
        : functions_(about.functions.size()), consoles_(about.consoles.size()) {}

    /// Throws recording_error for an event that no recorder writes here.
    void check(const event& e);

private:
    void check_fields(const event& e) const;

    std::size_t functions_, consoles_;
    std::uint64_t between_ = 0;  // bytes of events since the last one from outside
    bool ended_ = false;
};

/// Reads and checks a whole log, so that a replay does not stop at an error in the middle. Throws
/// recording_error for data that no recorder writes.
survey read_survey(log_reader& log, const manifest& about);

}  // namespace trn::recording

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/recording/log/event.h"
#include "platform/app/recording/log/log.h"
#include "platform/app/recording/log/survey.h"

namespace trn::recording {

/// Sorts the events of a recording: those from outside, to be repeated in order, and those of the
/// functions, to be compared with the replay.
class event_matcher {
public:
    struct difference {
        std::uint64_t time;  ///< simulated, ps
        std::string text;    ///< one line
    };
    struct findings {
        std::uint64_t compared = 0, differences = 0;
        std::vector<difference> first = {};  ///< the first max_reported differences
    };
    static constexpr std::size_t max_reported = 20;  ///< differences in findings::first

    /// `about`: of the recording. `same`: the platform is the recorded one, so that every
    /// difference is an error.
    event_matcher(const manifest& about, log_reader log, bool same);

    bool same() const { return same_; }
    /// The next event from outside; nothing at the end of the recording. Throws recording_error
    /// when the log is damaged, also if expect() has reached the damage.
    std::optional<event> next();
    /// The next recorded event that matches `seen`, of the same function. Nothing when none is
    /// near; a difference is then reported.
    std::optional<event> expect(const event& seen);
    void differs(std::string text);
    /// Reports recorded events of functions that did not occur in the replay.
    void report_missing();
    const findings& found() const { return found_; }

private:
    std::optional<event> read();
    bool read_ahead();

    const std::vector<std::string> functions_;
    log_reader log_;
    event_checker checker_;  // again, since the files may have changed after the survey
    std::string damage_;     // why the log cannot be read further
    const bool same_;
    std::deque<event> ahead_;                  // from outside, not yet repeated
    std::vector<std::deque<event>> expected_;  // from inside, not yet compared; by function
    std::size_t held_ = 0;                     // bytes of both queues
    findings found_;
};

}  // namespace trn::recording

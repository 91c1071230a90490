// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/app/platform.h"
#include "platform/app/recording/event_matcher.h"
#include "platform/app/recording/log/manifest.h"
#include "platform/app/recording/log/survey.h"
#include "platform/app/recording/replayed_function.h"

namespace trn::recording {

/// Options to build the recorded platform again, with the recorded images; `firmware`, when not
/// empty, replaces its image. Throws recording_error.
platform_options options_of(const manifest& about, const std::filesystem::path& folder,
                            const std::string& firmware);

/// Repeats all recorded input at the same simulated times, and compares the platform's responses
/// and accesses.
class replay {
public:
    struct outcome : event_matcher::findings {
        std::uint64_t repeated = 0;
        bool interrupted = false;  ///< the platform was ended before the recording's end
    };

    /// Precondition: `content` is the survey of `log`. `debugged`: a debugger may stop the
    /// platform, which adds delta cycles; they are not compared then.
    replay(platform& board, const manifest& about, const survey& content, log_reader log,
           bool debugged);
    replay(const replay&) = delete;
    replay& operator=(const replay&) = delete;

    /// Whether the platform is the recorded one; then every difference is an error.
    bool same() const { return events_.same(); }
    /// Runs the platform to the end of the recording; with `debugged`, from the time when a
    /// debugger has connected and continues it.
    outcome run();

private:
    bool reach(std::uint64_t time, std::uint64_t deltas);
    bool resume();
    bool wait_until_resumed();
    void repeat(const event& e);
    void call_control(const event& e);
    void type(const event& e);
    void finish();

    platform& board_;
    const manifest& about_;
    const survey survey_;
    event_matcher events_;
    const bool debugged_;
    std::vector<std::unique_ptr<replayed_function>> functions_;
    std::uint64_t last_time_ = 0;
    // Delta cycle count of the replay minus that of the recording, modulo 2^64.
    std::uint64_t delta_shift_ = 0;
    std::uint64_t repeated_ = 0;
    bool interrupted_ = false;
};

}  // namespace trn::recording

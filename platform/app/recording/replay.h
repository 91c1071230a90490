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

/// Options that build the platform of a recording again. Its images are those of the recording,
/// except for `firmware` when it is not empty. Throws recording_error.
platform_options options_of(const manifest& about, const std::filesystem::path& folder,
                            const std::string& firmware);

/// Plays a recording's hosts: repeats everything that came from outside, at the same simulated
/// time, and compares the platform's responses and accesses.
class replay {
public:
    struct outcome : event_matcher::findings {
        std::uint64_t repeated = 0;
        bool interrupted = false;  ///< the platform was ended before the end
    };

    /// `survey` is of the same log.
    replay(platform& on, const manifest& about, const survey& what, log_reader log);
    replay(const replay&) = delete;
    replay& operator=(const replay&) = delete;

    /// Whether the platform is the recorded one, so that every difference is an error.
    bool same() const { return events_.same(); }
    /// Drives the platform to the end of the recording.
    outcome run();

private:
    bool reach(std::uint64_t time, std::uint64_t deltas);
    void repeat(const event& e);
    void call_control(const event& e);
    void type(const event& e);
    void finish();

    platform& on_;
    const manifest& about_;
    const survey survey_;
    event_matcher events_;
    std::vector<std::unique_ptr<replayed_function>> functions_;
    std::uint64_t last_time_ = 0;
    std::uint64_t delta_shift_ = 0;  // delta cycles here minus those in the recording, modulo 2^64
    std::uint64_t repeated_ = 0;
    bool interrupted_ = false;
};

}  // namespace trn::recording

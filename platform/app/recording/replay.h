// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/platform.h"
#include "platform/app/recording/log/log.h"
#include "platform/app/recording/log/manifest.h"
#include "platform/app/recording/log/survey.h"

namespace trn::recording {

class replayed_function;

/// Options that build the platform of a recording again. Its images are those of the recording,
/// except for `firmware` when it is not empty. Throws recording_error.
platform_options options_of(const manifest& about, const std::filesystem::path& folder,
                            const std::string& firmware);

/// Plays a recording's hosts: repeats everything that came from outside, at the same simulated
/// time, and compares the platform's responses and accesses.
class replay {
public:
    struct difference {
        std::uint64_t time;  ///< simulated, ps
        std::string text;    ///< one line
    };
    struct outcome {
        std::uint64_t repeated = 0, compared = 0;
        std::uint64_t differences = 0;
        std::vector<difference> first = {};  ///< the first of them
        bool interrupted = false;            ///< the platform was ended before the end
    };
    static constexpr std::size_t max_reported = 20;  ///< differences in outcome::first

    /// `survey` is of the same log.
    replay(platform& on, const manifest& about, const survey& what, log_reader log);
    ~replay();
    replay(const replay&) = delete;
    replay& operator=(const replay&) = delete;

    /// Whether the platform is the recorded one, so that every difference is an error.
    bool same() const { return same_; }
    /// Drives the platform to the end of the recording.
    outcome run();

    // --- for the functions' side of a replay

    /// The recording's next such event of that function; nothing, and a difference, when none is
    /// near.
    std::optional<event> expect(const event& seen);
    void differs(std::string text);

private:
    struct waiting;

    bool read_ahead();
    std::optional<event> next();
    bool reach(std::uint64_t time, std::uint64_t deltas);
    void repeat(const event& e);
    void call_control(const event& e);
    void type(const event& e);
    void finish();

    platform& on_;
    const manifest& about_;
    const survey survey_;
    log_reader log_;
    const bool same_;
    std::vector<std::unique_ptr<replayed_function>> functions_;
    std::deque<event> ahead_;                  // from outside, read and not repeated
    std::vector<std::deque<event>> expected_;  // from inside, by function
    std::size_t held_ = 0;                     // bytes of both
    std::uint64_t last_time_ = 0;
    std::uint64_t delta_shift_ = 0;  // delta cycles here minus those in the recording, modulo 2^64
    outcome outcome_;
};

}  // namespace trn::recording

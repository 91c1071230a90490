// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "platform/app/recording/log/log.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn::recording {

/// Writes the events of a recording with their simulated time. Notes before open() and after
/// finish() are dropped.
class event_recorder {
public:
    explicit event_recorder(run_loop& loop) : loop_(loop) {}

    /// Creates the log in `folder`. Throws recording_error.
    void open(const std::filesystem::path& folder) { log_.emplace(folder); }
    /// Stores the event with the current time, and these bytes. A full disk ends the run.
    void note(event e, std::span<const std::uint8_t> bytes);
    void note(const event& e) { note(e, e.bytes); }
    /// Completes the log. Throws recording_error when any write failed.
    void finish();

private:
    run_loop& loop_;
    std::optional<log_writer> log_;
    std::string failed_;
};

}  // namespace trn::recording

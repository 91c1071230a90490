// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/framework/kernel/watched_signals.h"

namespace trn {

/// What a waveform file shows, and when.
struct wave_content {
    std::vector<watched_signal> signals;
    /// Modules as the trace names them ("chip0.h2t0.engine128"), whose events are shown.
    std::vector<std::string> transactions = {};
    /// Values are recorded from each time at which `begins` becomes true until `ends` does. Null:
    /// at once, never.
    std::function<bool()> begins = {}, ends = {};
};

/// Writes a waveform file: a value change dump, or FST if its name ends in ".fst". Samples its
/// signals before simulated time advances, when all delta cycles are done
/// (run_loop::on_time_step): no lasting change is missed, and no events are added.
class wave_file {
public:
    /// Variables of one file.
    static constexpr std::size_t max_variables = 4096;
    /// Overlapping transactions of a module; more are not shown.
    static constexpr unsigned lanes = 8;

    /// Construct it after elaboration. \throws std::system_error when the file cannot be created,
    /// std::invalid_argument when this build cannot write its format
    wave_file(const std::string& path, wave_content content);
    ~wave_file();

    /// Samples the signals, if a process has run since the last call.
    void time_step_ended();
    /// Completes the file with the current time.
    void finish();
    /// See streamed_file::failure().
    const std::string& failure() const;

private:
    class sampler;
    std::unique_ptr<sampler> sampler_;
};

}  // namespace trn

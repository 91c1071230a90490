// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "platform/app/platform.h"
#include "platform/app/recording/log/log.h"
#include "platform/app/recording/log/manifest.h"
#include "platform/framework/tlm/function_port.h"

namespace trn::recording {

class recorded_function;

/// Stores everything that reaches a platform from outside, with its simulated time, and what the
/// platform does to its hosts (doc/recording.md). Construct it after the platform and before
/// anybody is let in; whoever serves a PCIe function serves recorded() instead.
class recorder {
public:
    /// Makes `folder`, or takes an empty one. Throws recording_error.
    recorder(platform& of, const platform_options& built_with, std::filesystem::path folder);
    ~recorder();
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    /// `function` as a host is to reach it while this records.
    function_port& recorded(function_port& function);
    /// The platform will not run any further. Throws recording_error when something could not be
    /// written, now or before.
    void finish();

    /// For what is recorded: adds the time. A disk that is full ends the platform.
    void note(event e);

private:
    manifest describe(const platform_options& built_with) const;
    void copy_board();
    void copy_images();
    void record_control();
    void record_consoles();

    platform& of_;
    const std::filesystem::path folder_;
    manifest about_;
    std::unique_ptr<log_writer> log_;
    std::string failed_;
    std::vector<function_port*> functions_;
    std::vector<std::unique_ptr<recorded_function>> recorded_;
};

/// What a command with --record DIR makes; nothing when DIR is empty.
std::unique_ptr<recorder> recorder_for(platform& of, const platform_options& built_with,
                                       const std::filesystem::path& folder);
/// Why --record is refused beside --gdb.
constexpr const char* no_debugger =
    "--record: what a debugger does is not recorded; debug the replay: trnvp replay --gdb";

}  // namespace trn::recording

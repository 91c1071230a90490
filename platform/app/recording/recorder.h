// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "platform/app/platform.h"
#include "platform/app/recording/event_recorder.h"
#include "platform/app/recording/log/manifest.h"
#include "platform/app/recording/recorded_function.h"
#include "platform/framework/tlm/function_port.h"

namespace trn::recording {

/// Stores everything that reaches a platform from outside, with its simulated time, and what the
/// platform does to its hosts (doc/recording.md). Construct it after the platform and before
/// clients can connect; servers of a PCIe function serve recorded() instead.
class recorder {
public:
    /// Creates `folder`, or uses an empty one. Throws recording_error.
    recorder(platform& of, const platform_options& built_with, std::filesystem::path folder);
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    /// `function` for hosts while this records.
    function_port& recorded(function_port& function);
    /// Call when the platform does not run any further. Throws recording_error when a write failed,
    /// now or before.
    void finish() { events_.finish(); }

private:
    manifest describe(const platform_options& built_with) const;
    void copy_board();
    void copy_images();
    void record_control();
    void record_consoles();

    platform& of_;
    const std::filesystem::path folder_;
    manifest about_;
    event_recorder events_;
    std::vector<function_port*> functions_;
    std::vector<std::unique_ptr<recorded_function>> recorded_;
};

/// The recorder of a command with --record DIR; nothing when DIR is empty.
std::unique_ptr<recorder> recorder_for(platform& of, const platform_options& built_with,
                                       const std::filesystem::path& folder);
/// Reason to refuse --record with --gdb.
constexpr const char* no_debugger =
    "--record: what a debugger does is not recorded; debug the replay: trnvp replay --gdb";

}  // namespace trn::recording

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

/// Options of a run that change it after it is built; a replay repeats them.
struct run_choices {
    std::vector<std::string> misuse = {};  ///< values of --misuse
    std::string hart = {};                 ///< value of --hart
};

/// Records all input of a platform with its simulated time, and the platform's accesses to its
/// hosts (doc/recording.md). Construct it after the platform and before clients can connect;
/// servers of a PCIe function must serve recorded() instead of the function.
class recorder {
public:
    /// Creates `folder`, or uses an empty one. Throws recording_error.
    recorder(platform& board, const platform_options& built_with, const run_choices& runs_with,
             std::filesystem::path folder);
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    /// The wrapper of `function` that hosts must use.
    function_port& recorded(function_port& function);
    /// Call after the platform has run for the last time. Throws recording_error when any write
    /// failed.
    void finish() { events_.finish(); }

private:
    manifest describe(const platform_options& built_with, const run_choices& runs_with) const;
    void copy_board();
    void copy_images();
    void record_control();
    void record_consoles();

    platform& board_;
    const std::filesystem::path folder_;
    manifest about_;
    event_recorder events_;
    std::vector<function_port*> functions_;
    std::vector<std::unique_ptr<recorded_function>> recorded_;
};

/// The recorder of a command with --record DIR; nothing when DIR is empty.
std::unique_ptr<recorder> recorder_for(platform& board, const platform_options& built_with,
                                       const run_choices& runs_with,
                                       const std::filesystem::path& folder);
/// Reason to refuse --record with --gdb.
constexpr const char* no_debugger =
    "--record: what a debugger does is not recorded; debug the replay: trnvp replay --gdb";

}  // namespace trn::recording

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace trn::scenario {

std::string beginning_of(const scenario& s) {
    // Images may be in the scenario's folder, which is then part of the key.
    const auto folder = s.firmware.empty() ? "" : std::filesystem::path(s.file).parent_path();
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", s.board, fmt::join(s.set, "\n"),
                       folder.string(), s.firmware, s.seed, s.misuse_text,
                       s.steps.empty() ? "" : s.steps.front().shared);
}

std::string find_firmware(const scenario& run) {
    namespace fs = std::filesystem;
    std::error_code unreadable;
    // Contains a '/', because a bare name refers to the firmware folder.
    const auto folder = fs::path(run.file).parent_path();
    const auto beside = (folder.empty() ? "." : folder) / run.firmware;
    return !run.firmware.empty() && fs::is_regular_file(beside, unreadable) ? beside.string()
                                                                            : run.firmware;
}

std::string name_of_all_runs(const description& run) {
    auto name = run.name;
    if (run.run != 0) name.erase(std::min(name.rfind(" #"), name.size()));
    if (run.campaign) name.erase(std::min(name.rfind(" seed "), name.size()));
    return name;
}

std::string identity(const description& run) {
    return run.file + '\t' + name_of_all_runs(run);
}

}  // namespace trn::scenario

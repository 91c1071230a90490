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

std::string find_firmware(const scenario& what) {
    namespace fs = std::filesystem;
    std::error_code unreadable;
    // Contains a '/', because a bare name refers to the firmware folder.
    const auto folder = fs::path(what.file).parent_path();
    const auto beside = (folder.empty() ? "." : folder) / what.firmware;
    return !what.firmware.empty() && fs::is_regular_file(beside, unreadable) ? beside.string()
                                                                             : what.firmware;
}

std::string name_of_all_runs(const description& what) {
    auto name = what.name;
    if (what.run != 0) name.erase(std::min(name.rfind(" #"), name.size()));
    if (what.campaign) name.erase(std::min(name.rfind(" seed "), name.size()));
    return name;
}

std::string identity(const description& what) {
    return what.file + '\t' + name_of_all_runs(what);
}

}  // namespace trn::scenario

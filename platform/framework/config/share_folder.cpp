// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/share_folder.h"

#include <system_error>
#include <vector>

#include "platform/framework/config/program_folder.h"

namespace trn {

namespace fs = std::filesystem;

namespace {
fs::path& built_with() {
    static fs::path folder;
    return folder;
}
}  // namespace

fs::path share_folder(const std::string& name, std::initializer_list<const char*> built,
                      const std::string& content) {
    std::error_code error;
    const auto program = program_folder();
    std::vector<fs::path> places;
    for (const char* near : built) places.push_back(program / near);
    for (const char* share : {"../share/trnvp", "../../share/trnvp"})  // of a library, too
        places.push_back(program / share / name);
    if (!built_with().empty()) places.push_back(built_with() / name);
    for (const auto& place : places)
        if (auto folder = place.lexically_normal(); fs::exists(folder / content, error))
            return folder;
    return {};
}

bool set_share_folder(const fs::path& folder) {
    built_with() = folder;
    return true;
}

}  // namespace trn

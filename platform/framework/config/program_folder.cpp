// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/program_folder.h"

#include <system_error>

namespace trn {

namespace {
std::filesystem::path chosen;
}

std::filesystem::path program_folder() {
    std::error_code unknown;
    return chosen.empty() ? std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path()
                          : chosen;
}

void set_program_folder(const std::filesystem::path& folder) {
    chosen = folder;
}

}  // namespace trn

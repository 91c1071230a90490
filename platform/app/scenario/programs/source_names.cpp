// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/programs/source_names.h"

#include <string>

namespace trn::scenario {

namespace fs = std::filesystem;

isa::program_set read_named_from(const fs::path& folder, std::span<const std::uint8_t> set) {
    isa::program_set found = isa::read_program_set(set);
    const auto base = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
    for (std::string& file : found.files) {
        if (file.empty()) continue;
        const auto name = fs::absolute(file).lexically_normal().lexically_relative(base);
        if (!name.empty() && *name.begin() != "..") file = name.string();
    }
    return found;
}

}  // namespace trn::scenario

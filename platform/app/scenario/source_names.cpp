// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/source_names.h"

#include "models/assembler/program_set.h"

namespace trn::scenario {

namespace fs = std::filesystem;

std::vector<std::uint8_t> with_files_named_from(const fs::path& folder,
                                                const std::vector<std::uint8_t>& set) {
    isa::program_set found = isa::read_program_set(set);
    const auto base = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
    for (std::string& file : found.files) {
        if (file.empty()) continue;
        const auto name = fs::absolute(file).lexically_normal().lexically_relative(base);
        if (!name.empty() && *name.begin() != "..") file = name.string();
    }
    return isa::write_program_set(found);
}

}  // namespace trn::scenario

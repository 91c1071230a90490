// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/output_files.h"

#include <fmt/format.h>

#include <system_error>

#include "platform/app/commands/guarded.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

fs::path without_links(const fs::path& file) {
    const auto absolute = fs::absolute(file);  // weakly_canonical() keeps the new file "x" relative
    std::error_code unreadable;
    const auto path = fs::weakly_canonical(absolute, unreadable);
    return unreadable ? absolute.lexically_normal() : path;
}

}  // namespace

void output_files::keep(const fs::path& file, const std::string& noun) {
    taken_.emplace(without_links(file), noun);
}

void output_files::add(const std::string& option, const fs::path& file) {
    if (file.empty()) return;
    std::error_code unreadable;
    if (fs::exists(file, unreadable) && !fs::is_regular_file(file, unreadable)) return;
    const auto [other, fresh] = taken_.emplace(without_links(file), option);
    if (!fresh)
        throw user_error(
            fmt::format("{} {}: this file is {} already", option, file.string(), other->second));
}

}  // namespace trn

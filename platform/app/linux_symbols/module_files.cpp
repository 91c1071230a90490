// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/module_files.h"

#include <algorithm>
#include <ranges>

namespace trn {

namespace fs = std::filesystem;

namespace {

bool is_named(const fs::path& file, std::string_view name) {
    auto stem = file.stem().string();
    std::ranges::replace(stem, '-', '_');
    return file.extension() == ".ko" && stem == name;
}

}  // namespace

void module_files::prefer(paths& all, fs::path added) {
    if (!all.empty() && all.back() == added) return;
    std::erase(all, added);
    all.push_back(std::move(added));
    ++version_;
}

std::vector<fs::path> module_files::named(std::string_view name) const {
    std::vector<fs::path> found;
    for (const auto& file : files_ | std::views::reverse)
        if (is_named(file, name)) found.push_back(file);
    for (const auto& folder : folders_ | std::views::reverse) {
        std::error_code unreadable;
        for (const auto& entry : fs::directory_iterator(folder, unreadable))
            if (is_named(entry.path(), name)) found.push_back(entry.path());
    }
    return found;
}

}  // namespace trn

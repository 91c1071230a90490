// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/results/description.h"

#include <algorithm>
#include <filesystem>

namespace trn::scenario {

std::string title(const description& run) {
    const bool is_file = name_of_all_runs(run).empty();
    return is_file ? std::filesystem::path(run.file).filename().string() + run.name : run.name;
}

std::string title_of_all_runs(const description& run) {
    return title({.file = run.file, .name = name_of_all_runs(run)});
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

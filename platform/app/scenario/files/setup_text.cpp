// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/files/setup_text.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace trn::scenario {

namespace {

nlohmann::json written(const config::node& value, const parameters& values) {
    if (value.is_scalar()) return reader::replaced(value, values);
    auto all = nlohmann::json::array();
    if (value.is_list())
        for (const auto& item : value.items()) all.push_back(written(item, values));
    else
        for (const auto& [key, _, item] : value.entries())
            all.push_back({key, written(item, values)});
    return {{value.is_list() ? "list" : "map", std::move(all)}};
}

}  // namespace

std::string setup_text(const config::node& step, const parameters& values) {
    const auto folder = std::filesystem::path(step.file()).parent_path().string();
    return nlohmann::json{folder, written(step, values)}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace trn::scenario

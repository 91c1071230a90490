// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/known_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "platform/framework/config/diagnostics.h"

namespace trn {

namespace {

bool is_name(std::string_view text) {
    return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == text.npos;
}

/// The names between quotation marks.
std::vector<std::string_view> names_in(std::string_view description) {
    std::vector<std::string_view> names;
    auto open = description.find('\'');
    while (open != description.npos) {
        const auto close = description.find('\'', open + 1);
        const auto text = description.substr(open + 1, close - open - 1);
        const bool named = close != description.npos && is_name(text);
        if (named) names.push_back(text);
        open = named ? description.find('\'', close + 1) : close;
    }
    return names;
}

}  // namespace

std::string unknown_argument(std::string_view fault, std::string_view description,
                             const std::map<std::string, std::string, std::less<>>& arguments) {
    const auto names = names_in(description);
    for (const auto& [name, _] : arguments)
        if (std::ranges::find(names, name) == names.end())
            return names.empty()
                       ? fmt::format("the fault '{}' has no arguments ({})", fault, description)
                       : fmt::format("the fault '{}' has no argument '{}' ({})  {}", fault, name,
                                     description, suggest(name, names));
    return {};
}

}  // namespace trn

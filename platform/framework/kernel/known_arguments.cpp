// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/known_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "platform/framework/config/diagnostics.h"

namespace trn {

namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words{""};
    for (const char c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    return words;
}

}  // namespace

std::string unknown_argument(std::string_view fault, std::string_view description,
                             const std::map<std::string, std::string, std::less<>>& arguments) {
    const auto words = words_of(description);
    for (const auto& [name, _] : arguments)
        if (std::ranges::find(words, name) == words.end())
            return fmt::format("the fault '{}' has no argument '{}' ({})  {}", fault, name,
                               description, suggest(name, words));
    return {};
}

}  // namespace trn

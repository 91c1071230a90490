// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/help_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

namespace trn::cli {

std::string help_format::make_option_opts(const CLI::Option* option) const {
    if (!option->get_option_text().empty()) return " " + option->get_option_text();
    std::string text;
    if (option->get_type_size() != 0) {
        if (!option->get_type_name().empty()) text += " " + get_label(option->get_type_name());
        if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
        if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
        if (option->get_required()) text += " " + get_label("REQUIRED");
    }
    if (!option->get_envname().empty())
        text += fmt::format(" ({}:{})", get_label("Env"), option->get_envname());
    const auto list = [&](const char* label, const auto& options) {
        std::set<std::string> names;  // those of `options` are in the order of their addresses
        for (const auto* other : options) names.insert(other->get_name());
        if (!names.empty()) text += fmt::format(" {}: {}", get_label(label), fmt::join(names, " "));
    };
    list("Needs", option->get_needs());
    list("Excludes", option->get_excludes());
    return text;
}

}  // namespace trn::cli

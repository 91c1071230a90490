// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_guest/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "platform/app/commands/guarded.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

using functions = std::vector<platform::function>;
using words = std::vector<std::string>;

bool has(const words& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

/// The function's name relative to its server.
std::string name_of(const platform::function& f) {
    return f.server.empty() ? f.name : f.name.substr(f.server.size() + 1);
}

/// `text` as a number of at most three digits; `otherwise` for any other text.
std::size_t number_in(const std::string& text, std::size_t otherwise) {
    const bool number = !text.empty() && text.size() < 4 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    return number ? std::stoul(text) : otherwise;
}

void keep_chips(functions& all) {
    std::erase_if(all, [](const auto& f) { return !f.chip; });
}

/// The first `count` chips, or the first `count` cards of a board without chips.
functions first_devices(functions own, unsigned count, std::string_view board) {
    if (std::ranges::any_of(own, &platform::function::chip)) keep_chips(own);
    if (own.size() < count)
        throw user_error(fmt::format("--devices {}: board '{}' has {} PCIe function{}", count,
                                     board, own.size(), own.size() == 1 ? "" : "s"));
    own.resize(count);
    return own;
}

functions chips(functions own, std::string_view board) {
    keep_chips(own);
    if (own.empty())
        throw user_error(fmt::format("--functions chips: board '{}' has no chip", board));
    return own;
}

functions functions_named(functions own, const words& names) {
    words known;
    for (const auto& f : own) known.push_back(name_of(f));
    for (const auto& name : names)
        if (!has(known, name))
            throw user_error(
                fmt::format("--functions {}: the server has no such function  (known: {})", name,
                            fmt::join(known, ", ")));
    std::erase_if(own, [&](const auto& f) { return !has(names, name_of(f)); });
    return own;
}

}  // namespace

std::vector<std::string> guest_choice::servers_of(const std::vector<platform::function>& all,
                                                  std::string_view board) const {
    words known;
    for (const auto& f : all)
        if (!has(known, f.server)) known.push_back(f.server);
    if (servers == words{"all"}) return known;
    auto asked = server.empty() ? servers : words{server};
    for (auto& name : asked) {  // a number selects a server unless a server has it as its name
        if (has(known, name)) continue;
        if (const auto index = number_in(name, known.size()); index < known.size())
            name = known[index];
    }
    const char* option = server.empty() ? "--servers" : "--server";
    for (auto name = asked.begin(); name != asked.end(); ++name) {
        if (!has(known, *name) && known == words{""})
            throw user_error(fmt::format("{} {}: board '{}' has one server, without a name", option,
                                         *name, board));
        if (!has(known, *name))
            throw user_error(fmt::format("{} {}: board '{}' has no such server  (known: {})",
                                         option, *name, board, fmt::join(known, ", ")));
        if (std::find(asked.begin(), name, *name) != name)
            throw user_error(fmt::format("{}: {} is given twice", option, *name));
    }
    return asked.empty() ? words{known.front()} : asked;
}

std::vector<platform::function> guest_choice::functions_of(std::vector<platform::function> own,
                                                           std::string_view board) const {
    if (devices != 0) return first_devices(std::move(own), devices, board);
    if (functions.empty() || functions == words{"all"}) return own;
    if (functions == words{"none"}) return {};
    if (functions == words{"chips"}) return chips(std::move(own), board);
    return functions_named(std::move(own), functions);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "platform/framework/registers/generator/emit.h"

namespace trn::registers {

void check_names(const config::document& document, const block_spec& block) {
    const auto position = [](const config::place& p) { return std::tuple(p.line, p.column); };
    std::set<std::tuple<int, int>> reported;
    for (auto names : {emit_c(block).names, emit_cpp(block).names}) {
        std::ranges::stable_sort(names, {}, [&](const auto& n) { return position(n.place); });
        std::map<std::string, int> lines;
        for (const auto& [name, place] : names) {
            const auto [first, fresh] = lines.emplace(name, place.line);
            if (!fresh && reported.insert(position(place)).second)
                document.root().report_at(
                    place, mistake::duplicate_name,
                    fmt::format("'{}' is defined twice in the generated header", name),
                    fmt::format("first by line {}", first->second));
        }
    }
}

}  // namespace trn::registers

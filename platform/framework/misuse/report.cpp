// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/misuse/report.h"

#include <fmt/format.h>

#include <map>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/misuse/policy.h"

namespace trn::misuse {

using nlohmann::json;

namespace {

/// Counts per chip, including chips without violations.
std::map<std::string, std::uint64_t> by_chip(const std::vector<entry>& all,
                                             const std::vector<std::string>& chips) {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& chip : chips) counts[chip] = 0;
    for (const auto& e : all) counts[chip_of(e.module, chips)] += e.count;
    return counts;
}

/// What allowances have counted, and their limits.
json allowed() {
    json list = json::array();
    for (const auto& [allowance, count] : allowances()) {
        json row{{"rule", allowance.broken.id},
                 {"name", allowance.broken.name},
                 {"allowance", allowance.text()},
                 {"reason", allowance.reason},
                 {"count", count}};
        if (allowance.count != allowance::any) row["limit"] = allowance.count;
        list.push_back(std::move(row));
    }
    return list;
}

}  // namespace

std::string chip_of(std::string_view module, const std::vector<std::string>& chips) {
    for (const auto& chip : chips)
        if (module == chip || (module.starts_with(chip) && module[chip.size()] == '.')) return chip;
    return {};
}

json to_json(const std::vector<std::string>& chips) {
    const auto all = summary();
    json list = json::array();
    std::uint64_t total = 0;
    for (const auto& e : all) total += e.count;
    for (const auto& e : all)
        list.push_back({{"rule", e.broken.id},
                        {"name", e.broken.name},
                        {"policy", to_string(policy_of(e.broken))},
                        {"chip", chip_of(e.module, chips)},
                        {"module", e.module},
                        {"count", e.count},
                        {"first", e.first_detail},
                        {"first_time_ps", e.first_time_ps},
                        {"first_initiator", e.first_initiator}});
    return {{"failed", failed()},
            {"total", total},
            {"chips", by_chip(all, chips)},
            {"rules", list},
            {"allowed", allowed()}};
}

std::string to_text(const std::vector<std::string>& chips) {
    const auto all = summary();
    std::string text;
    for (const auto& [chip, count] : by_chip(all, chips)) {
        if (count == 0) continue;
        text += fmt::format("misuse of {}: {}\n", chip.empty() ? "the board" : chip, count);
        for (const auto& e : all)
            if (chip_of(e.module, chips) == chip)
                text += fmt::format("  {} {:<26} {:>6}  {}\n", e.broken.id, e.broken.name, e.count,
                                    e.module);
    }
    for (const auto& line : allowed_lines()) text += line + "\n";
    return text;
}

std::vector<std::string> allowed_lines() {
    std::vector<std::string> lines;
    for (const auto& [allowance, count] : allowances()) {
        const auto subject = printable(allowance.subject()), place = printable(allowance.place);
        lines.push_back(count == 0
                            ? fmt::format("warning: {}: unused allowance: no {}", place, subject)
                            : fmt::format("{} allowed: {} ({}), {}", count, subject,
                                          printable(allowance.reason), place));
    }
    return lines;
}

}  // namespace trn::misuse

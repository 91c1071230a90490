// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/wildcards.h"
#include "platform/framework/kernel/introspection.h"

namespace trn {

accepts_faults::fault accepts_faults::fault_named(std::string_view name) {
    auto table = faults();
    const auto found = std::ranges::find(table, name, &fault::name);
    if (found != table.end()) return std::move(*found);
    std::vector<std::string_view> known;
    for (const auto& row : table) known.push_back(row.name);
    const auto* module = dynamic_cast<const sc_core::sc_object*>(this);
    throw fault_error(fmt::format("{} has no fault '{}'  {}", module ? module->name() : "a module",
                                  name, suggest(name, known)));
}

void accepts_faults::inject(std::string_view name, const fault_arguments& given) {
    const auto wanted = fault_named(name);
    wanted.action(fault_values(name, wanted.arguments, given));
}

void accepts_faults::check(std::string_view name, const fault_arguments& given) {
    fault_values(name, fault_named(name).arguments, given);
}

std::vector<faulty_module> modules_with_fault(std::string_view pattern, std::string_view fault) {
    std::vector<faulty_module> found;
    std::vector<std::string> others;  // modules with the fault that do not match
    std::vector<std::string> faults;  // other faults of modules that match
    std::vector<std::string> modules;
    for_each_module<accepts_faults>([&](const auto& object, accepts_faults& module) {
        const std::string name = object.name();
        const bool matches = matches_name(pattern, name);
        modules.push_back(name);
        for (auto& row : module.faults()) {
            if (row.name == fault && matches) found.push_back({name, &module});
            if (row.name == fault && !matches) others.push_back(name);
            if (row.name != fault && matches) faults.push_back(std::move(row.name));
        }
    });
    if (!found.empty()) return found;
    if (!faults.empty()) {
        std::ranges::sort(faults);
        faults.erase(std::ranges::unique(faults).begin(), faults.end());
        throw fault_error(
            fmt::format("{} has no fault '{}'  {}", pattern, fault, suggest(fault, faults)));
    }
    throw fault_error(fmt::format("no module '{}' has the fault '{}'  {}", pattern, fault,
                                  suggest(pattern, others.empty() ? modules : others)));
}

}  // namespace trn

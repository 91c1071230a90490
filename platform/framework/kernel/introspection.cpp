// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/introspection.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/kernel/known_arguments.h"

namespace trn {

void accepts_faults::inject(std::string_view name, const fault_arguments& arguments) {
    const auto table = faults();
    const auto found = std::ranges::find(table, name, &fault::name);
    if (found != table.end()) {
        const auto wrong = unknown_argument(name, found->description, arguments);
        if (!wrong.empty()) throw fault_error(wrong);
        return found->action(arguments);
    }
    std::vector<std::string_view> known;
    for (const auto& one : table) known.push_back(one.name);
    const auto* module = dynamic_cast<const sc_core::sc_object*>(this);
    throw fault_error(fmt::format("{} has no fault '{}'  {}", module ? module->name() : "a module",
                                  name, suggest(name, known)));
}

std::function<bool()> ready_condition() {
    std::vector<const reports_ready*> all;
    for_each_module<reports_ready>([&](const auto&, auto& module) { all.push_back(&module); });
    return [all = std::move(all)] {
        return !all.empty() && std::ranges::all_of(all, [](const auto* m) { return m->ready(); });
    };
}

}  // namespace trn

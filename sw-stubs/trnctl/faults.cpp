// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "sw-stubs/trnctl/commands.h"
#include "sw-stubs/trnctl/fault_text.h"

namespace trn {

void list_faults(session& where, const output& out) {
    for (const auto& group : where.call("list", {{"what", "faults"}})) {
        auto text = faulty_modules_text(group);
        for (const auto& fault : group.at("faults")) text += "\n" + fault_text(fault);
        out.result(group, text);
    }
}

void inject(session& where, const fault_choice& what, const output& out) {
    session::json arguments = session::json::object();
    for (const auto& one : what.arguments) {
        const auto sign = one.find('=');
        if (sign == 0 || sign == one.npos)
            throw user_error(fmt::format("'{}' is no argument of a fault: write NAME=VALUE", one));
        if (!arguments.emplace(one.substr(0, sign), one.substr(sign + 1)).second)
            throw user_error(fmt::format("'{}' is given twice", one.substr(0, sign)));
    }
    const auto hit = where.call(
        "inject", {{"module", what.module}, {"fault", what.fault}, {"arguments", arguments}});
    for (const auto& module : hit.at("modules"))
        out.result({{"module", module}, {"fault", what.fault}},
                   fmt::format("{}: {}", module.get<std::string>(), what.fault));
}

}  // namespace trn

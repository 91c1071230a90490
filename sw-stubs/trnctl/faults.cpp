// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "sw-stubs/trnctl/commands.h"
#include "sw-stubs/trnctl/fault_text.h"

namespace trn {

void list_faults(session& platform, const output& out) {
    for (const auto& group : platform.call("list", {{"what", "faults"}})) {
        auto text = faulty_modules_text(group);
        for (const auto& fault : group.at("faults")) text += "\n" + fault_text(fault);
        out.result(group, text);
    }
}

void inject(session& platform, const fault_choice& choice, const output& out) {
    session::json arguments = session::json::object();
    for (const auto& argument : choice.arguments) {
        const auto sign = argument.find('=');
        if (sign == 0 || sign == argument.npos)
            throw user_error(
                fmt::format("'{}' is no argument of a fault: write NAME=VALUE", argument));
        if (!arguments.emplace(argument.substr(0, sign), argument.substr(sign + 1)).second)
            throw user_error(fmt::format("'{}' is given twice", argument.substr(0, sign)));
    }
    const auto hit = platform.call(
        "inject", {{"module", choice.module}, {"fault", choice.fault}, {"arguments", arguments}});
    for (const auto& module : hit.at("modules"))
        out.result({{"module", module}, {"fault", choice.fault}},
                   fmt::format("{}: {}", module.get<std::string>(), choice.fault));
}

}  // namespace trn

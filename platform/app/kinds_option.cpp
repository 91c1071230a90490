// SPDX-License-Identifier: Apache-2.0
#include "platform/app/kinds_option.h"

#include <fmt/format.h>

#include "platform/framework/netlist/kinds/loaded_kinds.h"

namespace trn {

void add_kinds_option(cli::command& command, std::vector<std::string>& libraries,
                      const kind_list& known) {
    const auto load = [&known](const std::string& library) -> std::string {
        const auto why = load_kinds(library, known);
        return why ? fmt::format("no kinds from '{}': {}", library, *why) : "";
    };
    command
        .add_option("--kinds", libraries,
                    "load this shared library, whose kinds boards can then name")
        ->allow_extra_args(false)
        ->check(cli::validator(load, "LIBRARY"));
}

}  // namespace trn

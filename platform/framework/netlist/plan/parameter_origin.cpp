// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/plan/parameter_origin.h"

#include <array>

namespace trn {

std::string_view to_string(parameter_origin::source given_by) {
    constexpr std::array<std::string_view, 6> names{
        "default of the kind", "default of the file", "preset", "file", "command line", "program"};
    return names.at(static_cast<std::size_t>(given_by));
}

bool is_within(std::string_view scope, std::string_view parameter) {
    return scope.empty() || (parameter.starts_with(scope) &&
                             (parameter.size() == scope.size() || parameter[scope.size()] == '.'));
}

}  // namespace trn

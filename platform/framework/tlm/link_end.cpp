// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/link_end.h"

#include <array>

namespace trn {

std::string_view to_string(link_state state) {
    constexpr std::array<std::string_view, 7> names{"Detect",   "Polling",  "Configuration", "L0",
                                                    "Recovery", "Disabled", "Hot Reset"};
    return names.at(static_cast<std::size_t>(state));
}

}  // namespace trn

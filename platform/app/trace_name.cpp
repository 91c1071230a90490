// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trace_name.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "platform/framework/config/diagnostics.h"

namespace trn {

cli::validator trace_name() {
    static constexpr std::string_view near[]{".perfetto-trace", ".perfetto"};
    return cli::validator(
        [](std::string& name) -> std::string {
            const auto ending = std::filesystem::path(name).extension().string();
            if (ending == near[0] || did_you_mean(ending, near).empty()) return {};
            return fmt::format("'{}': did you mean '{}'?", name, near[0]);
        },
        "");
}

}  // namespace trn

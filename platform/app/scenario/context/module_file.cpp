// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/module_file.h"

#include "platform/app/platform.h"

namespace trn::scenario {

void add_module_file(const scenario_context& ctx, const std::filesystem::path& file) {
    if (ctx.board != nullptr && file.extension() == ".ko")
        ctx.board->linux_hosts().files().add_file(file);
}

}  // namespace trn::scenario

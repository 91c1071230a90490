// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/board_access.h"

#include "platform/app/scenario/language/step.h"

namespace trn::scenario {

std::vector<std::uint8_t> read_memory(scenario_context& ctx, const location& source,
                                      std::uint64_t size) {
    return trn::read_memory(ctx.device, source, size);
}

void write_memory(scenario_context& ctx, const location& destination,
                  const std::vector<std::uint8_t>& bytes) {
    trn::write_memory(ctx.device, destination, bytes);
}

nlohmann::json call(scenario_context& ctx, std::string_view method, const nlohmann::json& params) {
    try {
        return ctx.control.call(method, params);
    } catch (const rpc::error& wrong) {
        throw step_failure(wrong.what());
    }
}

}  // namespace trn::scenario

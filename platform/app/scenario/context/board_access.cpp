// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/board_access.h"

#include "platform/app/scenario/language/step.h"

namespace trn::scenario {

std::vector<std::uint8_t> read_memory(scenario_context& ctx, const location& source,
                                      std::uint64_t size) {
    // Checks the range before memory is allocated.
    const auto address = source.address(ctx.device, size);
    std::vector<std::uint8_t> bytes(size);
    if (source.space == location::kind::hbm)
        ctx.device.check(
            trn_window_read(ctx.device, source.number, source.offset, bytes.data(), size));
    else
        ctx.device.check(
            trn_read(ctx.device, source.core(ctx.device), bytes.data(), address, size));
    return bytes;
}

void write_memory(scenario_context& ctx, const location& destination,
                  const std::vector<std::uint8_t>& bytes) {
    const auto address = destination.address(ctx.device, bytes.size());
    if (destination.space == location::kind::hbm)
        ctx.device.check(trn_window_write(ctx.device, destination.number, destination.offset,
                                          bytes.data(), bytes.size()));
    else
        ctx.device.check(trn_write(ctx.device, destination.core(ctx.device), address, bytes.data(),
                                   bytes.size()));
}

nlohmann::json call(scenario_context& ctx, std::string_view method, const nlohmann::json& params) {
    try {
        return ctx.control.call(method, params);
    } catch (const rpc::error& wrong) {
        throw step_failure(wrong.what());
    }
}

}  // namespace trn::scenario

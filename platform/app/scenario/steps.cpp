// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/steps.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "platform/app/scenario/progress.h"

namespace trn::scenario {

std::string address_fault(const location& place) {
    return place.space == location::kind::host
               ? "memory of the host has no address before a copy takes it: name a memory of a chip"
               : "";
}

void check_parts(const reader& r, std::string_view key, std::uint64_t size, std::uint64_t part) {
    if (part != 0 && size / part > max_parts)
        r.node().at(key).report(
            mistake::out_of_range,
            fmt::format("{} are cut into more than {} parts of {}", to_string(bytes{size}),
                        max_parts, to_string(bytes{part})));
}

std::vector<std::uint8_t> read_memory(scenario_context& ctx, const location& from,
                                      std::uint64_t size) {
    // Checks the range before memory is allocated.
    const auto address = from.address(ctx.device, size);
    std::vector<std::uint8_t> bytes(size);
    if (from.space == location::kind::hbm)
        ctx.device.check(trn_window_read(ctx.device, from.number, from.offset, bytes.data(), size));
    else
        ctx.device.check(trn_read(ctx.device, from.core(ctx.device), bytes.data(), address, size));
    return bytes;
}

void write_memory(scenario_context& ctx, const location& to,
                  const std::vector<std::uint8_t>& bytes) {
    const auto address = to.address(ctx.device, bytes.size());
    if (to.space == location::kind::hbm)
        ctx.device.check(
            trn_window_write(ctx.device, to.number, to.offset, bytes.data(), bytes.size()));
    else
        ctx.device.check(
            trn_write(ctx.device, to.core(ctx.device), address, bytes.data(), bytes.size()));
}

nlohmann::json call(scenario_context& ctx, std::string_view method, const nlohmann::json& params) {
    try {
        return ctx.control.call(method, params);
    } catch (const rpc::error& wrong) {
        throw step_failure(wrong.what());
    }
}

figure rate_bounds::wanted(const reader& r, std::string name) const {
    figure wanted{std::move(name), 0, "GB/s"};
    const auto gigabytes = [](data_rate rate) {
        return static_cast<double>(rate.bytes_per_second) * 1e-9;
    };
    if (at_least) wanted.min = gigabytes(*at_least);
    if (at_most) wanted.max = gigabytes(*at_most);
    check_bounds(r, wanted);
    return wanted;
}

void check_bounds(const reader& r, const figure& wanted) {
    if (wanted.min && wanted.max && *wanted.min > *wanted.max)
        r.node().at("at_most").report(mistake::out_of_range, "'at_most' is less than 'at_least'");
}

void measure_rate(scenario_context& ctx, const figure& measured) {
    if (measured.value <= 0)
        throw step_failure("the rate is undefined: twice the bytes took no more simulated time");
    measure(ctx, measured);
}

void measure(scenario_context& ctx, const figure& measured) {
    if (!std::isfinite(measured.value))
        throw step_failure("the figure is undefined: its steps took no simulated time");
    ctx.report->measured(measured);
    if (!measured.within_bounds()) throw step_failure("it is " + measured.text());
}

}  // namespace trn::scenario

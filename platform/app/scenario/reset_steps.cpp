// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/app/scenario/steps.h"

namespace trn::scenario {

namespace {

struct boot_step {
    nanoseconds within{1'000'000'000};
    bool reset = true;

    action plan() const {
        return {
            .text = "boot",
            .work =
                [s = *this](scenario_context& ctx) {
                    const auto ready = ready_condition();
                    if (!ctx.wait_for(s.within.value, ready))
                        throw step_failure(fmt::format("not ready after {} ns", s.within.value));
                    ctx.device.check(trn_probe(ctx.device));
                    if (s.reset) ctx.device.check(trn_reset_device(ctx.device));
                },
            .shared =
                fmt::format("boot within {} ns, {}", within.value, reset ? "reset" : "no reset")};
    }
};

struct probe_step {
    static action plan() {
        return {"probe", [](scenario_context& ctx) { ctx.device.check(trn_probe(ctx.device)); }};
    }
};

struct reset_step {
    std::optional<std::uint32_t> cores;

    action plan() const {
        if (!cores)
            return {"reset the device",
                    [](scenario_context& ctx) { ctx.device.check(trn_reset_device(ctx.device)); }};
        return {fmt::format("reset cores {:#x}", *cores), [map = *cores](scenario_context& ctx) {
                    ctx.device.check(trn_reset_cores(ctx.device, map));
                }};
    }
};

struct restart_queue_step {
    std::uint32_t core = 0;

    action plan() const {
        return {fmt::format("restart the copy queue of core {}", core),
                [core = core](scenario_context& ctx) {
                    ctx.device.check(trn_restart_queue(ctx.device, core));
                }};
    }
};

}  // namespace

std::vector<step_kind> reset_steps() {
    return {
        step_of<boot_step>(
            "boot",
            "waits until every chip is ready; then probe and device reset through the "
            "driver stub",
            {key("within", &boot_step::within), key("reset", &boot_step::reset)}),
        step_of<probe_step>("probe", "the driver's probe of the device"),
        step_of<reset_step>("reset", "`reset: {}` resets the device",
                            {key("cores", &reset_step::cores, "a bit map")}),
        step_of<restart_queue_step>("restart_queue", "after an abort, without a reset",
                                    {key("core", &restart_queue_step::core).required()}),
    };
}

}  // namespace trn::scenario

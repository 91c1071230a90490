// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "platform/app/scenario/context/failure_state.h"
#include "platform/app/scenario/context/inside_hosts.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"

namespace trn::scenario {

/// Who brings the chips up: the driver stub, or the Linux of the hosts inside.
enum class booted_host : std::uint8_t { stub, inside };

}  // namespace trn::scenario

namespace trn::config {

template <>
struct choices<scenario::booted_host> {
    static constexpr std::array list{
        choice<scenario::booted_host>{"stub", scenario::booted_host::stub},
        choice<scenario::booted_host>{"linux", scenario::booted_host::inside}};
};

}  // namespace trn::config

namespace trn::scenario {

namespace {

struct boot_step {
    std::optional<nanoseconds> within;
    bool reset = true;
    booted_host host = booted_host::stub;

    void run(scenario_context& ctx) const;
    action plan() const {
        const bool inside = host == booted_host::inside;
        return {.text = inside ? "boot Linux" : "boot",
                .work = [s = *this](scenario_context& ctx) { s.run(ctx); },
                .shared = fmt::format("boot {} within {}, {}", inside ? "Linux" : "",
                                      to_string(limit()), reset ? "reset" : "no reset"),
                .drives = !inside};
    }

private:
    nanoseconds limit() const {
        constexpr nanoseconds of_chips{1'000'000'000}, of_linux{20'000'000'000};
        return within.value_or(host == booted_host::inside ? of_linux : of_chips);
    }
    void await_chips(scenario_context& ctx) const;
};

/// Calls the driver with what is left of `within` as the limit of its waits for firmware.
void check_within(scenario_context& ctx, std::uint64_t end, trn_status (*call)(trn_device*),
                  std::string_view hint) {
    const auto now = trn_now(ctx.device);
    trn_limit_firmware(ctx.device, end > now ? end - now : 1);
    const auto status = call(ctx.device);
    trn_limit_firmware(ctx.device, 0);
    try {
        ctx.device.check(status);
    } catch (const device_error& wrong) {
        if (wrong.status != TRN_TIMED_OUT) throw;
        throw device_error(wrong.status, fmt::format("{}; {}", wrong.what(), hint));
    }
}

void boot_step::await_chips(scenario_context& ctx) const {
    const auto ready = ready_condition();
    if (!ctx.waits.wait_for(limit().value, ready))
        throw step_failure(
            fmt::format("not ready after {}: {}", to_string(limit()), boot_state(ctx)));
}

void boot_step::run(scenario_context& ctx) const {
    const auto end = trn_now(ctx.device) + limit().value;
    await_chips(ctx);
    if (host == booted_host::inside) {
        auto& hosts = ctx.kept.get<inside_hosts>(ctx.control.consoles());
        const auto now = trn_now(ctx.device);
        if (hosts.empty()) throw step_failure("no host is inside (set: {host: linux})");
        return hosts.await_ready(ctx.waits, end > now ? end - now : 1);
    }
    const auto hint = fmt::format("'within' of boot, {}, bounds this wait", to_string(limit()));
    check_within(ctx, end, trn_probe, hint);
    if (!reset) return;
    if (trn_now(ctx.device) >= end)
        throw device_error(TRN_TIMED_OUT, "after the probe no time is left for the reset; " + hint);
    check_within(ctx, end, trn_reset_device,
                 hint + "; for firmware without the handshake write 'boot: {reset: false}'");
}

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
            {key("within", &boot_step::within,
                 "simulated time until every chip is ready: 1 s; with Linux 20 s")
                 .positive(),
             key("host", &boot_step::host,
                 "linux: waits for the Linux of the hosts inside, in place of probe and reset"),
             key("reset", &boot_step::reset,
                 "false: no device reset, for firmware without its handshake")}),
        step_of<probe_step>("probe", "the driver's probe of the device"),
        step_of<reset_step>("reset", "resets the device, or some cores",
                            {key("cores", &reset_step::cores, "a bit map")}),
        step_of<restart_queue_step>(
            "restart_queue", "restarts a core's queue after an abort, without a reset",
            {key("core", &restart_queue_step::core, "whose queue is restarted").required()}),
    };
}

}  // namespace trn::scenario

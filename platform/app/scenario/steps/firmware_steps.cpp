// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/framework/config/file.h"
#include "platform/framework/loader/firmware_file.h"
#include "sw-stubs/collectives/include/trn_coll.h"

namespace trn::scenario {

namespace {

constexpr std::size_t max_metric = TRN_MAX_METRIC_BYTES - 2;  // beside id and length

/// A request of the driver to the firmware's mailbox.
struct mailbox_step {
    std::optional<std::uint8_t> power_profile;
    std::optional<bool> throttling;
    std::optional<std::string> metric;
    std::optional<std::uint32_t> get_data;
    std::uint8_t command = 0;

    void finish(const reader& r) const {
        if (metric && metric->size() > max_metric)
            r.node().at("metric").report(mistake::out_of_range,
                                         fmt::format("a metric has at most {} bytes", max_metric));
    }
    action plan() const;
};

action post_metric(const std::string& metric) {
    // One record of the driver's metrics: id, length, text (contract 12).
    const auto record = std::string{1, static_cast<char>(metric.size())} + metric;
    return {"post a metric", [record](scenario_context& ctx) {
                ctx.device.check(trn_post_metric(ctx.device, record.data(),
                                                 static_cast<std::uint32_t>(record.size())));
            }};
}

action read_data(std::uint32_t type) {
    return {fmt::format("get data of type {}", type), [type](scenario_context& ctx) {
                std::array<std::uint8_t, TRN_MAX_MAILBOX_BYTES> data{};
                auto size = static_cast<std::uint32_t>(data.size());
                ctx.device.check(trn_get_data(ctx.device, type, data.data(), &size));
                if (size == 0) throw step_failure("the answer is empty");
            }};
}

action mailbox_step::plan() const {
    if (power_profile)
        return {fmt::format("set power profile {}", *power_profile),
                [profile = *power_profile](scenario_context& ctx) {
                    ctx.device.check(trn_set_power_profile(ctx.device, profile));
                }};
    if (throttling)
        return {fmt::format("throttling notifications {}", *throttling ? "on" : "off"),
                [on = *throttling](scenario_context& ctx) {
                    ctx.device.check(trn_set_throttling_notifications(ctx.device, on));
                }};
    if (metric) return post_metric(*metric);
    if (get_data) return read_data(*get_data);
    return {
        fmt::format("mailbox command {}", command), [command = command](scenario_context& ctx) {
            std::uint32_t none = 0;
            ctx.device.check(trn_mailbox_request(ctx.device, command, nullptr, 0, nullptr, &none));
        }};
}

struct read_counters_step {
    std::uint64_t address = 0;
    std::optional<std::uint32_t> equals;

    action plan() const {
        return {fmt::format("let firmware read {:#x}", address),
                [s = *this](scenario_context& ctx) {
                    std::uint32_t value = 0;
                    ctx.device.check(trn_read_counters(ctx.device, &s.address, &value, 1));
                    if (s.equals && value != *s.equals)
                        throw step_failure(
                            fmt::format("it is {:#x} instead of {:#x}", value, *s.equals));
                }};
    }
};

struct power_step {
    std::uint32_t die = 0;
    nanoseconds changes_within;

    void run(scenario_context& ctx) const {
        trn_power_sample first{}, next{};
        ctx.device.check(trn_get_power(ctx.device, die, &first));
        const bool changed = ctx.waits.wait_for(changes_within.value, [&] {
            ctx.device.check(trn_get_power(ctx.device, die, &next));
            return next.counter != first.counter;
        });
        if (!changed) throw step_failure("no new sample after " + to_string(changes_within));
    }
    std::string text() const { return fmt::format("power samples of die {}", die); }
};

constexpr std::uint32_t last_cc_core = 15;  // of the chip with most

/// A core of the chip that runs collectives, or a firmware of the user.
struct load_core_step {
    std::uint32_t core = 0;
    std::string image = {};
    std::vector<std::uint8_t> content = {};

    void finish(const reader& r) {
        if (image.empty())
            return r.node().at("image").report(mistake::unreadable_file, "a file is needed");
        const auto beside = std::filesystem::path(r.node().file()).parent_path() / image;
        const auto file = exists(beside) ? absolute(beside).string() : image;
        note_input(trn::find_firmware(file));
        try {
            content = read_collective_firmware(file);
        } catch (const std::runtime_error& wrong) {
            r.node().at("image").report(mistake::unreadable_file, wrong.what());
        }
    }
    action plan() const {
        return {.text = fmt::format("load {} into core {}", image, core),
                .work =
                    [s = *this](scenario_context& ctx) {
                        ctx.device.check(trn_cc_load(ctx.device, std::uint32_t{1} << s.core,
                                                     s.content.data(), s.content.size()));
                    },
                .file_bytes = content.size()};
    }
};

struct core_log_step {
    std::uint32_t core = 0;
    std::string text = {};
    nanoseconds within = {};

    void run(scenario_context& ctx) const {
        std::array<char, 4097> log{};
        const bool printed = ctx.waits.wait_for(within.value, [&] {
            ctx.device.check(trn_cc_log(ctx.device, core, log.data(), log.size()));
            return std::string_view(log.data()).find(text) != std::string_view::npos;
        });
        if (!printed)
            throw step_failure(fmt::format("the core has not logged it, but: {}", log.data()));
    }
    action plan() const {
        return {fmt::format("core {} logs '{}'", core, text),
                [s = *this](scenario_context& ctx) { s.run(ctx); }};
    }
};

}  // namespace

std::vector<step_kind> firmware_steps() {
    using mail = mailbox_step;
    return {
        step_of<load_core_step>(
            "load_core", "loads a firmware into a CC-Core, which starts",
            {key("core", &load_core_step::core, "of the chip").required().up_to(last_cc_core),
             key("image", &load_core_step::image,
                 "an ELF file or a packed image, beside the scenario or in the firmware folder")
                 .required()}),
        step_of<core_log_step>(
            "core_log", "the firmware of a CC-Core must have logged a text",
            {key("core", &core_log_step::core, "of the chip").required().up_to(last_cc_core),
             key("text", &core_log_step::text, "part of the log").required(),
             key("within", &core_log_step::within, "simulated time to wait for it; 0: now")}),
        step_of<mail>(
            "mailbox", "one request, of one of these keys",
            keys<mail>{
                key("power_profile", &mail::power_profile, "selects the profile"),
                key("throttling", &mail::throttling,
                    "switches notifications of throttling on or off"),
                key("metric", &mail::metric, "text of one record of metrics, which firmware keeps"),
                key("get_data", &mail::get_data, "type of data that firmware returns"),
                key("command", &mail::command, "number of a command without arguments")
                    .required_without({"power_profile", "throttling", "metric", "get_data"})}
                .one_of({"power_profile", "throttling", "metric", "get_data", "command"})),
        step_of<read_counters_step>("read_counters", "firmware reads a register for the driver",
                                    {key("address", &read_counters_step::address,
                                         "of the register, in the chip's address map")
                                         .required(),
                                     key("equals", &read_counters_step::equals, "the value")}),
        step_of<power_step>("power", "the power sample must change within this time",
                            {key("die", &power_step::die, "of the chip").required().up_to(1),
                             key("changes_within", &power_step::changes_within, "simulated time")
                                 .required()
                                 .positive()}),
    };
}

}  // namespace trn::scenario

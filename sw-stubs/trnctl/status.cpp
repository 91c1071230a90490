// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "sw-stubs/host/text/size_text.h"
#include "sw-stubs/trnctl/commands.h"
#include "trn/misc_ram_regs.h"

namespace trn {

namespace {

std::string_view mode_text(trn_mode mode) {
    switch (mode) {
    case TRN_MODE_QEMU:
        return "simulator (revision 255)";
    case TRN_MODE_EMULATOR:
        return "emulator (revision 240)";
    case TRN_MODE_SILICON:
        break;
    }
    return "silicon";
}

/// "chip0.hbm0  size=38654705664": the name, then the other values.
std::string row_of(const nlohmann::json& entry) {
    if (entry.is_string()) return entry.get<std::string>();
    const auto* name = entry.contains("name") ? "name" : "module";
    auto row = fmt::format("{:<40}", entry.value(name, ""));
    for (const auto& [key, value] : entry.items())
        if (key != name)
            row += fmt::format(" {}={}", key,
                               value.is_string() ? value.get<std::string>() : value.dump());
    return row;
}

/// "board.yaml:12:3 ${room} (room)": place, text there, and the parameters that it refers to.
std::string origin_of(const nlohmann::json& origin) {
    std::string text = origin.value("by", "");
    if (origin.contains("file")) {
        const auto place = fmt::format("{}:{}:{}", origin.value("file", ""),
                                       origin.value("line", 0), origin.value("column", 0));
        text = text == "file" ? place : fmt::format("{}, {}", text, place);
    }
    if (const auto written = origin.value("written", ""); !written.empty()) text += " " + written;
    for (const auto& name : origin.value("parameters", nlohmann::json::array()))
        text += fmt::format(" ({})", name.get<std::string>());
    return text;
}

std::string percent(const trn_power_sample& sample) {
    return fmt::format("{:.2f} %", sample.basis_points / 100.0);
}

}  // namespace

void output::result(const nlohmann::json& object, const std::string& line) const {
    constexpr bool ascii = true;  // escapes all that could change a terminal
    print("{}\n",
          json ? object.dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace) : line);
    std::fflush(stdout);
}

void list(session& platform, const std::string& kind, const output& out) {
    if (kind == "faults") return list_faults(platform, out);
    if (!kind.empty()) {
        for (const auto& entry : platform.call("list", {{"what", kind}}))
            out.result(entry, row_of(entry));
        return;
    }
    for (const auto* list : {"modules", "consoles"})
        for (const auto& entry : platform.call("list", {{"what", list}}))
            out.result(entry, fmt::format("{:<10} {:<40} {}", list, entry.value("name", ""),
                                          entry.value("type", "")));
    list_faults(platform, out);
}

void info(session& platform, const output& out) {
    run_probed(platform, [&](device& chip) {
        const auto i = chip.info();
        std::uint64_t serial = 0;
        std::uint32_t version = 0;
        chip.check(trn_get_serial(chip, &serial));
        chip.check(trn_get_api_version(chip, &version));
        out.result(
            {{"name", i.name},
             {"vendor_id", i.vendor_id},
             {"device_id", i.device_id},
             {"revision", i.revision},
             {"routing_id", i.routing_id},
             {"device_index", i.device_index},
             {"serial", serial},
             {"api_version", version},
             {"cores", i.cores},
             {"dma_engines", i.dma_engines},
             {"stacks", i.stacks},
             {"stack_bytes", i.stack_size}},
            fmt::format("{} ({:04x}:{:04x}), {}\n"
                        "routing id {}, /dev/neuron{}, serial {:016x}, firmware API {}\n"
                        "{} NeuronCores, {} DMA engines of {} queues, {} HBM stacks of {}\n"
                        "BAR{} {}, BAR4 {}",
                        i.name, i.vendor_id, i.device_id, mode_text(i.mode), i.routing_id,
                        i.device_index, serial, version, i.cores, i.dma_engines,
                        i.queues_per_engine, i.stacks, size_text(i.stack_size), i.register_bar,
                        size_text(i.register_bar_size), size_text(i.bar4_size)));
    });
}

void reset(session& platform, std::optional<std::uint32_t> cores, const output& out) {
    platform.run([&](device& chip) {
        bring_up(chip);  // precondition of a reset of cores, too
        if (cores) chip.check(trn_reset_cores(chip, *cores));
        out.result({{"reset", cores ? "cores" : "device"}},
                   cores ? fmt::format("cores {:#x} are reset", *cores) : "the device is reset");
    });
}

void registers(session& platform, const register_choice& choice, const output& out) {
    if (choice.module.empty()) {
        for (const auto& entry : platform.call("list", {{"what", "registers"}}))
            out.result(entry,
                       fmt::format("{:<40} {:<22} {:>4} registers, {} times",
                                   entry.value("module", ""), entry.value("block", ""),
                                   entry.value("registers", 0u), entry.value("instances", 0u)));
        return;
    }
    auto params = session::json{{"module", choice.module}};
    if (!choice.name.empty())
        params.update(
            {{"name", choice.name}, {"index", choice.index}, {"instance", choice.instance}});
    for (const auto& entry : platform.call("registers", params)) {
        auto line = fmt::format("{:#08x} {:<44} {:#010x}  {}, {}", entry.value("offset", 0u),
                                entry.value("block", "") + "." + entry.value("name", ""),
                                entry.value("value", std::uint64_t{0}), entry.value("known_by", ""),
                                entry.value("fidelity", ""));
        if (const auto count = entry.value("count", 1u); count > 1)
            line += fmt::format(", element {} of {}", choice.index, count);
        if (!choice.name.empty())
            for (const auto& [field, value] : entry.at("fields").items())
                line += fmt::format("\n    {:<30} {:#x}", field, value.get<std::uint64_t>());
        out.result(entry, line);
    }
}

void signals(session& platform, const std::string& pattern, const output& out) {
    for (const auto& entry : platform.call("signals", {{"pattern", pattern}}))
        out.result(entry, row_of(entry));
}

void parameters(session& platform, const std::string& name, bool inside, const output& out) {
    auto params = session::json{{"inside", inside}};
    if (!name.empty()) params["name"] = name;
    for (const auto& entry : platform.call("parameters", params))
        out.result(entry, fmt::format("{:<40} {:<20} {}", entry.value("name", ""),
                                      entry.value("text", ""), origin_of(entry.at("origin"))));
}

void misuse_rules(session& platform, const std::string& policy, bool clear, const output& out) {
    auto params = session::json::object();
    if (!policy.empty()) params["policy"] = policy;
    const auto report = platform.call("misuse", params);
    for (const auto& entry : report.at("rules"))
        out.result(entry, fmt::format("{} {:<26} {:>6}  {} ({}){}{}", entry.value("rule", ""),
                                      entry.value("name", ""), entry.value("count", 0u),
                                      entry.value("module", ""), entry.value("first", ""),
                                      entry.value("first_initiator", "").empty() ? "" : ", by ",
                                      entry.value("first_initiator", "")));
    if (!out.json) print("{} in all\n", report.value("total", 0u));
    for (const auto& entry : report.value("allowed", session::json::array()))
        out.result(entry, fmt::format("{} {:<26} {:>6}  allowed ({})", entry.value("rule", ""),
                                      entry.value("name", ""), entry.value("count", 0u),
                                      entry.value("reason", "")));
    if (clear) platform.call("misuse", {{"clear", true}});
}

void run_state(session& platform, const std::string& method, const output& out) {
    const auto now = platform.call(method);
    const auto why = now.value("why", "");
    out.result(now, fmt::format("{} at {}{}{}", now.value("paused", false) ? "paused" : "running",
                                now.value("time", ""), why.empty() ? "" : ": ", why));
}

void snapshot(session& platform, const std::string& verb, const std::string& name,
              const output& out) {
    const auto snapshots = verb.empty() ? platform.call("snapshots", session::json::object())
                                        : session::json{platform.call(verb, {{"name", name}})};
    for (const auto& entry : snapshots)
        out.result(entry,
                   fmt::format("{:<20} {}", entry.value("name", ""), entry.value("time", "")));
}

void power(session& platform, const output& out) {
    run_probed(platform, [&](device& chip) {
        const auto dies = chip.info().dies;
        for (std::uint32_t die = 0; die < dies; ++die) {
            trn_power_sample sample{};
            chip.check(trn_get_power(chip, die, &sample));
            out.result(
                {{"die", die}, {"basis_points", sample.basis_points}, {"sample", sample.counter}},
                fmt::format("die {}: {} of its power budget (sample {})", die, percent(sample),
                            sample.counter));
        }
        trn_ecc_counts ecc{};
        chip.check(trn_get_ecc(chip, &ecc));
        out.result({{"sram_corrected", ecc.sram_corrected},
                    {"sram_uncorrected", ecc.sram_uncorrected},
                    {"hbm_uncorrectable", ecc.hbm_uncorrectable},
                    {"hbm_repairable", ecc.hbm_repairable},
                    {"repair_state", ecc.repair_state}},
                   fmt::format("ECC: SRAM {} corrected, {} not; HBM {} uncorrectable",
                               ecc.sram_corrected, ecc.sram_uncorrected,
                               ecc.hbm_uncorrectable[0] + ecc.hbm_uncorrectable[1] +
                                   ecc.hbm_uncorrectable[2] + ecc.hbm_uncorrectable[3]));
    });
}

namespace {

/// Sums of the platform's counters over all DMA engines.
struct dma_totals {
    std::uint64_t descriptors = 0, bytes = 0, aborts = 0;
};

dma_totals dma_of(session& platform) {
    dma_totals all;
    const auto modules = platform.call("statistics");
    for (const auto& counters : modules) {
        if (!counters.contains("descriptors")) continue;
        all.descriptors += counters.value("descriptors", std::uint64_t{0});
        all.bytes += counters.value("bytes", std::uint64_t{0});
        all.aborts += counters.value("aborts", std::uint64_t{0});
    }
    return all;
}

/// Name of the first chip's misc RAM in control methods; "" if the board has none.
std::string misc_ram_space(session& platform) {
    for (std::string space : platform.call("list", {{"what", "spaces"}}))
        if (space.ends_with("misc_ram.in")) return space;
    return "";
}

std::uint32_t power_of(session& platform, const std::string& space, unsigned die) {
    const auto word = platform.call(
        "peek", {{"space", space}, {"address", TRN_MISC_RAM_POWER_OFFSET(die)}, {"size", 4}});
    return TRN_MISC_RAM_POWER_BASIS_POINTS_GET(word.value("value", std::uint32_t{0}));
}

}  // namespace

// Uses control methods only, because a driver may be attached to the function.
void monitor(session& platform, std::optional<double> seconds, const output& out) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    const auto space = misc_ram_space(platform);
    const auto print_line = [&](const std::string& module, const std::string& text) {
        if (out.json)
            out.result({{"uart", module}, {"text", text}}, "");
        else
            print_console(text);
        std::fflush(stdout);
    };
    const auto elapsed_s = [&] {
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    const auto period = [&] {
        const std::chrono::duration<double> rest{
            seconds ? std::clamp(*seconds - elapsed_s(), 0.0, 1.0) : 1.0};
        return std::chrono::ceil<std::chrono::milliseconds>(rest);
    };
    while (platform.watch(period(), print_line)) {
        const auto status = platform.call("status");
        const auto dma = dma_of(platform);
        std::array<std::uint32_t, 2> power{};
        for (unsigned die = 0; die < 2 && !space.empty(); ++die)
            power[die] = power_of(platform, space, die);
        const bool ready = status.value("ready", false);
        out.result(
            {{"time", status.value("time", "")},
             {"ready", ready},
             {"power", power},
             {"descriptors", dma.descriptors},
             {"bytes", dma.bytes},
             {"aborts", dma.aborts}},
            fmt::format("[{}] {}, power {:.2f} % / {:.2f} %, DMA {} descriptors, {} bytes, "
                        "{} aborts",
                        status.value("time", ""), ready ? "ready" : "booting", power[0] / 100.0,
                        power[1] / 100.0, dma.descriptors, dma.bytes, dma.aborts));
        if (seconds && elapsed_s() >= *seconds) break;
    }
}

}  // namespace trn

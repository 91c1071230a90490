// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/host_options/program_file.h"
#include "platform/app/scenario/context/measure.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/steps/all_chips.h"
#include "platform/framework/config/file.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/one_counter.h"
#include "sw-stubs/host/programs/loaded_program.h"

namespace trn::scenario {

namespace {

constexpr std::uint64_t max_time_ns = 100'000'000;  // limit of a run, in simulated time

/// The operation counter of a core's Tensor engine, since its start.
std::uint64_t tensor_flops(const std::string& core) {
    const auto* module = dynamic_cast<publishes_statistics*>(sc_core::sc_find_object(core.c_str()));
    if (module == nullptr) throw step_failure(fmt::format("there is no module {}", core));
    one_counter asked("tensor_flops");
    module->publish(asked);
    return asked.found.value_or(0);
}

/// Totals over the cores of one chip.
struct chip_run {
    std::uint64_t flops = 0;
    std::uint64_t ns = 0;  ///< of the slowest core, from START to its end
};

struct compute_rate_spec {
    std::string name = {}, file = {};
    std::uint32_t rounds = 2;
    double factor = 1;
    bool machine_rate = false;
    std::optional<double> at_least = {}, at_most = {};

    std::vector<std::uint8_t> set = {};
    void finish(const reader& r);
    void run(scenario_context& ctx) const;
    action plan() const {
        return {.text = fmt::format("compute rate of {}", file),
                .work = [s = *this](scenario_context& ctx) { s.run(ctx); },
                .file_bytes = set.size()};
    }

private:
    chip_run run_cores(device& chip_device, const machine::chip& chip, std::uint32_t times) const;
};

void compute_rate_spec::finish(const reader& r) {
    if (rounds == 0)
        r.node().find("rounds").report(mistake::out_of_range, "at least one round computes");
    if (at_least && at_most && *at_least > *at_most)
        r.node().at("at_most").report(mistake::out_of_range, "'at_most' is less than 'at_least'");
    if (file.empty()) return;
    try {
        const auto folder = std::filesystem::path(r.node().file()).parent_path();
        note_input(folder / file);
        set = read_program_file((folder / file).string());
    } catch (const file_error& wrong) {
        r.node().at("file").report(mistake::unreadable_file,
                                   fmt::format("{}: {}", file, wrong.what()));
    } catch (const config_error& wrong) {
        r.node().at("file").report(mistake::refused_by_model,
                                   fmt::format("{} has mistakes:\n{}", file, wrong.what()));
    }
}

/// Runs the program on all cores of a chip.
chip_run compute_rate_spec::run_cores(device& chip_device, const machine::chip& chip,
                                      std::uint32_t times) const {
    std::vector<std::unique_ptr<loaded_program>> programs;
    for (std::uint32_t core = 0; core < chip.cores; ++core) {
        trn_program_options options{};
        options.core = core;
        const auto& program =
            programs.emplace_back(std::make_unique<loaded_program>(chip_device, set, options));
        const std::uint8_t bytes[] = {
            static_cast<std::uint8_t>(times), static_cast<std::uint8_t>(times >> 8),
            static_cast<std::uint8_t>(times >> 16), static_cast<std::uint8_t>(times >> 24)};
        program->write(program->find("rounds"), bytes);
    }
    for (const auto& program : programs) chip_device.check(trn_program_start(program->get()));
    chip_run all;
    for (std::size_t core = 0; core < programs.size(); ++core) {
        trn_program_result result{};
        chip_device.check(trn_program_wait(programs[core]->get(), max_time_ns, &result));
        all.ns = std::max(all.ns, result.ended_ns - result.started_ns);
        all.flops += tensor_flops(fmt::format("{}.nc{}", chip.name, core));
    }
    return all;
}

/// Runs twice, the second time with twice the rounds, and divides the additional operations by the
/// additional time. The start and end of programs therefore have no influence.
void compute_rate_spec::run(scenario_context& ctx) const {
    const auto& chips = machine_of(ctx).chips();
    std::vector<std::size_t> all(chips.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<chip_run> once(chips.size()), twice(chips.size());
    for (auto* runs : {&once, &twice})
        ctx.hosts.run_each(all, [&](std::size_t chip, device& chip_device) {
            (*runs)[chip] =
                run_cores(chip_device, chips[chip], runs == &once ? rounds : 2 * rounds);
        });
    std::uint64_t flops = 0, slowest = 0;
    for (std::size_t chip = 0; chip < chips.size(); ++chip) {
        flops += twice[chip].flops - once[chip].flops;
        slowest = std::max(slowest, twice[chip].ns - std::min(once[chip].ns, twice[chip].ns));
    }
    if (flops == 0 || slowest == 0) throw step_failure("more rounds computed no more");
    figure found{fmt::format("{}{}", name, machine_rate ? ", of the machine" : ", per chip"), 0,
                 "TFLOPS", at_least, at_most};
    found.value = factor * static_cast<double>(flops) / static_cast<double>(slowest) * 1e-3 /
                  (machine_rate ? 1.0 : static_cast<double>(chips.size()));
    measure(ctx, found);
}

}  // namespace

std::vector<step_kind> compute_rate_steps() {
    using c = compute_rate_spec;
    return {step_of<c>(
        "compute_rate", "all cores of all chips run a program; bounds are TFLOPS per chip",
        {key("name", &c::name, "of the figure").required(),
         key("file", &c::file, "a program beside the scenario, of one core").required(),
         key("rounds", &c::rounds, "that the program makes in the first run").up_to(1 << 20),
         key("factor", &c::factor, "operations that count for one that is done"),
         key("machine", &c::machine_rate, "bounds are rates of the machine"),
         key("at_least", &c::at_least, "TFLOPS"), key("at_most", &c::at_most, "TFLOPS")})};
}

}  // namespace trn::scenario

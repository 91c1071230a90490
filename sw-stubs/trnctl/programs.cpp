// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/trnctl/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "sw-stubs/host/programs/group.h"

namespace trn {

namespace {

/// Text of the codes of HALT and NOTIFY.
std::string codes_text(const program_group::instance& member) {
    std::string text;
    trn_program* const program = member.program->get();
    for (std::uint32_t c = 0; c < trn_program_cores(program); ++c)
        for (std::uint32_t e = 0; e < TRN_CORE_ENGINES; ++e)
            if (trn_program_uses(program, c, e) && member.result.codes[c][e] != 0)
                text += fmt::format(", {} of core {} ended with code {}", trn_core_engine_name(e),
                                    trn_program_device_core(program, c), member.result.codes[c][e]);
    return text;
}

/// Turns errors in a tensor's text into user errors.
template <typename Work>
void as_user_error(Work&& work) {
    try {
        work();
    } catch (const device_error&) {
        throw;
    } catch (const std::runtime_error& wrong) {
        throw user_error(wrong.what());
    }
}

using state = trn_core_engine_state;

std::vector<state> engines_of(device& chip, std::uint32_t core) {
    std::vector<state> all(TRN_CORE_ENGINES);
    for (std::uint32_t e = 0; e < TRN_CORE_ENGINES; ++e)
        chip.check(trn_core_engine_read(chip, core, e, &all[e]));
    return all;
}

std::string state_line(std::uint32_t engine, const state& s) {
    std::string line =
        fmt::format("{:<7} {:<8} pc {}, {} of {} words retired", trn_core_engine_name(engine),
                    trn_core_engine_mode_name(s.mode), s.pc, s.retired, s.program_words);
    if (s.mode == TRN_CORE_ENGINE_WAITING)
        line +=
            fmt::format(", waits for value {} of semaphore or event {}", s.wait_value, s.semaphore);
    if (s.error != 0)
        line += fmt::format(", {} at pc {}, detail {:#x}", trn_core_error_name(s.error), s.error_pc,
                            s.error_detail);
    return line;
}

nlohmann::json state_object(std::uint32_t core, std::uint32_t engine, const state& s) {
    return {{"core", core},
            {"engine", trn_core_engine_name(engine)},
            {"state", trn_core_engine_mode_name(s.mode)},
            {"error", trn_core_error_name(s.error)},
            {"semaphore", s.semaphore},
            {"wait_value", s.wait_value},
            {"program", s.program},
            {"program_words", s.program_words},
            {"pc", s.pc},
            {"retired", s.retired},
            {"error_pc", s.error_pc},
            {"error_detail", s.error_detail},
            {"fp_config", s.fp_config},
            {"notify_config", s.notify_config},
            {"wait_limit_us", s.wait_limit},
            {"busy_cycles", s.busy_cycles},
            {"wait_cycles", s.wait_cycles},
            {"bytes_read", s.bytes_read},
            {"bytes_written", s.bytes_written},
            {"registers", s.registers},
            {"instruction", s.instruction}};
}

/// Lines after the first: nonzero registers, and the instruction at the pc.
std::string details(const state& s) {
    std::string text;
    for (std::size_t n = 0, shown = 0; n < TRN_CORE_REGISTERS; ++n)
        if (s.registers[n] != 0)
            text += fmt::format("{}R{} = {:#x}", shown++ % 8 == 0 ? "\n        " : ", ", n,
                                s.registers[n]);
    for (std::size_t offset = 0; offset < sizeof s.instruction; offset += 16)
        text += fmt::format("\n        {:02x}: {:02x}", offset,
                            fmt::join(s.instruction + offset, s.instruction + offset + 16, " "));
    return text;
}

/// `chip`: only with several chips.
void print_counters(std::uint32_t core, const std::vector<state>& all, const output& out,
                    std::optional<std::size_t> chip = {}) {
    if (!out.json)
        print("{:<8} {:>10} {:>14} {:>14} {:>14} {:>14}\n", fmt::format("core {}", core), "retired",
              "busy cycles", "wait cycles", "bytes read", "bytes written");
    for (std::uint32_t e = 0; e < all.size(); ++e) {
        const state& s = all[e];
        nlohmann::json object{{"core", core},
                              {"engine", trn_core_engine_name(e)},
                              {"retired", s.retired},
                              {"busy_cycles", s.busy_cycles},
                              {"wait_cycles", s.wait_cycles},
                              {"bytes_read", s.bytes_read},
                              {"bytes_written", s.bytes_written}};
        if (chip) object["chip"] = *chip;
        out.result(object, fmt::format("{:<8} {:>10} {:>14} {:>14} {:>14} {:>14}",
                                       trn_core_engine_name(e), s.retired, s.busy_cycles,
                                       s.wait_cycles, s.bytes_read, s.bytes_written));
    }
}

void check_names(program_group& all, const program_options& options) {
    all.each_instance([&](const program_group::instance& member, device&) {
        for (const auto& [name, text] : options.expected.check) member.program->find(name);
        for (const auto& [name, text] : options.out) member.program->find(name);
    });
}

void write_outputs(program_group& all, const program_options& options) {
    all.each_instance([&](const program_group::instance& member, device&) {
        for (const auto& [name, file] : options.out) {
            const trn_tensor t = member.program->find(name);
            tensors::write_file(program_group::text_for(member, file), t, member.program->read(t));
        }
    });
}

/// Unloads and ignores further errors: the first failure is the one reported.
void unload_after_failure(program_group& all) {
    try {
        all.unload();
    } catch (const device_error&) {
    }
}

void report_run(program_group& all, const program_options& options, const output& out) {
    const double us = static_cast<double>(all.ns()) * 1e-3;
    const auto checked = options.expected.check.size();
    std::string text = fmt::format("ran {:.3f} us of simulated time", us);
    if (!options.request.all_chips)
        all.each_instance(
            [&](const program_group::instance& member, device&) { text += codes_text(member); });
    if (checked != 0)
        text += fmt::format("; {} tensor{} as expected", checked, checked == 1 ? "" : "s");
    out.result({{"simulated_us", us}, {"checked", checked}, {"written", options.out.size()}}, text);
}

/// Reads the counters of all chips concurrently, then prints them in order.
void report_counters(program_group& all, bool everywhere, const output& out) {
    std::map<std::size_t, std::map<std::uint32_t, std::vector<state>>> counters;
    all.each_instance([&](const program_group::instance& member, device& chip) {
        for (std::uint32_t c = 0; c < trn_program_cores(member.program->get()); ++c) {
            const auto core = trn_program_device_core(member.program->get(), c);
            counters[member.chip][core] = engines_of(chip, core);
        }
    });
    for (const auto& [chip, cores] : counters) {
        if (everywhere && !out.json) print("chip {}\n", chip);
        for (const auto& [core, engines] : cores)
            print_counters(core, engines, out, everywhere ? std::optional(chip) : std::nullopt);
    }
}

}  // namespace

void dump_core(session& platform, std::uint32_t core, const output& out) {
    run_probed(platform, [&](device& chip) {
        const auto all = engines_of(chip, core);
        for (std::uint32_t e = 0; e < all.size(); ++e)
            out.result(state_object(core, e, all[e]),
                       state_line(e, all[e]) + (all[e].program_words == 0 ? "" : details(all[e])));
        for (std::uint32_t n = 0; n < TRN_SEMAPHORES; ++n) {
            std::int32_t value = 0;
            chip.check(trn_semaphore_read(chip, TRN_SYNC_CORE, core, n, &value));
            if (value != 0)
                out.result({{"core", core}, {"semaphore", n}, {"value", value}},
                           fmt::format("S[{}] = {}", n, value));
        }
    });
}

void core_counters(session& platform, std::uint32_t core, const output& out) {
    run_probed(platform, [&](device& chip) { print_counters(core, engines_of(chip, core), out); });
}

void run_program(session& platform, const program_options& options, const output& out,
                 std::optional<engine_failure>& failure) {
    platform.wait_ready(std::chrono::seconds(60));
    const bool everywhere = options.request.all_chips;
    std::vector<std::size_t> chips(everywhere ? platform.chips().size() : 1);
    std::iota(chips.begin(), chips.end(), std::size_t{0});
    program_group all(
        chips.size(),
        [&](const program_group::chip_work& work) {
            if (everywhere) return platform.run_each(chips, work);
            platform.run([&](device& chip) { work(0, chip); });
        },
        options.seed, options.request);
    std::optional<collective_group> group;
    if (all.has_collectives()) group.emplace(platform, chips, options.image);
    try {
        as_user_error([&] { all.start(group ? &*group : nullptr); });
        check_names(all, options);
        all.wait(options.expected);
        write_outputs(all, options);
        std::optional<std::string> wrong;
        as_user_error([&] { wrong = all.difference(options.expected); });
        if (wrong) throw std::runtime_error(*wrong);
        report_run(all, options, out);
        if (options.counters) report_counters(all, everywhere, out);
    } catch (...) {
        failure = all.failure();
        unload_after_failure(all);
        throw;
    }
    all.unload();
}

}  // namespace trn

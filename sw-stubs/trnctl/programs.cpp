// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/trnctl/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "sw-stubs/host/loaded_program.h"
#include "sw-stubs/host/program_tensors.h"

namespace trn {

namespace {

/// What a program that ended says: times, codes of HALT and NOTIFY.
std::string end_text(const loaded_program& program, const trn_program_result& result, double us) {
    std::string text = fmt::format("ran {:.3f} us of simulated time", us);
    for (std::uint32_t c = 0; c < trn_program_cores(program.get()); ++c)
        for (std::uint32_t e = 0; e < TRN_CORE_ENGINES; ++e)
            if (trn_program_uses(program.get(), c, e) && result.codes[c][e] != 0)
                text += fmt::format(", {} of core {} ended with code {}", trn_core_engine_name(e),
                                    trn_program_device_core(program.get(), c), result.codes[c][e]);
    return text;
}

/// A wrong text of a tensor is the user's mistake.
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

/// What stands below the first line: registers that are not 0, and the instruction at the pc.
std::string details(const state& s) {
    std::string text;
    for (std::size_t n = 0, shown = 0; n < TRN_CORE_REGISTERS; ++n)
        if (s.registers[n] != 0)
            text += fmt::format("{}R{} = {:#x}", shown++ % 8 == 0 ? "\n        " : ", ", n,
                                s.registers[n]);
    for (std::size_t at = 0; at < sizeof s.instruction; at += 16)
        text += fmt::format("\n        {:02x}: {:02x}", at,
                            fmt::join(s.instruction + at, s.instruction + at + 16, " "));
    return text;
}

void print_counters(device& chip, std::uint32_t core, const output& out) {
    const auto all = engines_of(chip, core);
    if (!out.json)
        print("{:<8} {:>10} {:>14} {:>14} {:>14} {:>14}\n", fmt::format("core {}", core), "retired",
              "busy cycles", "wait cycles", "bytes read", "bytes written");
    for (std::uint32_t e = 0; e < all.size(); ++e) {
        const state& s = all[e];
        out.result(
            {{"core", core},
             {"engine", trn_core_engine_name(e)},
             {"retired", s.retired},
             {"busy_cycles", s.busy_cycles},
             {"wait_cycles", s.wait_cycles},
             {"bytes_read", s.bytes_read},
             {"bytes_written", s.bytes_written}},
            fmt::format("{:<8} {:>10} {:>14} {:>14} {:>14} {:>14}", trn_core_engine_name(e),
                        s.retired, s.busy_cycles, s.wait_cycles, s.bytes_read, s.bytes_written));
    }
}

}  // namespace

void dump_core(session& where, std::uint32_t core, const output& out) {
    where.run([&](device& chip) {
        chip.check(trn_probe(chip));
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

void core_counters(session& where, std::uint32_t core, const output& out) {
    where.run([&](device& chip) {
        chip.check(trn_probe(chip));
        print_counters(chip, core, out);
    });
}

void run_program(session& where, const program_options& options, const output& out) {
    where.wait_ready(std::chrono::seconds(60));
    where.run([&](device& chip) {
        chip.check(trn_probe(chip));
        chip.check(trn_reset_device(chip));
        const loaded_program program(chip, options.set, options.loading);
        for (const auto& [name, text] : options.check) program.find(name);
        for (const auto& [name, text] : options.out) program.find(name);
        program_tensors tensors(program, options.seed,
                                [](const std::string& name) { return name; });
        as_user_error([&] { tensors.write(options.in); });
        const trn_program_result result = program.run(options.limit_ns);
        for (const auto& [name, file] : options.out) {
            const trn_tensor t = program.find(name);
            tensors::write_file(file, t, program.read(t));
        }
        as_user_error([&] {
            for (const auto& [name, text] : options.check)
                if (const auto wrong = tensors.difference(name, text, options.allowed))
                    throw device_error(TRN_PROTOCOL_ERROR, *wrong);
        });
        const double us =
            static_cast<double>(result.ended_ns - std::min(result.ended_ns, result.started_ns)) *
            1e-3;
        const std::string checked =
            options.check.empty() ? ""
                                  : fmt::format("; {} tensor{} as expected", options.check.size(),
                                                options.check.size() == 1 ? "" : "s");
        out.result({{"simulated_us", us},
                    {"checked", options.check.size()},
                    {"written", options.out.size()}},
                   end_text(program, result, us) + checked);
        for (std::uint32_t c = 0; options.counters && c < trn_program_cores(program.get()); ++c)
            print_counters(chip, trn_program_device_core(program.get(), c), out);
    });
}

}  // namespace trn

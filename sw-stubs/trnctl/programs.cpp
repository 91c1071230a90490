// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/trnctl/programs.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "sw-stubs/host/loaded_program.h"

namespace trn {

namespace {

std::vector<std::uint8_t> content_of(const trn_tensor& tensor, const std::string& text,
                                     std::uint64_t seed) {
    try {
        return tensors::content(tensor, text, seed, [](const std::string& name) { return name; });
    } catch (const std::runtime_error& wrong) {
        throw user_error(fmt::format("{}={}: {}", tensor.name, text, wrong.what()));
    }
}

void write_inputs(const loaded_program& program, const program_options& options) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, text] : options.in) {
        program.find(name);
        texts[name] = text;
    }
    for (const trn_tensor& t : program.tensors()) {
        const auto given = texts.find(t.name);
        if (given != texts.end())
            program.write(t, content_of(t, given->second, options.seed));
        else if (t.role != TRN_TENSOR_SCRATCH)
            program.write(t, std::vector<std::uint8_t>(t.bytes));
    }
}

void check_outputs(const loaded_program& program, const program_options& options) {
    for (const auto& [name, text] : options.check) {
        const trn_tensor t = program.find(name);
        const auto wrong = tensors::difference(t, content_of(t, text, options.seed),
                                               program.read(t), options.allowed);
        if (wrong) throw device_error(TRN_PROTOCOL_ERROR, *wrong);
    }
}

}  // namespace

void run_program(session& where, const program_options& options, const output& out) {
    where.wait_ready(std::chrono::seconds(60));
    where.run([&](device& chip) {
        chip.check(trn_probe(chip));
        chip.check(trn_reset_device(chip));
        const loaded_program program(chip, options.set, options.loading);
        for (const auto& [name, text] : options.check) program.find(name);
        for (const auto& [name, text] : options.out) program.find(name);
        write_inputs(program, options);
        const trn_program_result result = program.run(options.limit_ns);
        for (const auto& [name, file] : options.out) {
            const trn_tensor t = program.find(name);
            tensors::write_file(file, t, program.read(t));
        }
        check_outputs(program, options);
        const double us =
            static_cast<double>(result.ended_ns - std::min(result.ended_ns, result.started_ns)) *
            1e-3;
        std::string codes;
        for (std::uint32_t c = 0; c < trn_program_cores(program.get()); ++c)
            for (std::uint32_t e = 0; e < TRN_CORE_ENGINES; ++e)
                if (trn_program_uses(program.get(), c, e) && result.codes[c][e] != 0)
                    codes +=
                        fmt::format(", {} of core {} ended with code {}", trn_core_engine_name(e),
                                    trn_program_device_core(program.get(), c), result.codes[c][e]);
        out.result({{"simulated_us", us},
                    {"checked", options.check.size()},
                    {"written", options.out.size()}},
                   fmt::format("ran {:.3f} us of simulated time{}{}", us, codes,
                               options.check.empty() ? ""
                                                     : fmt::format("; {} tensors as expected",
                                                                   options.check.size())));
    });
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/trnctl/programs.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/host_options/program_file.h"
#include "platform/app/report_file.h"
#include "platform/app/trnctl/commands/commands.h"
#include "platform/app/trnctl/error_text.h"
#include "platform/app/trnctl/run_report.h"
#include "platform/framework/config/file.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

struct run_options {
    program_options program = {};
    std::string file = {};
    program_constants constants = {};
    std::string image = collective_firmware;  ///< file
    std::string report = {};                  ///< file
};

std::vector<std::uint8_t> read_program(const std::string& file,
                                       const program_constants& constants) {
    try {
        return read_program_file(file, constants);
    } catch (const file_error& wrong) {
        throw user_error(fmt::format("{}: {}", file, wrong.what()));
    }
}

void check_report_of(const run_options& options) {
    try {
        check_report(options.report);
    } catch (const file_error& wrong) {
        throw user_error(wrong.what());
    }
}

program_collective read_collective(const std::string& text) {
    try {
        return program_collective::read(text);
    } catch (const std::runtime_error& wrong) {
        throw user_error(fmt::format("--collective: {}", wrong.what()));
    }
}

void run(session& platform, run_options& options, const output& out,
         std::optional<engine_failure>& failure) {
    const auto& request = options.program.request;
    if (!request.collectives.empty()) {
        if (!request.all_chips) throw user_error("--collective needs --all-chips");
        if (platform.chips().size() < 2)
            throw user_error("a collective needs two chips: a board such as trn3-sled");
        options.program.image = read_collective_firmware(options.image);
    }
    run_program(platform, options.program, out, failure);
}

/// A report that cannot be written does not replace the error of the run.
void write_after_failure(const run_report& report) {
    try {
        report.write();
    } catch (const output_error& error) {
        print_to(stderr, "trnctl: {}\n", error_text(error));
    }
}

void run_with_report(session& platform, run_options& options, const output& out) {
    run_report report(options.report);
    std::optional<engine_failure> failure;
    try {
        run(platform, options, out, failure);
    } catch (const std::exception& error) {
        report.set_error(error, failure);
        write_after_failure(report);
        throw;
    }
    report.write();
}

/// Adds NAME=TEXT options.
void add_tensors(cli::command* command, const std::string& name, tensor_texts& texts,
                 const std::string& help, const std::string& key = "TENSOR") {
    const auto add = [name, key, &texts](const std::vector<std::string>& given) {
        for (const auto& text : given) {
            const auto sign = text.find('=');
            if (sign == 0 || sign == text.npos || sign + 1 == text.size())
                throw user_error(fmt::format("{} {}: expected {}=VALUE", name, text, key));
            texts.emplace_back(text.substr(0, sign), text.substr(sign + 1));
        }
    };
    command->add_option_function<std::vector<std::string>>(name, add, help)
        ->type_name(key.substr(0, 1) + "=VALUE")
        ->allow_extra_args(false)
        ->take_all();
}

cli::command* add_verb(cli::command& programs, invocation& line, const std::string& name,
                       const std::string& help, std::uint32_t& core, invocation::work work) {
    auto* verb = add_command(programs, line, name, help, std::move(work));
    verb->add_option("--core", core, "core of the chip, or the first")->capture_default_str();
    return verb;
}

void add_run(cli::command& programs, invocation& line) {
    const auto options = std::make_shared<run_options>();
    auto& request = options->program.request;
    auto& expected = options->program.expected;
    auto* command = add_verb(programs, line, "run", "load a program, run it, compare its tensors",
                             request.loading.core, {});
    command->callback([options, &line] {
        options->program.request.set = read_program(options->file, options->constants);
        check_report_of(*options);
        line.chosen = [options, &line](session& s) { run_with_report(s, *options, line.out); };
    });
    command->add_option("file", options->file, "a program set, or its text form")->required();
    add_tensors(command, "--define", options->constants, "another value for a .set of the text",
                "NAME");
    command->add_flag("--all-chips", request.all_chips, "on every chip; {chip} in values");
    const auto add_collectives = [&request](const std::vector<std::string>& texts) {
        for (const auto& text : texts) request.collectives.push_back(read_collective(text));
    };
    command
        ->add_option_function<std::vector<std::string>>(
            "--collective", add_collectives,
            "over all chips, which the program starts: 'all_reduce product -> sum S[30]'")
        ->type_name("TEXT")
        ->allow_extra_args(false)
        ->take_all();
    command->add_option("--image", options->image, "firmware of the CC-Cores")
        ->capture_default_str();
    add_tensors(command, "--in", request.inputs,
                "input: a number, index, random(LOW,HIGH), or a file (.npy or its bytes)");
    add_tensors(command, "--out", options->program.out, "file for an output (.npy or its bytes)");
    add_tensors(command, "--check", expected.check,
                "expected output, as --in; exit status 1 when it differs");
    command->add_option("--rtol", expected.allowed.relative, "relative tolerance of --check (0)")
        ->check(cli::non_negative_number());
    command->add_option("--atol", expected.allowed.absolute, "absolute tolerance of --check (0)")
        ->check(cli::non_negative_number());
    add_nanoseconds(command, "--limit", expected.limit_ns,
                    "of simulated time: ns, or with a unit (100 ms)");
    command->add_flag("--counters", options->program.counters,
                      "print counters of the engines afterwards");
    command->add_option("--report", options->report,
                        "write the error and the rules that were broken to this file, as JSON");
    command->add_option("--values", options->program.seed, "seed of random inputs (1)");
    command->add_flag_callback(
        "--by-dma", [&request] { request.loading.control = TRN_CONTROL_BY_DMA; },
        "write control blocks and semaphores by DMA");
    command->add_flag_callback(
        "--poll", [&request] { request.loading.completion = TRN_WAIT_BY_POLLING; },
        "poll the engines instead of a notification queue");
    command->examples(
        {{"trnctl --board trn3-chip program run program.trn --counters", "on a board of its own"},
         {"trnctl --connect sockets program run program.trn --core 1 --limit 1ms",
          "on core 1, for at most 1 ms"}});
}

void add_dump(cli::command& programs, invocation& line) {
    const auto core = std::make_shared<std::uint32_t>(0);
    add_verb(programs, line, "dump",
             "state of the engines of a core, and its semaphores that are not 0", *core,
             [core, &line](session& s) { dump_core(line.running(s), *core, line.out); })
        ->examples({{"trnctl --connect sockets program dump", "of core 0"},
                    {"trnctl --connect sockets --json program dump --core 1", "as JSON"}});
}

void add_counters(cli::command& programs, invocation& line) {
    const auto core = std::make_shared<std::uint32_t>(0);
    add_verb(programs, line, "counters", "counters of the engines of a core", *core,
             [core, &line](session& s) { core_counters(line.running(s), *core, line.out); })
        ->examples({{"trnctl --connect sockets program counters", "of core 0"},
                    {"trnctl --connect sockets --json program counters --core 1", "as JSON"}});
}

}  // namespace

void add_programs(cli::command& app, invocation& line) {
    auto* programs = add_command_group(app, "program", "programs of NeuronCores");
    programs->examples(
        {{"trnctl --connect sockets program run program.trn --in x=index", "with an input"},
         {"trnctl --connect sockets program dump --core 1", "state of the engines"}});
    add_run(*programs, line);
    add_dump(*programs, line);
    add_counters(*programs, line);
}

}  // namespace trn

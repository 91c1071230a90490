// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/neuron_isa/assembler/program_set.h"
#include "platform/app/host_options/program_file.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/programs/program_end.h"
#include "platform/app/scenario/programs/running_programs.h"
#include "platform/app/scenario/programs/source_names.h"
#include "platform/framework/config/file.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn::scenario {

namespace {

/// Keys of a program: its file, where it runs, and its inputs.
struct program_source {
    std::string file = {};
    std::uint32_t core = 0, instances = 1;
    bool all_chips = false;
    trn_program_control control = TRN_CONTROL_BY_MMIO;
    trn_program_completion completion = TRN_WAIT_BY_NOTIFICATION;
    std::vector<std::string> collectives = {};
    std::string image = program_request{}.image;

    program_request request = {};
    void read_program(const reader& r);
    void read_collectives(const reader& r);
    std::string text() const {
        return fmt::format("program {} on core {}{}{}", file, core,
                           instances > 1 ? fmt::format(" and {} more", instances - 1) : "",
                           all_chips ? " of all chips" : "");
    }
};

void program_source::read_program(const reader& r) {
    request.folder = std::filesystem::path(r.node().file()).parent_path();
    request.inputs = texts_in(r, "in");
    note_inputs(request.folder, {{"file", file}});
    note_inputs(request.folder, request.inputs);
    request.loading.core = core;
    request.loading.control = control;
    request.loading.completion = completion;
    request.instances = instances;
    request.all_chips = all_chips;
    if (instances == 0)
        r.node().at("instances").report(mistake::out_of_range, "a program has an instance");
    read_collectives(r);
    if (file.empty()) return;
    try {
        const auto set = read_named_from(
            request.folder,
            read_program_file((request.folder / file).lexically_normal(), texts_in(r, "set")));
        request.set = isa::write_program_set(set);
        request.cores = set.cores;
    } catch (const file_error& wrong) {
        r.node().at("file").report(mistake::unreadable_file,
                                   fmt::format("{}: {}", file, wrong.what()));
    } catch (const isa::program_set_error& wrong) {
        r.node().at("file").report(mistake::refused_by_model,
                                   fmt::format("{}: {}", file, wrong.what()));
    } catch (const config_error& wrong) {
        r.node().at("file").report(mistake::refused_by_model,
                                   fmt::format("{} has mistakes:\n{}", file, wrong.what()));
    }
}

void program_source::read_collectives(const reader& r) {
    request.image = image;
    if (collectives.empty()) return;
    note_input(trn::find_firmware(image));
    const auto list = r.node().at("collectives");
    const auto items = list.items();  // empty for a single text
    for (std::size_t n = 0; n < collectives.size(); ++n) try {
            request.collectives.push_back(program_collective::read(collectives[n]));
        } catch (const std::runtime_error& wrong) {
            (n < items.size() ? items[n] : list).report(mistake::wrong_shape, wrong.what());
        }
    if (collectives.size() > TRN_CC_SLOTS)
        list.report(mistake::out_of_range,
                    fmt::format("a program can have {} collectives", TRN_CC_SLOTS));
    if (!all_chips || instances != 1)
        list.report(mistake::wrong_shape,
                    "programs with collectives run with 'all_chips: true' and one instance");
}

/// The expected end and results of a program.
struct checked_end : program_end {
    double rtol = 0, atol = 0;

    void read_outcome(const reader& r) {
        read_end(r);
        outcome.check = texts_in(r, "check");
        note_inputs(std::filesystem::path(r.node().file()).parent_path(), outcome.check);
        outcome.allowed = {.relative = rtol, .absolute = atol};
    }
};

struct program_step_spec : program_source, checked_end {
    void finish(const reader& r) {
        read_program(r);
        read_outcome(r);
    }
    action plan() const {
        return {.text = text(),
                .work =
                    [s = *this](scenario_context& ctx) {
                        running_programs all(ctx, s.request);
                        run_guarded(ctx, all, [&] { all.start(); });
                        s.finish_run(ctx, all, s.text());
                    },
                .file_bytes = request.set.size()};
    }
};

struct start_program_spec : program_source {
    std::string name = {};

    void finish(const reader& r) { read_program(r); }
    action plan() const {
        return {.text = fmt::format("start '{}': {}", name, text()),
                .work = [s = *this](
                            scenario_context& ctx) { start_in_background(ctx, s.name, s.request); },
                .starts = program_text(name),
                .file_bytes = request.set.size()};
    }
};

struct finish_program_spec : checked_end {
    std::string name = {};

    void finish(const reader& r) { read_outcome(r); }
    action plan() const {
        return {.text = fmt::format("finish {}", program_text(name)),
                .work =
                    [s = *this](scenario_context& ctx) {
                        const auto all = take_program(ctx, s.name);
                        s.finish_run(ctx, *all, program_text(s.name));
                    },
                .finishes = program_text(name)};
    }
};

template <class S>
keys<S> source_keys() {
    return {key("file", &S::file, "a program set or its text form, beside the scenario").required(),
            key("core", &S::core, "the first").up_to(7),
            key("instances", &S::instances, "of the program, on the cores from there on").up_to(8),
            key("all_chips", &S::all_chips, "on every chip of the board"),
            key<S>("in", value_shape::map,
                   "{tensor: value}: a number, `index`, `random(LOW, HIGH)`, a file; else 0"),
            key<S>("set", value_shape::map, "{name: value} of .set lines of the text"),
            key("collectives", &S::collectives,
                "over all chips, which the program starts ([collectives](collectives.md))"),
            key("image", &S::image, "firmware of the CC-Cores").only_with({"collectives"}),
            key("control", &S::control, "how control blocks are written"),
            key("completion", &S::completion, "how the end is seen")};
}

template <class S>
keys<S> check_keys() {
    return {
        key<S>("check", value_shape::map,
               "{tensor: value} expected: as `in`, or a reference such as `softmax(x)`"),
        key("rtol", &S::rtol, "relative tolerance of `check`; exact without").only_with({"check"}),
        key("atol", &S::atol, "absolute tolerance").only_with({"check"})};
}

}  // namespace

std::vector<step_kind> program_steps() {
    using both = program_step_spec;
    using start = start_program_spec;
    using end = finish_program_spec;
    return {
        step_of<both>("program",
                      "runs a program of NeuronCores and compares its tensors "
                      "([programs](programs.md))",
                      joined(source_keys<both>(), joined(check_keys<both>(), end_keys<both>()))),
        step_of<start>(
            "start_program", "the same in the background",
            joined(source_keys<start>(),
                   {key("name", &start::name, "by which `finish_program` and `tensor` name it")
                        .required()})),
        step_of<end>(
            "finish_program", "waits for the program `name`, and unloads it",
            joined(joined({key("name", &end::name, "that `start_program` or `start_kernel` gave")
                               .required()},
                          check_keys<end>()),
                   end_keys<end>()))};
}

}  // namespace trn::scenario

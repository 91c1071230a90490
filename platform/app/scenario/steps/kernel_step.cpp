// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "platform/app/scenario/context/progress.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/programs/kernel_preparation.h"
#include "platform/app/scenario/programs/program_end.h"
#include "platform/framework/config/file.h"

namespace trn::scenario {

namespace {

constexpr std::uint32_t max_chips = 1024;

/// A compiled kernel. Inputs and expected results depend on the seed of the run.
struct compiled_kernel {
    setting run = {};                    ///< of the scenario
    std::set<std::uint64_t> asked = {};  ///< seeds for which the compiler was called
    std::map<std::uint64_t, std::string> errors = {};
    std::map<std::uint64_t, program_request> by_seed = {};
    std::map<std::uint64_t, std::vector<std::string>> files = {};  ///< that the kernel read
    std::map<std::uint64_t, std::vector<std::string>> warnings = {};
};

/// Keys of a kernel: its function, where it runs, its inputs and expected results.
struct kernel_source {
    std::string function = {};
    std::uint32_t core = 0, instances = 1, chips = 1, lnc = 1;
    std::optional<std::string> generation = {};
    double rtol = 0, atol = 0;
    trn_program_control control = TRN_CONTROL_BY_MMIO;
    trn_program_completion completion = TRN_WAIT_BY_NOTIFICATION;

    kernel_request wanted = {};
    std::shared_ptr<compiled_kernel> compiled = {};  ///< filled by prepare()
    void read_kernel(const reader& r);
    /// Compiles the kernel for all seeds, and reports errors of this seed at the key `function`.
    void prepare(const setting& run) const;
    /// Compiles the kernel first, if no run with this seed was prepared, and reports its warnings.
    /// \throws step_failure
    const program_request& request(const scenario_context& ctx) const;
    std::string text() const {
        return fmt::format("kernel {} on core {}{}{}", function, core,
                           instances > 1 ? fmt::format(" and {} more", instances - 1) : "",
                           chips > 1 ? fmt::format(" of {} chips", chips) : "");
    }
    /// An action that compiles the kernel before the first run.
    action prepared(const std::string& text, std::function<void(scenario_context&)> work) const;

private:
    /// \throws kernel_error, std::system_error
    void compile(std::uint64_t seed) const;
    program_request request_of(prepared_kernel made) const;

    config::node place_ = {};
};

void kernel_source::read_kernel(const reader& r) {
    wanted.function = function;
    const auto folder = std::filesystem::path(r.node().file()).parent_path();
    wanted.folder = std::filesystem::absolute(folder.empty() ? "." : folder).string();
    wanted.generation = generation;
    wanted.lnc = lnc;
    wanted.core = core;
    wanted.instances = instances;
    wanted.chips = chips;
    wanted.is_exact = rtol == 0 && atol == 0;
    wanted.inputs = texts_in(r, "in");
    wanted.arg = texts_in(r, "arg");
    wanted.check = texts_in(r, "check");
    note_inputs(wanted.folder, {{"function", function}});
    note_inputs(wanted.folder, wanted.inputs);
    note_inputs(wanted.folder, wanted.check);
    for (const auto* key : {"instances", "chips", "lnc"})
        if (r.has(key) && r.number(key) == 0)
            r.node().at(key).report(mistake::out_of_range, "at least 1 is needed");
    place_ = r.node().at("function");
    compiled = std::make_shared<compiled_kernel>();
}

void kernel_source::prepare(const setting& run) const {
    compiled->run = run;
    // The compiler may have left seeds that need much memory or time to their own runs.
    if (compiled->asked.contains(run.seed) && !compiled->errors.contains(run.seed) &&
        !compiled->by_seed.contains(run.seed))
        return;
    try {
        compile(run.seed);
        for (const auto& file : compiled->files[run.seed]) note_input(file);
    } catch (const kernel_error& wrong) {
        place_.report(mistake::refused_by_model, fmt::format("{}: {}", function, wrong.what()));
    } catch (const std::system_error& wrong) {
        place_.report(mistake::unreadable_file, fmt::format("{}: {}", function, wrong.what()));
    }
}

const program_request& kernel_source::request(const scenario_context& ctx) const {
    try {
        compile(ctx.seed);
    } catch (const std::runtime_error& wrong) {
        throw step_failure(fmt::format("{}: {}", function, wrong.what()));
    }
    for (const auto& line : compiled->warnings[ctx.seed]) ctx.report.noted(line);
    return compiled->by_seed.at(ctx.seed);
}

/// For the seeds of all runs, unless the compiler was called for them.
void kernel_source::compile(std::uint64_t seed) const {
    auto& known = *compiled;
    if (const auto wrong = known.errors.find(seed); wrong != known.errors.end())
        throw kernel_error(wrong->second);
    if (known.by_seed.contains(seed)) return;
    auto all = wanted;
    all.board = known.run.board;
    all.seeds = {seed};
    known.asked.insert(seed);
    for (const auto other : known.run.seeds)
        if (known.asked.insert(other).second) all.seeds.push_back(other);
    all.memory_limit = known.run.memory_limit;
    all.stop = known.run.stop;
    try {
        for (auto& [number, made] : prepare_kernel(all)) {
            known.files[number] = made.files;
            known.warnings[number] = made.warnings;
            if (!made.error.empty())
                known.errors[number] = made.error;
            else
                known.by_seed.emplace(number, request_of(std::move(made)));
        }
    } catch (const kernel_error& wrong) {
        for (const auto number : all.seeds) known.errors[number] = wrong.what();
    }
    if (known.errors.contains(seed)) throw kernel_error(known.errors[seed]);
}

program_request kernel_source::request_of(prepared_kernel made) const {
    program_request request;
    request.cores = made.cores;
    request.collectives = std::move(made.collectives);
    request.all_chips = !request.collectives.empty();
    if (request.all_chips && instances != 1)
        throw kernel_error("a kernel with collectives has one instance on each chip");
    request.values =
        std::make_shared<const std::vector<instance_values>>(std::move(made.instances));
    request.loading.core = core;
    request.loading.control = control;
    request.loading.completion = completion;
    request.instances = instances;
    request.chips = chips;
    request.allowed = {.relative = rtol, .absolute = atol};
    return request;
}

action kernel_source::prepared(const std::string& text,
                               std::function<void(scenario_context&)> work) const {
    action prepared_action{text, std::move(work)};
    prepared_action.prepare = [s = *this](const setting& run) { s.prepare(run); };
    return prepared_action;
}

struct kernel_step_spec : kernel_source, program_end {
    void finish(const reader& r) {
        read_kernel(r);
        read_end(r);
    }
    action plan() const {
        return prepared(text(), [s = *this](scenario_context& ctx) {
            running_programs all(ctx, s.request(ctx));
            run_guarded(ctx, all, [&] { all.start(); });
            s.finish_run(ctx, all, s.text());
        });
    }
};

struct start_kernel_spec : kernel_source {
    std::string name = {};

    void finish(const reader& r) { read_kernel(r); }
    action plan() const {
        auto starting = prepared(fmt::format("start '{}': {}", name, text()),
                                 [s = *this](scenario_context& ctx) {
                                     start_in_background(ctx, s.name, s.request(ctx));
                                 });
        starting.starts = program_text(name);
        return starting;
    }
};

template <class S>
keys<S> kernel_keys() {
    return {
        key("function", &S::function, "FILE.py:FUNCTION, beside the scenario").required(),
        key<S>("in", value_shape::map,
               "{argument: array}: `x.npy`, `bfloat16[128, 512] random(-1, 1)`, a function"),
        key<S>("arg", value_shape::map, "{argument: value as Python writes it}"),
        key<S>("check", value_shape::map,
               "{result0: value} expected: `simulate`, `y.npy`, a number, a function, "
               "`digest(HEX)`"),
        key("rtol", &S::rtol, "relative tolerance of `check`; exact without").only_with({"check"}),
        key("atol", &S::atol, "absolute tolerance").only_with({"check"}),
        key("lnc", &S::lnc, "cores that run the kernel: 1 or 2").up_to(2),
        key("core", &S::core, "the first").up_to(7),
        key("instances", &S::instances, "of the kernel, on the cores from there on").up_to(8),
        key("chips", &S::chips, "the first so many of the board").up_to(max_chips),
        key("generation", &S::generation, "for boards whose name does not say it: trn1 to trn3"),
        key("control", &S::control, "how control blocks are written"),
        key("completion", &S::completion, "how the end is seen")};
}

}  // namespace

std::vector<step_kind> kernel_steps() {
    using both = kernel_step_spec;
    using start = start_kernel_spec;
    return {step_of<both>("kernel",
                          "compiles and runs an NKI kernel, and compares its results "
                          "([kernels](nki-running.md#in-scenarios))",
                          joined(kernel_keys<both>(), end_keys<both>())),
            step_of<start>(
                "start_kernel",
                "the same in the background; `finish_program` waits for it, and "
                "compares its results",
                joined({key("name", &start::name, "by which `finish_program` and `tensor` name it")
                            .required()},
                       kernel_keys<start>()))};
}

}  // namespace trn::scenario

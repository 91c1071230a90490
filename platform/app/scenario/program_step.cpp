// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/host_options/program_file.h"
#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/steps.h"
#include "platform/framework/config/file.h"
#include "sw-stubs/host/loaded_program.h"
#include "sw-stubs/host/tensor_values.h"

namespace trn {

/// How a step of a scenario ends in place of success.
enum class core_error : std::uint32_t {};

}  // namespace trn

namespace trn::config {

template <>
struct choices<trn_program_control> {
    static constexpr std::array list{
        choice<trn_program_control>{"mmio", TRN_CONTROL_BY_MMIO},
        choice<trn_program_control>{"dma", TRN_CONTROL_BY_DMA},
    };
};
template <>
struct choices<trn_program_completion> {
    static constexpr std::array list{
        choice<trn_program_completion>{"notification", TRN_WAIT_BY_NOTIFICATION},
        choice<trn_program_completion>{"polling", TRN_WAIT_BY_POLLING},
    };
};
template <>
struct choices<core_error> {
    static constexpr std::array list{
        choice<core_error>{"illegal_instruction", core_error{1}},
        choice<core_error>{"bad_operand", core_error{2}},
        choice<core_error>{"out_of_bounds", core_error{3}},
        choice<core_error>{"indirect_oob", core_error{4}},
        choice<core_error>{"memory", core_error{5}},
        choice<core_error>{"fetch", core_error{6}},
        choice<core_error>{"write_failed", core_error{7}},
        choice<core_error>{"timeout", core_error{11}},
        choice<core_error>{"breakpoint", core_error{12}},
    };
};

}  // namespace trn::config

namespace trn::scenario {

namespace {

/// Values of tensors by name, in the order of the file.
using tensor_texts = std::vector<std::pair<std::string, std::string>>;

/// A file beside the scenario is found wherever that is run.
std::string path_beside(const reader& r, const std::string& name) {
    const std::filesystem::path path(name);
    if (path.is_absolute()) return name;
    return (std::filesystem::path(r.node().file()).parent_path() / path).lexically_normal();
}

tensor_texts texts_in(const reader& r, std::string_view key) {
    tensor_texts texts;
    if (!r.has(key)) return texts;
    const auto map = r.map(key);
    for (const auto& name : map.node().keys()) texts.emplace_back(name, map.text(name));
    return texts;
}

struct program_spec {
    std::string file = {};
    std::uint32_t core = 0;
    trn_program_control control = TRN_CONTROL_BY_MMIO;
    trn_program_completion completion = TRN_WAIT_BY_NOTIFICATION;
    double rtol = 0, atol = 0;
    nanoseconds limit{100'000'000};
    std::optional<core_error> error = {};

    std::vector<std::uint8_t> set = {};
    std::filesystem::path folder = {};
    tensor_texts in = {}, check = {};

    void finish(const reader& r);
    void run(scenario_context& ctx) const;
    action plan() const {
        return {fmt::format("program {} on core {}", file, core),
                [s = *this](scenario_context& ctx) { s.run(ctx); }};
    }

private:
    std::vector<std::uint8_t> content(scenario_context& ctx, const trn_tensor& tensor,
                                      const std::string& text) const;
};

void program_spec::finish(const reader& r) {
    folder = std::filesystem::path(r.node().file()).parent_path();
    in = texts_in(r, "in");
    check = texts_in(r, "check");
    if (file.empty()) return;
    try {
        set = read_program_file(path_beside(r, file));
    } catch (const file_error& wrong) {
        r.node().at("file").report(mistake::unreadable_file,
                                   fmt::format("{}: {}", file, wrong.what()));
    } catch (const config_error& wrong) {
        r.node().at("file").report(mistake::refused_by_model,
                                   fmt::format("{} has mistakes:\n{}", file, wrong.what()));
    }
}

std::vector<std::uint8_t> program_spec::content(scenario_context& ctx, const trn_tensor& tensor,
                                                const std::string& text) const {
    try {
        return tensors::content(tensor, text, ctx.seed, [this](const std::string& name) {
            return (folder / name).string();
        });
    } catch (const std::runtime_error& wrong) {
        throw step_failure(wrong.what());
    }
}

void program_spec::run(scenario_context& ctx) const {
    trn_program_options options{};
    options.core = core;
    options.control = control;
    options.completion = completion;
    const loaded_program program(ctx.device, set, options);
    for (const auto& [name, text] : check) program.find(name);
    for (const trn_tensor& t : program.tensors())
        if (t.role != TRN_TENSOR_SCRATCH) program.write(t, std::vector<std::uint8_t>(t.bytes));
    for (const auto& [name, text] : in) {
        const trn_tensor t = program.find(name);
        program.write(t, content(ctx, t, text));
    }
    ctx.device.check(trn_program_start(program.get()));
    trn_program_result result{};
    const trn_status status = trn_program_wait(program.get(), limit.value, &result);
    if (error && status == TRN_ABORTED && result.error == static_cast<std::uint32_t>(*error))
        return;
    ctx.device.check(status);
    if (error)
        throw step_failure(fmt::format("all engines halted, expected the error {}",
                                       trn_core_error_name(static_cast<std::uint32_t>(*error))));
    for (const auto& [name, text] : check) {
        const trn_tensor t = program.find(name);
        const auto wrong = tensors::difference(t, content(ctx, t, text), program.read(t),
                                               {.relative = rtol, .absolute = atol});
        if (wrong) throw step_failure(*wrong);
    }
}

}  // namespace

step_kind program_step() {
    using p = program_spec;
    return step_of<p>(
        "program",
        "loads a program of NeuronCores, runs it and compares its tensors "
        "([programs](programs.md))",
        {key("file", &p::file, "a program set or its text form, beside the scenario").required(),
         key("core", &p::core, "the first").up_to(7),
         key<p>("in", value_shape::map,
                "{tensor: value}; a number, index, random(LOW, HIGH), a file; the rest is 0"),
         key<p>("check", value_shape::map, "{tensor: value} expected"),
         key("rtol", &p::rtol, "relative tolerance of `check`"),
         key("atol", &p::atol, "absolute tolerance"), key("limit", &p::limit, "simulated time"),
         key("error", &p::error, "code that an engine has to fail with"),
         key("control", &p::control, "how control blocks are written"),
         key("completion", &p::completion, "how the end is seen")});
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/programs/program_choices.h"
#include "platform/app/scenario/programs/running_programs.h"

namespace trn::scenario {

/// A register of an engine's control block.
enum class engine_value : std::uint8_t {
    pc,
    retired,
    error_pc,
    error_detail,
    semaphore,
    wait_value,
    busy_cycles,
    wait_cycles,
    bytes_read,
    bytes_written,
    reg
};

}  // namespace trn::scenario

namespace trn::config {

template <>
struct choices<scenario::engine_value> {
    using enum scenario::engine_value;
    using value = scenario::engine_value;
    static constexpr std::array list{
        choice<value>{"pc", pc},
        choice<value>{"retired", retired},
        choice<value>{"error_pc", error_pc},
        choice<value>{"error_detail", error_detail},
        choice<value>{"semaphore", semaphore},
        choice<value>{"wait_value", wait_value},
        choice<value>{"busy_cycles", busy_cycles},
        choice<value>{"wait_cycles", wait_cycles},
        choice<value>{"bytes_read", bytes_read},
        choice<value>{"bytes_written", bytes_written},
        choice<value>{"register", reg},
    };
};

}  // namespace trn::config

namespace trn::scenario {

namespace {

using engine_state = trn_core_engine_state;

std::uint64_t number_of(const engine_state& s, engine_value value, std::uint32_t index) {
    switch (value) {
    case engine_value::pc:
        return s.pc;
    case engine_value::retired:
        return s.retired;
    case engine_value::error_pc:
        return s.error_pc;
    case engine_value::error_detail:
        return s.error_detail;
    case engine_value::semaphore:
        return s.semaphore;
    case engine_value::wait_value:
        return static_cast<std::uint32_t>(s.wait_value);
    case engine_value::busy_cycles:
        return s.busy_cycles;
    case engine_value::wait_cycles:
        return s.wait_cycles;
    case engine_value::bytes_read:
        return s.bytes_read;
    case engine_value::bytes_written:
        return s.bytes_written;
    case engine_value::reg:
        return s.registers[index % TRN_CORE_REGISTERS];
    }
    return 0;
}

/// Expected state of an engine, and expected value of one of its registers.
struct core_engine_spec {
    trn_core_engine engine{};
    std::uint32_t core = 0, index = 0;
    std::optional<trn_core_engine_mode> state = {};
    std::optional<core_error> error = {};
    std::optional<engine_value> value = {};
    std::optional<std::uint64_t> equals = {}, at_least = {}, at_most = {};
    nanoseconds within = {}, every{10'000};

    range wanted = {};
    void finish(const reader& r) {
        wanted = {equals.value_or(at_least.value_or(0)), equals.value_or(at_most.value_or(any))};
        if (!state && !error && !value) r.node().at("state");
        if (value && !equals && !at_least && !at_most) r.node().at("equals");
        if (value && *value != engine_value::reg)
            r.refuse({"index"}, "only the value 'register' has an index");
        if (value && *value == engine_value::reg) r.node().at("index");
        if (wanted.min > wanted.max)
            r.node().at("at_most").report(mistake::out_of_range,
                                          "'at_most' is less than 'at_least'");
        if (every.value == 0)
            r.node().at("every").report(mistake::out_of_range,
                                        "time has to pass between two looks");
    }
    std::string text() const {
        std::string text = fmt::format("{} of core {}", trn_core_engine_name(engine), core);
        if (state) text += fmt::format(" to be {}", trn_core_engine_mode_name(*state));
        if (error)
            text += fmt::format(" with the error {}",
                                trn_core_error_name(static_cast<std::uint32_t>(*error)));
        if (value)
            text += fmt::format(", its {}{} to be {}", choice_name(*value),
                                *value == engine_value::reg ? fmt::format(" R{}", index) : "",
                                wanted.text());
        return text;
    }
    bool is_met(const engine_state& s) const {
        return (!state || s.mode == static_cast<std::uint32_t>(*state)) &&
               (!error || s.error == static_cast<std::uint32_t>(*error)) &&
               (!value || wanted.has(number_of(s, *value, index)));
    }
    action plan() const;
};

class engine_watch final : public watch {
public:
    engine_watch(scenario_context& ctx, const core_engine_spec& spec) : ctx_(ctx), spec_(spec) {}
    bool is_met() override {
        ctx_.device.check(trn_core_engine_read(ctx_.device, spec_.core, spec_.engine, &found_));
        return spec_.is_met(found_);
    }
    std::string found_text() const override {
        std::string text =
            fmt::format("it is {} at pc {}", trn_core_engine_mode_name(found_.mode), found_.pc);
        if (found_.error != 0)
            text += fmt::format(" with {} at pc {}", trn_core_error_name(found_.error),
                                found_.error_pc);
        if (spec_.value)
            text += fmt::format("; {} is {}", choice_name(*spec_.value),
                                number_of(found_, *spec_.value, spec_.index));
        return text;
    }

private:
    scenario_context& ctx_;
    const core_engine_spec spec_;
    engine_state found_{};
};

action core_engine_spec::plan() const {
    return {"wait for " + text(), [s = *this](scenario_context& ctx) {
                await(ctx, {.text = s.text(),
                            .begin = [s](scenario_context& context) -> std::unique_ptr<watch> {
                                return std::make_unique<engine_watch>(context, s);
                            },
                            .limit = {s.within.value, s.every.value}});
            }};
}

/// Checks a tensor of a program that runs in the background.
struct tensor_spec {
    std::string program = {}, tensor = {}, equals = {};
    double rtol = 0, atol = 0;
    nanoseconds within = {}, every{10'000};

    void finish(const reader& r) const {
        if (every.value == 0)
            r.node().at("every").report(mistake::out_of_range,
                                        "time has to pass between two looks");
    }
    std::string text() const {
        return fmt::format("tensor {} of program '{}' to be {}", tensor, program, equals);
    }
    action plan() const;
};

class tensor_watch final : public watch {
public:
    tensor_watch(std::shared_ptr<running_programs> programs, tensor_spec spec)
        : programs_(std::move(programs)), spec_(std::move(spec)) {}
    bool is_met() override {
        const auto wrong = programs_->difference(spec_.tensor, spec_.equals,
                                                 {.relative = spec_.rtol, .absolute = spec_.atol});
        found_ = wrong.value_or("");
        return !wrong;
    }
    std::string found_text() const override { return found_; }

private:
    const std::shared_ptr<running_programs> programs_;
    const tensor_spec spec_;
    std::string found_;
};

action tensor_spec::plan() const {
    return {"wait for " + text(), [s = *this](scenario_context& ctx) {
                const auto found = find_program(ctx, s.program);
                await(ctx,
                      {.text = s.text(),
                       .begin = [s, place = found](scenario_context&) -> std::unique_ptr<watch> {
                           return std::make_unique<tensor_watch>(place, s);
                       },
                       .limit = {s.within.value, s.every.value}});
            }};
}

}  // namespace

std::vector<step_kind> core_engine_steps() {
    using c = core_engine_spec;
    using t = tensor_spec;
    return {
        step_of<c>("core_engine",
                   "an engine of a core, at once or within a time "
                   "([sequencer](models/neuron_core/sequencer.md))",
                   {key("engine", &c::engine, "of the core").required(),
                    key("core", &c::core, "of the chip").up_to(7),
                    key("state", &c::state, "that the engine must be in"),
                    key("error", &c::error, "that it must have stopped with"),
                    key("value", &c::value, "a number of its control block"),
                    key("index", &c::index, "of a register")
                        .up_to(TRN_CORE_REGISTERS - 1)
                        .only_with({"value"}),
                    key("equals", &c::equals, "the value")
                        .only_with({"value"})
                        .not_with({"at_least", "at_most"}),
                    key("at_least", &c::at_least, "bound of the value")
                        .only_with({"value"})
                        .not_with({"equals"}),
                    key("at_most", &c::at_most, "bound of the value")
                        .only_with({"value"})
                        .not_with({"equals"}),
                    key("within", &c::within, "simulated time"),
                    key("every", &c::every, "simulated time between looks").only_with({"within"})}),
        step_of<t>(
            "tensor", "a tensor of a program in the background, at once or within a time",
            {key("program", &t::program, "its name in `start_program`").required(),
             key("tensor", &t::tensor, "its name in the program").required(),
             key("equals", &t::equals, "as `check` of `program`").required(),
             key("rtol", &t::rtol, "relative tolerance"),
             key("atol", &t::atol, "absolute tolerance"),
             key("within", &t::within, "simulated time"),
             key("every", &t::every, "simulated time between looks").only_with({"within"})})};
}

}  // namespace trn::scenario

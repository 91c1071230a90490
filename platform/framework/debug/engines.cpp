// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/engines.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/runs_programs.h"

namespace trn {

namespace {

using rpc::code;
using rpc::json;

/// An engine found by its full name, "chip0.nc0.vector".
struct named_engine {
    runs_programs* core;
    unsigned engine;
    std::string name;
};

json brief(const named_engine& e) {
    const auto now = e.core->inspect(e.engine);
    json view = {{"name", e.name}, {"state", now.state}, {"pc", now.pc}};
    if (!now.wait.empty()) view["wait"] = now.wait;
    if (!now.error.empty()) view["error"] = now.error;
    return view;
}

json whole(const named_engine& e) {
    const auto now = e.core->inspect(e.engine);
    json view = brief(e);
    view["retired"] = now.retired;
    view["instruction"] = now.instruction;
    view["breaks"] = e.core->breaks(e.engine);
    json registers = json::object();
    for (std::size_t n = 0; n < now.registers.size(); ++n)
        if (now.registers[n] != 0) registers[fmt::format("R{}", n)] = now.registers[n];
    view["registers"] = registers;
    return view;
}

void for_each_engine(const std::function<void(const named_engine&)>& visit) {
    for_each_module<runs_programs>([&](const auto& module, runs_programs& core) {
        const auto names = core.engine_names();
        for (unsigned e = 0; e < names.size(); ++e)
            visit({&core, e, fmt::format("{}.{}", module.name(), names[e])});
    });
}

named_engine engine_asked(const rpc::parameters& p) {
    const auto wanted = p.text("engine");
    std::vector<std::string> known;
    std::optional<named_engine> found;
    for_each_engine([&](const named_engine& e) {
        known.push_back(e.name);
        if (e.name == wanted) found = e;
    });
    if (!found)
        throw rpc::error(code::not_found, fmt::format("there is no engine '{}'  {}", wanted,
                                                      suggest(wanted, known)));
    return *found;
}

void write_register(const named_engine& e, const rpc::parameters& p) {
    const auto name = p.text("register");
    unsigned number = 0;
    const auto begin = name.data() + (name.starts_with('R') || name.starts_with('r') ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), number);
    if (begin == name.data() || error != std::errc{} || end != name.data() + name.size())
        p.wrong("register", "R0 to R63");
    const auto value = p.number("value");
    if (value > 0xffff'ffff) p.wrong("value", "32 bits");
    if (!e.core->set_register(e.engine, number, static_cast<std::uint32_t>(value)))
        throw rpc::error(code::refused,
                         fmt::format("{} of {} cannot be written: there are R0 to R63, and the "
                                     "engine must not run (engine_control command=stop)",
                                     name, e.name));
}

void execute(run_loop& loop, const named_engine& e, const rpc::parameters& p) {
    const auto command = p.text("command");
    const auto pc = [&] {
        const auto value = p.number("pc");
        if (value > 0xffff'ffff) p.wrong("pc", "32 bits");
        return static_cast<std::uint32_t>(value);
    };
    const auto state = e.core->inspect(e.engine).state;
    const bool active = state == "running" || state == "waiting";
    e.core->on_break([&loop](const std::string& why) { loop.pause(why); });
    if (command == "stop") return e.core->order(e.engine, runs_programs::command::stop);
    if (command == "continue") {
        if (state != "stopped")
            throw rpc::error(code::refused, fmt::format("{} is {}, not stopped", e.name, state));
        return e.core->order(e.engine, runs_programs::command::resume);
    }
    if (command == "step") {
        if (!active && state != "stopped")
            throw rpc::error(code::refused, fmt::format("{} is {}", e.name, state));
        e.core->break_at_next(e.engine);
        if (!active) e.core->order(e.engine, runs_programs::command::step);
        return;
    }
    if (command == "break") {
        if (e.core->breaks(e.engine).size() >= 256)
            throw rpc::error(code::refused, "an engine has at most 256 breakpoints");
        return e.core->add_break(e.engine, pc());
    }
    if (command == "clear") return e.core->remove_break(e.engine, pc());
    p.wrong("command", "stop, continue, step, break or clear");
}

}  // namespace

void add_engines(control& methods) {
    methods.add_list("engines", [] {
        auto all = json::array();
        for_each_engine([&](const named_engine& e) {
            if (e.core->has_started(e.engine)) all.push_back(brief(e));
        });
        return all;
    });
    const rpc::field name{"engine", "\"chip0.nc0.vector\"", "its full name", rpc::required};
    const std::vector<rpc::field> state{
        {"name, state, instruction", "text"},
        {"pc, retired", "number", "address of the instruction; number of instructions done"},
        {"wait, error", "text", "what it waits for, or stopped with; absent if nothing"},
        {"breaks", "list of numbers", "addresses of breakpoints"},
        {"registers", "{name: number}", "those that are not 0"}};
    methods.methods().add(
        {"engine",
         "State of an engine of a NeuronCore; writes one of its registers first, if given.",
         {name,
          {"register", "\"R0\" to \"R63\"", "to write"},
          {"value", "number of 32 bits", "required with `register`"}},
         state,
         {{code::not_found, "no such engine"},
          {code::refused, "a write while it runs, or before its first start"}}},
        [](const auto& p, auto&) {
            const auto e = engine_asked(p);
            if (p.has("register") && !e.core->has_started(e.engine))
                throw rpc::error(code::refused, e.name + " was never started");
            if (p.has("register")) write_register(e, p);
            return whole(e);
        });
    methods.methods().add(
        {"engine_control",
         "Stops, continues and steps an engine, and sets its breakpoints.",
         {name,
          {"command", "stop, continue, step, break or clear",
           "stop, continue: as CONTROL of the engine; break: simulated time pauses before the "
           "engine issues the instruction at `pc`; clear: no longer; step: it pauses before the "
           "next instruction",
           rpc::required},
          {"pc", "number of 32 bits", "required with break and clear"}},
         state,
         {{code::not_found, "no such engine"},
          {code::refused, "never started; not stopped (continue); 256 breakpoints already"}}},
        [&loop = methods.loop()](const auto& p, auto&) {
            const auto e = engine_asked(p);
            const auto command = p.text("command");
            if (command != "break" && command != "clear" && !e.core->has_started(e.engine))
                throw rpc::error(code::refused, e.name + " was never started");
            execute(loop, e, p);
            return whole(e);
        });
}

}  // namespace trn

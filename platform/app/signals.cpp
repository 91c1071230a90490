// SPDX-License-Identifier: Apache-2.0
#include "platform/app/signals.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <systemc>

#include "platform/app/register_view.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/runs_programs.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

namespace {

constexpr std::size_t max_signals = 4096;

/// A pattern such as "chip0.nc0.SEMAPHORE_READ[3]", split into name and index.
struct pattern {
    std::string name;                   ///< without brackets
    std::optional<std::string> inside;  ///< "3", "2,3", "*"
    bool wild() const { return name.find_first_of("*?") != std::string::npos; }
};

pattern parse(const std::string& text) {
    const auto open = text.find('['), close = text.find(']');
    if (open == std::string::npos && close == std::string::npos) return {text, std::nullopt};
    if (open == std::string::npos || close == std::string::npos || close < open)
        throw std::invalid_argument(fmt::format("'{}': brackets that do not match", text));
    return {text.substr(0, open) + text.substr(close + 1), text.substr(open + 1, close - open - 1)};
}

unsigned number(const std::string& text, const std::string& whole) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument(
            fmt::format("'[{}]': an index, or instance,index, or * for all", whole));
    return value;
}

/// Matches part by part: '*' does not match a dot.
bool matches(const std::string& wild, std::string name) {
    std::string pattern = wild;
    std::ranges::replace(pattern, '.', '/');
    std::ranges::replace(name, '.', '/');
    return fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME | FNM_CASEFOLD) == 0;
}

/// The name in the file: the text after the module is one part.
std::string path_of(std::string_view module, std::string rest) {
    std::ranges::replace(rest, '.', '_');
    return fmt::format("{}.{}", module, rest);
}

class finder {
public:
    std::vector<vcd_signal> all;

    void add(const std::string& text) {
        const auto pattern = parse(text);
        if (!pattern.wild()) return add_named(pattern.name, pattern.inside);
        const auto before = all.size();
        for (const auto& name : names())
            if (matches(pattern.name, name)) add_named(name, pattern.inside);
        if (all.size() == before)
            throw std::invalid_argument(
                fmt::format("no signal matches '{}'  {}", text,
                            suggest(std::string_view(pattern.name), known())));
    }

private:
    /// All names of lines, registers and their fields.
    const std::vector<std::string>& names() {
        if (!names_.empty()) return names_;
        add_lines(sc_core::sc_get_top_level_objects());
        for_each_module<runs_programs>(
            [&](const sc_core::sc_object& core, runs_programs& programs) {
                for (const auto engine : programs.engine_names())
                    for (const auto noun : {"state", "pc"})
                        names_.push_back(fmt::format("{}.{}.{}", core.name(), engine, noun));
            });
        for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
            const auto& table = bank.table();
            for (std::size_t row = 0; row < table.rows.size(); ++row) {
                const auto name = fmt::format("{}.{}", owner.name(), table.rows[row].name);
                names_.push_back(name);
                for (const auto& field : table.fields)
                    if (field.field.reg == row)
                        names_.push_back(fmt::format("{}.{}", name, field.name));
            }
        });
        return names_;
    }
    void add_lines(const std::vector<sc_core::sc_object*>& level) {
        for (auto* object : level) {
            if (dynamic_cast<irq_in*>(object) || dynamic_cast<irq_out*>(object))
                names_.emplace_back(object->name());
            add_lines(object->get_child_objects());
        }
    }
    std::vector<std::string_view> known() {
        const auto& all_names = names();
        return {all_names.begin(), all_names.end()};
    }

    void add_named(const std::string& name, const std::optional<std::string>& inside) {
        auto* const object = sc_core::sc_find_object(name.c_str());
        if (auto* const lines = dynamic_cast<irq_in*>(object)) return add_lines(*lines, inside);
        if (auto* const line = dynamic_cast<irq_out*>(object))
            return push({name, 1, [line] { return std::uint64_t{line->level()}; }});
        if (!inside && add_engine(name)) return;
        add_registers(name, inside);
    }
    /// Adds the state of an engine: "chip0.nc0.vector.state".
    bool add_engine(const std::string& name) {
        bool found = false;
        for_each_module<runs_programs>(
            [&](const sc_core::sc_object& core, runs_programs& programs) {
                if (found || !name.starts_with(core.name())) return;
                const auto engines = programs.engine_names();
                for (unsigned e = 0; e < engines.size(); ++e) {
                    const auto path = fmt::format("{}.{}", core.name(), engines[e]);
                    found = found || name == path + ".state" || name == path + ".pc";
                    if (name == path + ".state")
                        push({path + "_state", 3,
                              [&programs, e] { return std::uint64_t{programs.state_number(e)}; }});
                    if (name == path + ".pc")
                        push({path + "_pc", 32,
                              [&programs, e] { return std::uint64_t{programs.pc(e)}; }});
                }
            });
        return found;
    }
    void add_lines(irq_in& input, const std::optional<std::string>& inside) {
        const auto add = [&](unsigned line) {
            push({input.lines() == 1 ? std::string(input.name())
                                     : fmt::format("{}_{}", input.name(), line),
                  1, [&input, line] { return std::uint64_t{input.level(line)}; }});
        };
        if (inside && *inside != "*") {
            const auto line = number(*inside, *inside);
            if (line >= input.lines())
                throw std::invalid_argument(
                    fmt::format("'{}' has {} lines, no [{}]", input.name(), input.lines(), line));
            return add(line);
        }
        for (unsigned line = 0; line < input.lines(); ++line) add(line);
    }
    void add_registers(const std::string& name, const std::optional<std::string>& inside) {
        if (inside && *inside == "*") {
            const auto first = find(name, 0, 0);
            for (unsigned instance = 0; instance < first.instances; ++instance)
                for (unsigned index = 0; index < first.count; ++index)
                    push(find(name, instance, index));
            return;
        }
        const auto comma = inside ? inside->find(',') : std::string::npos;
        if (comma != std::string::npos)
            return push(find(name, number(inside->substr(0, comma), *inside),
                             number(inside->substr(comma + 1), *inside)));
        push(find(name, 0, inside ? number(*inside, *inside) : 0));
    }

    register_handle find(const std::string& name, unsigned instance, unsigned index) {
        try {
            return find_register({{"register", name}, {"instance", instance}, {"index", index}});
        } catch (const rpc::error& wrong) {
            throw std::invalid_argument(wrong.what());
        }
    }
    void push(const register_handle& handle) {
        std::string rest = handle.name;
        if (handle.instances > 1) rest += fmt::format("_{}", handle.instance);
        if (handle.count > 1) rest += fmt::format("_{}", handle.index);
        push({path_of(handle.module, rest), handle.width, handle.value});
    }
    void push(vcd_signal signal) {
        if (std::ranges::find(all, signal.path, &vcd_signal::path) != all.end()) return;
        if (all.size() == max_signals)
            throw std::invalid_argument(fmt::format("more than {} signals", max_signals));
        all.push_back(std::move(signal));
    }

    std::vector<std::string> names_;
};

}  // namespace

std::vector<vcd_signal> find_signals(const std::vector<std::string>& patterns) {
    finder found;
    for (const auto& pattern : patterns) found.add(pattern);
    return std::move(found.all);
}

}  // namespace trn

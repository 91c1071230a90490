// SPDX-License-Identifier: Apache-2.0
#include "platform/app/signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <systemc>

#include "platform/app/register_view.h"
#include "platform/app/signal_patterns.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

namespace {

using namespace signal_patterns;

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

/// The name in the file: the text after the module is one part.
std::string path_of(std::string_view module, std::string rest) {
    std::ranges::replace(rest, '.', '_');
    return fmt::format("{}.{}", module, rest);
}

class finder {
public:
    explicit finder(const std::vector<std::string>& modules) : modules_(modules) {}

    wave_content all;

    std::string suggestion(std::string_view wrong) { return suggest(wrong, known(wrong)); }
    void add(const std::string& text) {
        const auto pattern = parse(text);
        const auto before = matches_;
        if (!pattern.inside) add_published(pattern.name);
        if (!pattern.wild()) {
            if (matches_ == before) add_named(pattern.name, pattern.inside);
            return;
        }
        for (const auto& name : names(pattern.name))
            if (matches(pattern.name, name)) add_named(name, pattern.inside);
        if (matches_ == before)
            throw std::invalid_argument(
                fmt::format("no signal matches '{}'  {}", text, suggestion(pattern.name)));
    }

private:
    /// Adds what models publish, and events of the trace.
    void add_published(const std::string& wild) {
        for_each_published([&](auto module) { return may_match_inside(wild, module); },
                           [&](const auto&, auto& list) {
                               for (auto& signal : list.all)
                                   if (matches(wild, signal.path)) push(std::move(signal));
                               for (const auto& track : list.tracks) add_track(wild, track);
                           });
        for (const auto& module : modules_) add_track(wild, module);
    }
    void add_track(const std::string& wild, const std::string& track) {
        if (!matches(wild, track + std::string(of_transactions))) return;
        ++matches_;
        if (!taken_.insert(track).second) return;
        check_name(track);
        all.transactions.push_back(track);
        check_number();
    }
    std::size_t variables() const {
        return all.signals.size() + all.transactions.size() * (1 + wave_file::lanes);
    }
    void check_number() const {
        if (variables() > wave_file::max_variables)
            throw std::invalid_argument(
                fmt::format("more than {} signals", wave_file::max_variables));
    }

    /// Names of lines, registers and their fields, in modules that `wild` may name.
    static std::vector<std::string> names(std::string_view wild) {
        std::vector<std::string> found;
        add_lines(sc_core::sc_get_top_level_objects(), wild, found);
        for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
            if (!may_match_inside(wild, owner.name())) return;
            const auto& table = bank.table();
            for (std::size_t row = 0; row < table.rows.size(); ++row) {
                const auto name = fmt::format("{}.{}", owner.name(), table.rows[row].name);
                found.push_back(name);
                for (const auto& field : table.fields)
                    if (field.field.reg == row)
                        found.push_back(fmt::format("{}.{}", name, field.name));
            }
        });
        return found;
    }
    static void add_lines(const std::vector<sc_core::sc_object*>& level, std::string_view wild,
                          std::vector<std::string>& found) {
        for (auto* object : level) {
            const auto* module = object->get_parent_object();
            if ((dynamic_cast<irq_in*>(object) || dynamic_cast<irq_out*>(object)) &&
                module != nullptr && may_match_inside(wild, module->name()))
                found.emplace_back(object->name());
            add_lines(object->get_child_objects(), wild, found);
        }
    }
    /// For suggestions: the names in the modules that `wrong` may name, else all modules.
    std::vector<std::string> known(std::string_view wrong) const {
        auto found = names(wrong);
        std::vector<std::string> publishers;
        for_each_published(
            [&](auto module) {
                publishers.emplace_back(module);
                return may_match_inside(wrong, module);
            },
            [&](const auto&, auto& list) {
                for (auto& signal : list.all) found.push_back(signal.path);
                for (const auto& track : list.tracks)
                    found.push_back(track + std::string(of_transactions));
            });
        for (const auto& module : modules_)
            if (may_match_inside(wrong, module))
                found.push_back(module + std::string(of_transactions));
        if (!found.empty()) return found;
        for_each_bank([&](const auto& owner, auto&) { publishers.emplace_back(owner.name()); });
        std::ranges::sort(publishers);
        publishers.erase(std::unique(publishers.begin(), publishers.end()), publishers.end());
        return publishers;
    }

    void add_named(const std::string& name, const std::optional<std::string>& inside) {
        auto* const object = sc_core::sc_find_object(name.c_str());
        if (auto* const lines = dynamic_cast<irq_in*>(object)) return add_lines(*lines, inside);
        if (auto* const line = dynamic_cast<irq_out*>(object))
            return push(watched_signal::of_number(name, 1,
                                                  [line] { return std::uint64_t{line->level()}; }));
        add_registers(name, inside);
    }
    void add_lines(irq_in& input, const std::optional<std::string>& inside) {
        const auto add = [&](unsigned line) {
            push(watched_signal::of_number(
                input.lines() == 1 ? std::string(input.name())
                                   : fmt::format("{}_{}", input.name(), line),
                1, [&input, line] { return std::uint64_t{input.level(line)}; }));
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
            std::string why = wrong.what();
            if (why.find("did you mean") == why.npos)
                if (const auto all_names = known(name);
                    std::ranges::find(all_names, name) == all_names.end())
                    why = fmt::format("no signal '{}'  {}", name, suggest(name, all_names));
            throw std::invalid_argument(why);
        }
    }
    void push(const register_handle& handle) {
        std::string rest = handle.name;
        if (handle.instances > 1) rest += fmt::format("_{}", handle.instance);
        if (handle.count > 1) rest += fmt::format("_{}", handle.index);
        push(watched_signal::of_number(path_of(handle.module, rest), handle.width, handle.value));
    }
    /// A model outside the tree may publish anything.
    static void check(const watched_signal& signal) {
        const bool wide = std::holds_alternative<watched_signal::words>(signal.value);
        const unsigned limit = wide ? watched_signal::max_width : 64;
        if (signal.width == 0 || signal.width > limit)
            throw std::invalid_argument(fmt::format("{} has {} bits: 1 to {} can be recorded",
                                                    signal.path, signal.width, limit));
        check_name(signal.path);
    }
    static void check_name(const std::string& path) {
        if (std::ranges::any_of(path, [](char c) { return c <= ' ' || c > '~'; }))
            throw std::invalid_argument(
                fmt::format("'{}': a name has no white space or control characters", path));
        if (path.ends_with('.') || path.find("..") != path.npos)
            throw std::invalid_argument(fmt::format("'{}': a part of the name is empty", path));
    }
    void push(watched_signal signal) {
        check(signal);
        ++matches_;
        if (!taken_.insert(signal.path).second) return;
        all.signals.push_back(std::move(signal));
        check_number();
    }

    const std::vector<std::string>& modules_;
    std::set<std::string> taken_;
    std::size_t matches_ = 0;  // of all patterns, with those that are taken
};

}  // namespace

wave_content find_signals(const std::vector<std::string>& patterns,
                          const std::vector<std::string>& modules) {
    finder found(modules);
    for (const auto& pattern : patterns) found.add(pattern);
    return std::move(found.all);
}

std::string suggest_signal(std::string_view wrong, const std::vector<std::string>& modules) {
    return finder(modules).suggestion(wrong);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <utility>

#include "platform/app/signal_patterns.h"
#include "platform/app/signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

namespace {

using namespace signal_patterns;

constexpr std::size_t max_listed = 100'000;

/// Whether `pattern` matches the name, or its first parts.
bool matches_begin(const std::string& pattern, const std::string& name) {
    if (pattern.empty() || matches(pattern, name)) return true;
    const auto begin = first_parts(name, pattern);
    return begin && matches(pattern, *begin);
}

nlohmann::json published_json(const watched_signal& signal) {
    nlohmann::json entry{{"name", signal.path}, {"bits", signal.width}};
    if (const auto* real = std::get_if<watched_signal::real>(&signal.value)) {
        entry["now"] = (*real)();
        return entry;
    }
    const auto* number = std::get_if<watched_signal::number>(&signal.value);
    if (number == nullptr) return entry;
    const auto now = (*number)();
    if (signal.states.empty()) {
        entry["now"] = now;
        return entry;
    }
    entry["now"] = now < signal.states.size() ? signal.states[now] : std::to_string(now);
    entry["states"] = signal.states;
    return entry;
}

/// Collects the names that match a pattern.
class signal_names {
public:
    explicit signal_names(const std::string& pattern) : pattern_(pattern) {}

    void add_lines(const std::vector<sc_core::sc_object*>& level) {
        for (auto* object : level) {
            if (auto* const input = dynamic_cast<irq_in*>(object))
                add(object->name(), 1, input->lines());
            if (dynamic_cast<irq_out*>(object)) add(object->name(), 1, 1);
            add_lines(object->get_child_objects());
        }
    }
    void add_registers() {
        for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
            if (!may_be_inside(owner.name())) return;
            const auto& table = bank.table();
            for (std::size_t row = 0; row < table.rows.size(); ++row) {
                const auto name = fmt::format("{}.{}", owner.name(), table.rows[row].name);
                const auto elements = table.rows[row].count * bank.instances();
                add(name, 8 * table.width, elements);
                for (const auto& field : table.fields)
                    if (field.field.reg == row)
                        add(fmt::format("{}.{}", name, field.name), field.field.width, elements);
            }
        });
    }
    void add_published(const std::vector<std::string>& modules) {
        for_each_published([&](auto module) { return may_be_inside(std::string(module)); },
                           [&](const auto&, auto& list) {
                               for (const auto& signal : list.all)
                                   if (matches_begin(pattern_, signal.path))
                                       put(published_json(signal));
                               for (const auto& track : list.tracks) add_track(track);
                           });
        for (const auto& module : modules) add_track(module);
    }

    nlohmann::json all = nlohmann::json::array();

private:
    bool may_be_inside(const std::string& module) const {
        return matches_begin(pattern_, module) || may_match_inside(pattern_, module);
    }
    void add(const std::string& name, unsigned bits, std::size_t elements) {
        if (!matches_begin(pattern_, name)) return;
        nlohmann::json entry{{"name", name}, {"bits", bits}};
        if (elements > 1) entry["elements"] = elements;
        put(std::move(entry));
    }
    void add_track(const std::string& track) {
        const auto name = track + std::string(of_transactions);
        if (matches_begin(pattern_, name) && tracks_.insert(name).second) put({{"name", name}});
    }
    void put(nlohmann::json entry) {
        if (all.size() == max_listed)
            throw std::invalid_argument(fmt::format(
                "more than {} signals: name a module, such as 'chip0.management'", max_listed));
        all.push_back(std::move(entry));
    }

    const std::string& pattern_;
    std::set<std::string> tracks_;
};

}  // namespace

nlohmann::json list_signals(const std::string& pattern, const std::vector<std::string>& modules) {
    signal_names found(pattern);
    found.add_lines(sc_core::sc_get_top_level_objects());
    found.add_registers();
    found.add_published(modules);
    if (found.all.empty())
        throw std::invalid_argument(
            fmt::format("no signal matches '{}'  {}", pattern, suggest_signal(pattern, modules)));
    return std::move(found.all);
}

}  // namespace trn

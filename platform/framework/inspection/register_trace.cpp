// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/inspection/register_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <charconv>
#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

namespace {

constexpr std::size_t max_registers = 4096;

/// A value that the trace file compares with the last one: it keeps a reference, and never calls
/// us.
struct traced_value {
    std::function<std::uint64_t()> compute;
    sc_dt::uint64 now;
};

/// Those of all trace files, which have no common end: they live as long as the process.
std::deque<traced_value>& values() {
    static std::deque<traced_value> all;
    return all;
}

traced_value& add(sc_core::sc_trace_file* file, std::function<std::uint64_t()> compute,
                  unsigned width, const std::string& name) {
    const auto now = compute();
    auto& made = values().emplace_back(traced_value{std::move(compute), now});
    sc_core::sc_trace(file, made.now, name, static_cast<int>(width));
    return made;
}

/// "name[1,2]": the name and the numbers in brackets.
struct indexed_name {
    std::string name;
    std::vector<unsigned> numbers;
};

indexed_name parse(const std::string& text) {
    const auto open = text.find('[');
    if (open == text.npos) return {text, {}};
    const auto refuse = [&] {
        throw std::invalid_argument(
            fmt::format("'{}': NAME, NAME[INDEX] or NAME[INSTANCE,INDEX] was expected", text));
    };
    indexed_name parsed{text.substr(0, open), {}};
    const char* next = text.data() + open + 1;
    const char* const end = text.data() + text.size();
    for (;;) {
        unsigned number = 0;
        const auto [after, error] = std::from_chars(next, end, number);
        if (error != std::errc() || after == end) refuse();
        parsed.numbers.push_back(number);
        next = after + 1;
        if (*after == ']') break;
        if (*after != ',') refuse();
    }
    if (parsed.numbers.size() > 2 || (next != end && *next != '.')) refuse();
    parsed.name.append(next, end);  // a field
    return parsed;
}

/// What follows the name of the module: REGISTER, BLOCK.REGISTER, and with .FIELD.
std::optional<traced_register> find_in(register_bank& bank, std::string_view rest) {
    const auto& table = bank.table();
    const auto block = fmt::format("{}.", table.block);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        std::string_view after = rest;
        const auto own = table.rows[row].name;
        if (!boost::istarts_with(after, own) && boost::istarts_with(after, block))
            after.remove_prefix(block.size());
        if (boost::iequals(after, own)) return traced_register{&bank, row};
        if (!boost::istarts_with(after, fmt::format("{}.", own))) continue;
        after.remove_prefix(own.size() + 1);
        for (const auto& field : table.fields)
            if (field.field.reg == row && boost::iequals(after, field.name))
                return traced_register{&bank, row, field.field};
    }
    return std::nullopt;
}

/// All names of lines, registers and fields.
std::vector<std::string> known_names() {
    std::vector<std::string> all;
    const auto add_lines = [&](const auto& self,
                               const std::vector<sc_core::sc_object*>& level) -> void {
        for (auto* object : level) {
            if (dynamic_cast<irq_in*>(object) != nullptr ||
                dynamic_cast<irq_out*>(object) != nullptr)
                all.emplace_back(object->name());
            self(self, object->get_child_objects());
        }
    };
    add_lines(add_lines, sc_core::sc_get_top_level_objects());
    for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
        const auto& table = bank.table();
        for (const auto& row : table.rows)
            all.push_back(fmt::format("{}.{}", owner.name(), row.name));
        for (const auto& field : table.fields)
            all.push_back(fmt::format("{}.{}.{}", owner.name(), table.rows[field.field.reg].name,
                                      field.name));
    });
    return all;
}

std::optional<traced_register> find_register(std::string_view name) {
    std::optional<traced_register> found;
    for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
        const std::string_view module = owner.name();
        if (found || !name.starts_with(module) || name.size() <= module.size() + 1 ||
            name[module.size()] != '.')
            return;
        found = find_in(bank, name.substr(module.size() + 1));
    });
    return found;
}

void check_below(unsigned number, unsigned limit, const std::string& name) {
    if (number >= limit)
        throw std::invalid_argument(fmt::format("'{}': {} is not below {}", name, number, limit));
}

/// The name in the file: brackets would be taken for ranges of bits.
std::string name_in_file(const indexed_name& wanted) {
    auto name = wanted.name;
    for (const auto number : wanted.numbers) name += fmt::format("_{}", number);
    return name;
}

bool trace_line(sc_core::sc_trace_file* file, const indexed_name& wanted, const std::string& text) {
    auto* const object = sc_core::sc_find_object(wanted.name.c_str());
    const auto expect_numbers = [&](std::size_t most) {
        if (wanted.numbers.size() > most)
            throw std::invalid_argument(fmt::format("'{}': {} was expected", text,
                                                    most == 0 ? "NAME" : "NAME or NAME[LINE]"));
    };
    if (auto* const out = dynamic_cast<irq_out*>(object)) {
        expect_numbers(0);
        sc_trace(file, *out, wanted.name);
        return true;
    }
    auto* const in = dynamic_cast<irq_in*>(object);
    if (in == nullptr) return false;
    expect_numbers(1);
    if (wanted.numbers.empty()) {
        sc_trace(file, *in, wanted.name);
    } else {
        check_below(wanted.numbers.front(), in->lines(), text);
        in->trace_line(file, wanted.numbers.front(), wanted.name);
    }
    return true;
}

}  // namespace

std::uint64_t traced_register::value() const {
    const auto whole = bank->value(row, index, instance);
    return field ? field->get(whole) : whole;
}

unsigned traced_register::width() const {
    return field ? field->width : 8 * bank->table().width;
}

void sc_trace(sc_core::sc_trace_file* file, const traced_register& traced,
              const std::string& name) {
    auto& value = add(
        file, [traced] { return traced.value(); }, traced.width(), name);
    traced.bank->observe([&value] { value.now = value.compute(); });
}

void sc_trace(sc_core::sc_trace_file* file, register_bank& bank, const std::string& name) {
    const auto& table = bank.table();
    if (std::uint64_t{table.slots} * bank.instances() > max_registers)
        throw std::invalid_argument(
            fmt::format("'{}' has more than {} registers", name, max_registers));
    for (unsigned instance = 0; instance < bank.instances(); ++instance)
        for (std::size_t row = 0; row < table.rows.size(); ++row)
            for (unsigned index = 0; index < table.rows[row].count; ++index) {
                auto path = fmt::format("{}.{}", name, table.rows[row].name);
                if (bank.instances() > 1) path += fmt::format("_{}", instance);
                if (table.rows[row].count > 1) path += fmt::format("_{}", index);
                sc_trace(file, traced_register{&bank, row, {}, index, instance}, path);
            }
}

void sc_trace(sc_core::sc_trace_file* file, const watched_signal& signal, const std::string& name) {
    add(file, std::get<watched_signal::number>(signal.value), signal.width, name);
}

void refresh_traces() {
    for (auto& value : values()) value.now = value.compute();
}

void trace_by_name(sc_core::sc_trace_file* file, const std::string& name) {
    const auto wanted = parse(name);
    if (trace_line(file, wanted, name)) return;
    auto found = find_register(wanted.name);
    if (!found)
        throw std::invalid_argument(fmt::format("no line, register or field '{}'  {}", name,
                                                suggest(wanted.name, known_names())));
    const auto& numbers = wanted.numbers;
    if (!numbers.empty()) found->index = numbers.back();
    if (numbers.size() == 2) found->instance = numbers.front();
    check_below(found->index, found->bank->table().rows[found->row].count, name);
    check_below(found->instance, found->bank->instances(), name);
    sc_trace(file, *found, name_in_file(wanted));
}

}  // namespace trn

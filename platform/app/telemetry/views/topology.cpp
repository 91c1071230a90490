// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "platform/app/telemetry/views/summary.h"
#include "platform/app/telemetry/views/text_table.h"

namespace trn::telemetry {

namespace {

const device* with_index(const instance& machine, unsigned index) {
    const auto found = std::ranges::find(machine.devices, index, &device::index);
    return found == machine.devices.end() ? nullptr : &*found;
}

bool joined(const instance& machine, unsigned first, unsigned second) {
    const auto has = [&](unsigned index, unsigned neighbour) {
        const auto* d = with_index(machine, index);
        return d != nullptr && d->connected && std::ranges::count(*d->connected, neighbour) != 0;
    };
    return has(first, second) || has(second, first);
}

/// Devices of a row: 4 of a torus of rows, all of a ring; 0: neither.
unsigned row_of(const instance& machine) {
    const auto count = static_cast<unsigned>(machine.devices.size());
    if (count < 2) return 0;
    for (unsigned n = 0; n < count; ++n)
        if (machine.devices[n].index != n) return 0;
    constexpr unsigned row = 4;
    bool any = false, is_grid = count % row == 0 && count > row, is_ring = true;
    for (unsigned n = 0; n < count; ++n) {
        if (!machine.devices[n].connected) return 0;
        for (const auto neighbour : *machine.devices[n].connected) {
            any = true;
            const unsigned x = n % row, y = n / row, other_x = neighbour % row,
                           other_y = neighbour / row;
            // Side by side, or the ends of a row or column: other links cannot be drawn.
            const auto is_near = [](unsigned a, unsigned b, unsigned length) {
                const auto distance = a > b ? a - b : b - a;
                return distance == 1 || distance == length - 1;
            };
            is_grid = is_grid && neighbour < count &&
                      ((y == other_y && is_near(x, other_x, row)) ||
                       (x == other_x && is_near(y, other_y, count / row)));
            is_ring = is_ring && is_near(n, neighbour, count);
        }
    }
    return !any ? 0 : is_ring ? count : is_grid ? row : 0;
}

/// A grid: neighbours side by side, `*` at ends that lead to the other end of the row or column.
std::string grid(const instance& machine, unsigned row) {
    constexpr std::size_t cell = 10;  // "[ 12 ]" and an arrow
    const auto count = static_cast<unsigned>(machine.devices.size());
    const unsigned rows = count / row;
    const auto line_between = [&](const auto& is_joined, const char* sign) {
        std::string line(4, ' ');
        for (unsigned x = 0; x < row; ++x) {
            const bool shown = is_joined(x);
            line += fmt::format("  {}", shown ? sign : " ");
            line += std::string(cell - 3, ' ');
        }
        while (line.ends_with(' ')) line.pop_back();
        return line + "\n";
    };
    const auto wraps_column = [&](unsigned x) {
        return rows > 2 && joined(machine, x, x + row * (rows - 1));
    };
    std::string text;
    const bool any_column = [&] {
        for (unsigned x = 0; x < row; ++x)
            if (wraps_column(x)) return true;
        return false;
    }();
    if (any_column)
        for (const auto* sign : {"*", "│", "▼"}) text += line_between(wraps_column, sign);
    for (unsigned y = 0; y < rows; ++y) {
        const unsigned first = y * row, last = first + row - 1;
        const bool wraps = row > 2 && joined(machine, first, last);
        text += wraps ? "*––►" : "    ";
        for (unsigned x = 0; x < row; ++x) {
            const unsigned n = first + x;
            auto box = fmt::format("[{:^3}]", n);
            text += box;
            if (x + 1 < row) text += joined(machine, n, n + 1) ? "◄–––►" : "     ";
        }
        text += wraps ? "◄––*\n" : "\n";
        if (y + 1 == rows) break;
        const auto below = [&](unsigned x) { return joined(machine, first + x, first + x + row); };
        for (const auto* sign : {"▲", "│", "▼"}) text += line_between(below, sign);
    }
    if (any_column)
        for (const auto* sign : {"▲", "│", "*"}) text += line_between(wraps_column, sign);
    return text + "\nLegend:\n    *––► = Wrap-around link\n";
}

std::string list(const instance& machine) {
    std::string text;
    for (const auto& d : machine.devices)
        text += fmt::format("[{:^3}] connected to: {}\n", d.index,
                            !d.connected           ? std::string(not_known)
                            : d.connected->empty() ? "no device directly"
                                                   : list_text(*d.connected));
    return text;
}

std::string partner_text(const link& l) {
    const auto number = [](const known<unsigned>& n) { return n.value_or(0); };
    if (l.partner == "chip")
        return fmt::format("rack {} server {} device {} port {}", number(l.rack), number(l.server),
                           number(l.chip), number(l.partner_port));
    if (l.partner == "sled_switch")
        return fmt::format("sled switch of rack {} server {}", number(l.rack), number(l.server));
    if (l.partner == "rack_switch") return fmt::format("rack switch of rack {}", number(l.rack));
    return not_known;
}

std::string links(const instance& machine) {
    text_table table;
    for (const auto* head : {"NEURON\nDEVICE", "\nPORT", "\nSTATE", "\nSPEED", "LINK\nFAILURES",
                             "\nPARTNER", "\nFAULT"})
        table.add_column(head);
    bool any = false;
    for (const auto& d : machine.devices)
        for (const auto& l : d.links) {
            any = true;
            table.add_row(
                {fmt::format("{}", d.index), fmt::format("{}", l.port), l.up ? "up" : "down",
                 l.up ? fmt::format("Gen{} x{} of {}", l.generation, l.lanes, l.all_lanes) : "",
                 fmt::format("{}{}", l.downs, l.downs == 255 ? " or more" : ""), partner_text(l),
                 l.fault});
        }
    return any ? "\nLinks:\n" + table.text() : "";
}

}  // namespace

std::string topology_text(const machine_state& state) {
    std::string text;
    for (const auto& machine : state.instances) {
        text += "\nNeuron Device Topology";
        if (state.instances.size() > 1) text += " of " + line_text(machine.name);
        text += "\n";
        const auto row = row_of(machine);
        text += row != 0 ? grid(machine, row) : list(machine);
        text += links(machine);
    }
    return text;
}

}  // namespace trn::telemetry

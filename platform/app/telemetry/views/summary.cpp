// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "platform/framework/terminal_text.h"

namespace trn::telemetry {

bool has_logical_cores(const device& d) {
    return d.product == "Trainium2" || d.product == "Trainium3";
}

unsigned cores_of_logical_core(const device& d) {
    if (!has_logical_cores(d) || d.core_count % 2 != 0) return 1;
    const char* chosen = std::getenv("NEURON_LOGICAL_NC_CONFIG");
    return chosen != nullptr && std::string_view(chosen) == "1" ? 1 : 2;
}

unsigned logical_cores(const device& d) {
    return d.core_count / cores_of_logical_core(d);
}

unsigned first_logical_core(const instance& machine, const device& d) {
    unsigned largest = 0;
    for (const auto& each : machine.devices) largest = std::max(largest, logical_cores(each));
    return d.index * largest;
}

std::string status_text(const device& d) {
    switch (d.status) {
    case device_status::booting:
        return "booting";
    case device_status::resetting:
        return "resetting";
    case device_status::gone:
        return "gone";
    case device_status::ready:
        break;
    }
    return d.faulty && !d.faulty->empty() ? "unhealthy" : "ready";
}

std::string faulty_text(const device& d) {
    return d.faulty ? fmt::format("{}", fmt::join(*d.faulty, ",")) : "";
}

std::string range_text(unsigned first, unsigned count) {
    if (count == 0) return "";
    return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
}

std::string gigabytes_text(const known<std::uint64_t>& bytes) {
    return bytes ? fmt::format("{} GB", *bytes >> 30) : not_known;
}

std::string list_text(const std::vector<unsigned>& numbers) {
    return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array units{"B", "KB", "MB", "GB", "TB", "PB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
    return fmt::format("{:.1f}{}", value, units[unit]);
}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string line_text(std::string_view text) {
    std::string shown;
    while (!text.empty()) text.remove_prefix(terminal::append_printable(text, shown));
    return shown;
}

std::string cut(const std::string& text, std::size_t columns) {
    const auto shown = line_text(text);
    if (columns_of(shown) <= columns) return shown;
    const std::size_t dots = std::min<std::size_t>(3, columns);
    std::string_view rest = shown;
    std::string kept;
    for (std::size_t n = 0; n + dots < columns; ++n) {
        const auto length = std::max<std::size_t>(terminal::code_point(rest), 1);
        kept += rest.substr(0, length);
        rest.remove_prefix(length);
    }
    return kept + std::string(dots, '.');
}

namespace {

/// Whether the process, whose cores are known, holds a physical core of logical core `n`.
bool holds(const process& p, const instance& machine, const device& d, unsigned n) {
    const auto together = cores_of_logical_core(d);
    const auto first = first_core(machine, d) + n * together;
    return std::ranges::any_of(
        *p.cores, [&](unsigned core) { return core >= first && core - first < together; });
}

}  // namespace

std::optional<std::vector<unsigned>> held_cores(const process& p, const instance& machine,
                                                const device& d) {
    if (!p.cores) return std::nullopt;
    std::vector<unsigned> all;
    for (unsigned n = 0; n < logical_cores(d); ++n)
        if (holds(p, machine, d, n)) all.push_back(first_logical_core(machine, d) + n);
    return all;
}

known<std::uint64_t> sum_of(const named_values& values) {
    known<std::uint64_t> sum;
    for (const auto& [name, value] : values) sum = sum.value_or(0) + value;
    return sum;
}

bool is_tool(const process& p) {
    constexpr std::array tools{"trn-ls",    "trn-top",    "trn-monitor",
                               "neuron-ls", "neuron-top", "neuron-monitor"};
    return std::ranges::find(tools, p.name) != tools.end();
}

interval::interval(const machine_state* before, const machine_state& now) : before_(before) {
    if (!now.clock_ns) return;
    std::uint64_t since = 0;
    if (before != nullptr && before->clock_ns)
        since = *before->clock_ns;
    else if (!now.time_ps)
        return;  // the host's clock has no start
    if (*now.clock_ns > since) seconds_ = static_cast<double>(*now.clock_ns - since) / 1e9;
}

known<double> interval::share(std::uint64_t busy, known<std::uint64_t> earlier) const {
    if (seconds_ == 0) return std::nullopt;
    if (!earlier && before_ != nullptr) return std::nullopt;
    // A core that was reset counts again from 0.
    const auto then = earlier.value_or(0);
    const auto work = static_cast<double>(busy >= then ? busy - then : busy) / 1e9;
    return std::min(100.0, 100 * work / seconds_);
}

const instance* interval::before(const instance& machine) const {
    if (before_ == nullptr) return nullptr;
    const auto same = std::ranges::find(before_->instances, machine.name, &instance::name);
    return same == before_->instances.end() ? nullptr : &*same;
}

const device* interval::before(const instance& machine, const device& d) const {
    const auto* same = before(machine);
    if (same == nullptr) return nullptr;
    const auto earlier = std::ranges::find(same->devices, d.index, &device::index);
    return earlier == same->devices.end() ? nullptr : &*earlier;
}

const process* interval::before(const instance& machine, const process& p) const {
    const auto* same = before(machine);
    if (same == nullptr) return nullptr;
    const auto earlier = std::ranges::find(same->processes, p.pid, &process::pid);
    return earlier == same->processes.end() ? nullptr : &*earlier;
}

const core* interval::before(const instance& machine, const device& d, const core& c) const {
    const auto* earlier = before(machine, d);
    if (earlier == nullptr) return nullptr;
    if (c.number < earlier->cores.size() && earlier->cores[c.number].number == c.number)
        return &earlier->cores[c.number];
    const auto same = std::ranges::find(earlier->cores, c.number, &core::number);
    return same == earlier->cores.end() ? nullptr : &*same;
}

known<double> interval::utilisation(const instance& machine, const device& d, const core& c) const {
    if (!c.busy_ns) return std::nullopt;
    const auto* earlier = before(machine, d, c);
    return share(*c.busy_ns, earlier != nullptr ? earlier->busy_ns : std::nullopt);
}

known<double> interval::flops(const instance& machine, const device& d, const core& c) const {
    if (seconds_ == 0) return std::nullopt;
    const auto total = [](const core& counted_core) -> known<std::uint64_t> {
        if (const auto counted = counted_core.info.find("flop_count");
            counted != counted_core.info.end())
            return counted->second;
        if (counted_core.engines.empty())
            return counted_core.busy_ns ? known<std::uint64_t>(0) : std::nullopt;
        std::uint64_t sum = 0;
        for (const auto& [name, work] : counted_core.engines) sum += work.flops.value_or(0);
        return sum;
    };
    const auto now = total(c);
    const auto* earlier = before(machine, d, c);
    const auto then = earlier != nullptr ? total(*earlier) : std::nullopt;
    if (!now || (before_ != nullptr && !then)) return std::nullopt;
    const auto done = *now >= then.value_or(0) ? *now - then.value_or(0) : *now;
    return static_cast<double>(done) / seconds_;
}

}  // namespace trn::telemetry

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/host_usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <sstream>

#include "platform/app/telemetry/small_file.h"

namespace trn::telemetry {

namespace {

constexpr std::size_t largest_file = 1 << 20;  // a line of 512 processors

void read_stat(host_sample& sample, const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        if (name == "ctxt") {
            std::uint64_t count = 0;
            if (words >> count) sample.context_switches = count;
        } else if (name.starts_with("cpu") && name.size() > 3) {
            processor_times times{};
            for (auto& time : times) words >> time;
            sample.processors.push_back(times);
        }
    }
}

void read_memory(host_sample& sample, const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kibibytes = 0;
        if (!(words >> name >> kibibytes)) continue;
        const auto bytes = kibibytes << 10;
        if (name == "MemTotal:") sample.memory_total = bytes;
        if (name == "MemAvailable:") sample.memory_available = bytes;
        if (name == "SwapTotal:") sample.swap_total = bytes;
        if (name == "SwapFree:") sample.swap_free = bytes;
    }
}

std::optional<std::array<double, processor_states.size()>> percent_of(const processor_times& before,
                                                                      const processor_times& now) {
    std::array<double, processor_states.size()> all{};
    double sum = 0;
    for (std::size_t state = 0; state < all.size(); ++state) {
        all[state] =
            now[state] > before[state] ? static_cast<double>(now[state] - before[state]) : 0.0;
        sum += all[state];
    }
    if (sum == 0) return std::nullopt;
    for (auto& share : all) share *= 100 / sum;
    return all;
}

std::optional<std::array<std::uint64_t, 2>> ticks_of(const std::string& proc, std::uint64_t pid) {
    const auto text = small_file(fmt::format("{}/{}/stat", proc, pid));
    // The name, in parentheses, may contain blanks.
    const auto name_end = text ? text->rfind(')') : std::string::npos;
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream words(text->substr(name_end + 1));
    constexpr int words_before_times = 11;
    std::string skipped;
    for (int n = 0; n < words_before_times; ++n) words >> skipped;
    std::array<std::uint64_t, 2> ticks{};
    if (!(words >> ticks[0] >> ticks[1])) return std::nullopt;
    return ticks;
}

known<std::uint64_t> used_of(const known<std::uint64_t>& total, const known<std::uint64_t>& rest) {
    return total && rest && *total >= *rest ? known<std::uint64_t>(*total - *rest) : std::nullopt;
}

}  // namespace

known<std::uint64_t> host_sample::memory_used() const {
    return used_of(memory_total, memory_available);
}

known<std::uint64_t> host_sample::swap_used() const {
    return used_of(swap_total, swap_free);
}

known<std::uint64_t> host_usage::context_switches() const {
    return before ? used_of(now.context_switches, before->context_switches) : now.context_switches;
}

host_sample read_host(const machine_state& state, const std::string& proc) {
    host_sample sample;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    sample.wall_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    if (proc.empty()) return sample;
    if (const auto text = small_file(proc + "/stat", largest_file)) read_stat(sample, *text);
    if (const auto text = small_file(proc + "/meminfo", largest_file)) read_memory(sample, *text);
    for (const auto& machine : state.instances)
        for (const auto& p : machine.processes)
            if (const auto ticks = ticks_of(proc, p.pid)) sample.process_ticks[p.pid] = *ticks;
    return sample;
}

std::optional<std::array<double, processor_states.size()>> host_usage::percent(
    std::size_t n) const {
    if (n >= now.processors.size()) return std::nullopt;
    const bool is_known = before && n < before->processors.size();
    return percent_of(is_known ? before->processors[n] : processor_times{}, now.processors[n]);
}

std::optional<std::array<double, processor_states.size()>> host_usage::mean_percent() const {
    processor_times then{}, sum{};
    for (std::size_t n = 0; n < now.processors.size(); ++n)
        for (std::size_t state = 0; state < sum.size(); ++state) {
            sum[state] += now.processors[n][state];
            if (before && n < before->processors.size())
                then[state] += before->processors[n][state];
        }
    return percent_of(then, sum);
}

std::optional<std::array<double, 2>> host_usage::of_process(std::uint64_t pid) const {
    const auto used = now.process_ticks.find(pid);
    if (used == now.process_ticks.end() || !before) return std::nullopt;
    const auto then = before->process_ticks.find(pid);
    if (then == before->process_ticks.end() || now.wall_ms <= before->wall_ms) return std::nullopt;
    const auto seconds = static_cast<double>(now.wall_ms - before->wall_ms) / 1000;
    const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    std::array<double, 2> percent{};
    for (std::size_t n = 0; n < percent.size(); ++n) {
        if (used->second[n] < then->second[n]) return std::nullopt;  // another one with its number
        percent[n] = 100 * static_cast<double>(used->second[n] - then->second[n]) /
                     ticks_per_second / seconds;
    }
    return percent;
}

}  // namespace trn::telemetry

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "platform/app/scenario/selection.h"
#include "platform/framework/config/diagnostics.h"

namespace trn::regression {

namespace {

using values = std::vector<double>;

/// All runs of one scenario: repetitions, and runs with several seeds.
struct all_runs {
    std::vector<const result*> runs;

    std::size_t failed() const {
        return static_cast<std::size_t>(
            std::ranges::count(runs, false, [](const auto* one) { return one->passed(); }));
    }
    double seconds() const {
        double sum = 0;
        for (const auto* one : runs) sum += one->how.wall_s;
        return sum / static_cast<double>(runs.size());
    }
    std::map<std::string, std::pair<std::string, values>> figures() const {
        std::map<std::string, std::pair<std::string, values>> all;
        for (const auto* one : runs)
            for (const auto& f : one->how.figures) {
                all[f.name].first = f.unit;
                all[f.name].second.push_back(f.value);
            }
        return all;
    }
};

using by_scenario = std::map<std::string, all_runs>;

by_scenario scenarios_of(const run_record& run) {
    by_scenario all;
    for (const auto& one : run.results) all[identity(one.description)].runs.push_back(&one);
    return all;
}

std::string message_of(const all_runs& all_runs) {
    for (const auto* one : all_runs.runs)
        if (!one->passed())
            return fmt::format("{}: {}", place_text(one->description, one->how), one->how.message);
    return "";
}

double mean(const values& all) {
    double sum = 0;
    for (const auto one : all) sum += one;
    return sum / static_cast<double>(all.size());
}

/// Whether `now` is outside the range of the old values, widened by the noise.
bool outside(const values& before, double now, double noise_percent) {
    const auto [low, high] = std::ranges::minmax(before);
    const auto margin = noise_percent / 100 * std::max(std::abs(low), std::abs(high));
    return now < low - margin || now > high + margin;
}

void compare_figures(const std::string& name, const all_runs& before, const all_runs& now,
                     const comparison_limits& limits, comparison& out) {
    const auto old_figures = before.figures();
    for (const auto& [figure, value] : now.figures()) {
        const auto known = old_figures.find(figure);
        if (known == old_figures.end()) continue;
        const auto was = mean(known->second.second), is = mean(value.second);
        if (!outside(known->second.second, is, limits.noise_percent)) continue;
        out.figures.push_back(fmt::format("{}: {}: {:.6g} {} became {:.6g} {} ({:+.1f} %)", name,
                                          figure, was, value.first, is, value.first,
                                          was == 0 ? 0.0 : 100 * (is - was) / was));
    }
}

void compare_digests(const std::string& name, const all_runs& before, const all_runs& now,
                     comparison& out) {
    std::map<std::string, std::uint64_t> known;
    for (const auto* one : before.runs) known[one->description.name] = one->how.trace_digest;
    for (const auto* one : now.runs) {
        const auto at = known.find(one->description.name);
        const auto digest = one->how.trace_digest;
        if (at == known.end() || at->second == 0 || digest == 0 || at->second == digest) continue;
        out.digests.push_back(
            fmt::format("{}: {:016x} became {:016x}",
                        now.runs.size() == 1 ? name : readable(run_identity(one->description)),
                        at->second, digest));
    }
}

void compare_durations(const std::string& name, const all_runs& before, const all_runs& now,
                       const comparison_limits& limits, comparison& out) {
    const auto was = before.seconds(), is = now.seconds();
    if (is - was < limits.slower_min_s || is < was * (1 + limits.slower_percent / 100)) return;
    out.durations.push_back(fmt::format("{}: {:.2f} s became {:.2f} s", name, was, is));
}

void compare_one(const std::string& name, const all_runs& before, const all_runs& now,
                 const comparison_limits& limits, comparison& out) {
    if (now.failed() > 0 && before.failed() == 0)
        out.newly_failing.push_back(fmt::format("{}: {}", name, message_of(now)));
    if (now.failed() == 0 && before.failed() > 0) out.newly_passing.push_back(name);
    compare_digests(name, before, now, out);
    compare_figures(name, before, now, limits, out);
    compare_durations(name, before, now, limits, out);
}

}  // namespace

comparison compare(const run_record& old_run, const run_record& new_run,
                   const comparison_limits& limits) {
    const auto before = scenarios_of(old_run), now = scenarios_of(new_run);
    comparison out;
    out.other_build = old_run.build != new_run.build;
    for (const auto& [key, runs] : now) {
        const auto name = readable(key);
        if (const auto known = before.find(key); known != before.end()) {
            compare_one(name, known->second, runs, limits, out);
        } else {
            out.added.push_back(name);
            if (runs.failed() > 0)
                out.newly_failing.push_back(fmt::format("{}: {}", name, message_of(runs)));
        }
    }
    for (const auto& [key, runs] : before)
        if (!now.contains(key)) out.missing.push_back(readable(key));
    return out;
}

std::string comparison::text() const {
    std::string out;
    const auto add = [&](const char* title, const std::vector<std::string>& lines) {
        if (lines.empty()) return;
        out += fmt::format("{} ({}):\n", title, lines.size());
        for (const auto& one : lines) out += "  " + printable(one) + "\n";
    };
    add("newly failing", newly_failing);
    add("newly passing", newly_passing);
    add("not run any more", missing);
    add("new", added);
    add(other_build ? "other digests (the builds differ)" : "other digests", digests);
    add("figures out of noise", figures);
    add("longer durations", durations);
    return out.empty() ? "no difference\n" : out;
}

}  // namespace trn::regression

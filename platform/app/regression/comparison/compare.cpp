// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/comparison/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/diagnostics.h"

namespace trn::regression {

namespace {

using values = std::vector<double>;

/// All runs of one scenario: repetitions, and runs with several seeds.
struct all_runs : row {
    double seconds() const {
        double sum = 0;
        for (const auto* run : runs) sum += run->outcome.wall_s;
        return sum / static_cast<double>(runs.size());
    }
    std::map<std::string, std::pair<std::string, values>> figures() const {
        std::map<std::string, std::pair<std::string, values>> all;
        for (const auto* run : runs)
            for (const auto& f : run->outcome.figures) {
                all[f.name].first = f.unit;
                all[f.name].second.push_back(f.value);
            }
        return all;
    }
};

using by_scenario = std::map<std::string, all_runs>;

by_scenario scenarios_of(const run_record& run) {
    by_scenario all;
    for (const auto& result : run.results)
        all[identity(result.description)].runs.push_back(&result);
    return all;
}

std::string message_of(const result& failed) {
    return fmt::format("{}: {}", place_text(failed.description, failed.outcome),
                       failed.outcome.message);
}

std::set<std::string> failed_places(const all_runs& all) {
    std::set<std::string> places;
    for (const auto* run : all.runs)
        if (!run->passed()) places.insert(place_text(run->description, run->outcome));
    return places;
}

/// The first run that fails at a place where none failed before; null: none, or none failed before.
const result* first_failing_elsewhere(const all_runs& before, const all_runs& now) {
    const auto known = failed_places(before);
    if (known.empty()) return nullptr;
    for (const auto* run : now.runs)
        if (!run->passed() && !known.contains(place_text(run->description, run->outcome)))
            return run;
    return nullptr;
}

std::set<std::string> failed_names(const all_runs& all) {
    std::set<std::string> names;
    for (const auto* run : all.runs)
        if (!run->passed()) names.insert(run->description.name);
    return names;
}

/// Whether a larger part of `these` failed.
bool fail_more_often(const all_runs& these, const all_runs& others) {
    return these.failed() * others.runs.size() > others.failed() * these.runs.size();
}

/// The first run that fails only now; null: none. Seeds are compared one by one. Repetitions have
/// no identity, so the parts that failed are compared.
const result* first_newly_failing(const all_runs& before, const all_runs& now) {
    const auto failed = failed_names(before);
    const bool by_seed = now.campaign();
    if (!by_seed && !fail_more_often(now, before)) return nullptr;
    for (const auto* run : now.runs)
        if (!run->passed() && !(by_seed && failed.contains(run->description.name))) return run;
    return nullptr;
}

bool any_newly_passing(const all_runs& before, const all_runs& now) {
    if (!now.campaign()) return fail_more_often(before, now);
    const auto failed = failed_names(before);
    return std::ranges::any_of(now.runs, [&](const auto* run) {
        return run->passed() && failed.contains(run->description.name);
    });
}

/// ": 1 of 4 failed, now 4 of 4", if there are several runs.
std::string counts_of(const all_runs& before, const all_runs& now) {
    if (before.runs.size() == 1 && now.runs.size() == 1) return "";
    return fmt::format(": {} of {} failed, now {} of {}", before.failed(), before.runs.size(),
                       now.failed(), now.runs.size());
}

double mean(const values& all) {
    double sum = 0;
    for (const auto value : all) sum += value;
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
    const auto new_figures = now.figures();
    for (const auto& [figure, value] : old_figures)
        if (now.failed() == 0 && !new_figures.contains(figure))
            out.figures.push_back(fmt::format("{}: {}: is not measured any more", name, figure));
    for (const auto& [figure, value] : new_figures) {
        const auto known = old_figures.find(figure);
        if (known == old_figures.end()) continue;
        const bool have_units = !known->second.first.empty() && !value.first.empty();
        if (have_units && known->second.first != value.first) {
            out.figures.push_back(fmt::format("{}: {}: the unit '{}' became '{}'", name, figure,
                                              known->second.first, value.first));
            continue;
        }
        const auto was = mean(known->second.second), is = mean(value.second);
        if (!outside(known->second.second, is, limits.noise_percent)) continue;
        out.figures.push_back(fmt::format(
            "{}: {}: {:.6g} {} became {:.6g} {}{}", name, figure, was, value.first, is, value.first,
            was == 0 ? "" : fmt::format(" ({:+.1f} %)", 100 * (is - was) / was)));
    }
}

void compare_digests(const std::string& name, const all_runs& before, const all_runs& now,
                     comparison& out) {
    std::map<std::string, std::uint64_t> known;
    for (const auto* run : before.runs) known[run->description.name] = run->outcome.trace_digest;
    for (const auto* run : now.runs) {
        const auto old_digest = known.find(run->description.name);
        const auto digest = run->outcome.trace_digest;
        if (old_digest == known.end() || old_digest->second == 0 || digest == 0 ||
            old_digest->second == digest)
            continue;
        out.digests.push_back(
            fmt::format("{}: {:016x} became {:016x}",
                        now.runs.size() == 1 ? name : readable(run_identity(run->description)),
                        old_digest->second, digest));
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
    if (const auto* failing = first_newly_failing(before, now))
        out.newly_failing.push_back(
            fmt::format("{}{}: {}", name, counts_of(before, now), message_of(*failing)));
    else if (const auto* other = first_failing_elsewhere(before, now))
        out.failing_elsewhere.push_back(fmt::format("{}: {}", name, message_of(*other)));
    if (any_newly_passing(before, now)) out.newly_passing.push_back(name + counts_of(before, now));
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
                out.newly_failing.push_back(fmt::format("{}: {}", name, message_of(runs.shown())));
        }
    }
    for (const auto& [key, runs] : before)
        if (!now.contains(key)) out.missing.push_back(readable(key));
    std::map<std::string, std::string> scenario_of;  // by run
    for (const auto& result : old_run.results)
        scenario_of[run_identity(result.description)] = identity(result.description);
    for (const auto& identity_of_run : new_run.missing())
        if (const auto known = scenario_of.find(identity_of_run);
            known != scenario_of.end() && now.contains(known->second))
            out.missing.push_back(readable(identity_of_run));
    return out;
}

std::string comparison::text() const {
    std::string out;
    const auto add = [&](const char* title, const std::vector<std::string>& lines) {
        if (lines.empty()) return;
        out += fmt::format("{} ({}):\n", title, lines.size());
        for (const auto& line : lines) out += "  " + printable(line) + "\n";
    };
    add("newly failing", newly_failing);
    add("failing at another step", failing_elsewhere);
    add("newly passing", newly_passing);
    add("not run any more", missing);
    add("new", added);
    add(other_build ? "other digests (the builds differ)" : "other digests", digests);
    add("figures out of noise", figures);
    add("longer durations", durations);
    return out.empty() ? "no difference\n" : out;
}

}  // namespace trn::regression

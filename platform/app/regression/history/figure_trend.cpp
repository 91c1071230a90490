// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history/figure_trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "platform/app/regression/history/history.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/wildcards.h"

namespace trn::regression {

namespace {

/// "0.2.0 107e6afae55d": the commit, or the whole text without one.
std::string commit_of(const std::string& build) {
    const auto blank = build.find(' ');
    return blank == build.npos || blank + 1 == build.size() ? build : build.substr(blank + 1);
}

/// Mean and unit of a figure in the runs of one scenario; adds to both.
struct sum {
    double total = 0;
    std::size_t count = 0;
    std::string unit;

    void add(const scenario::figure& measured) {
        total += measured.value;
        ++count;
        unit = measured.unit;
    }
    std::optional<double> mean() const {
        if (count == 0) return std::nullopt;
        return total / static_cast<double>(count);
    }
};

using scenario_and_figure = std::pair<std::string, std::string>;

bool is_like(const std::string& pattern, const std::string& text) {
    return pattern.empty() || pattern == text || matches_wildcards(pattern, text);
}

/// The figures of one run that match.
std::map<scenario_and_figure, sum> figures_of(const run_record& run, const std::string& figures,
                                              const std::string& scenarios) {
    std::map<scenario_and_figure, sum> found;
    for (const auto& result : run.results)
        for (const auto& f : result.outcome.figures)
            if (is_like(figures, f.name) &&
                is_like(scenarios, scenario::title_of_all_runs(result.description)))
                found[{identity(result.description), f.name}].add(f);
    return found;
}

[[noreturn]] void refuse_none(std::span<const run_record> runs, const std::string& figures,
                              const std::string& scenarios) {
    std::set<std::string> names, titles;
    for (const auto& run : runs)
        for (const auto& result : run.results)
            for (const auto& f : result.outcome.figures) {
                names.insert(f.name);
                if (is_like(figures, f.name))
                    titles.insert(scenario::title_of_all_runs(result.description));
            }
    if (names.empty()) throw std::invalid_argument("these runs have no figures");
    const auto known = [](const std::set<std::string>& all, const std::string& wrong) {
        return suggest(wrong, std::vector<std::string>(all.begin(), all.end()));
    };
    if (titles.empty())
        throw std::invalid_argument(
            fmt::format("no figure '{}'  {}", figures, known(names, figures)));
    throw std::invalid_argument(fmt::format("no scenario '{}' has the figure '{}'  {}", scenarios,
                                            figures, known(titles, scenarios)));
}

/// Decides for one figure after the other whether it is outside.
class band_follower {
public:
    explicit band_follower(const figure_band& band) : band_(band) {
        if (!band.min && !band.max) return;
        constexpr auto infinity = std::numeric_limits<double>::infinity();
        low_ = band.min.value_or(-infinity);
        high_ = band.max.value_or(infinity);
        known_ = true;
    }

    void follow(figure_trend::point& point) {
        if (!point.value) return;
        if (!known_) move_to(*point.value);
        point.low = low_;
        point.high = high_;
        const bool outside = *point.value < low_ || *point.value > high_;
        const bool was_outside = std::exchange(outside_, outside);
        point.left = outside && !was_outside;
        if (!outside || band_.min || band_.max) return;
        move_to(*point.value);
        outside_ = false;
    }

private:
    void move_to(double value) {
        const auto margin = band_.noise_percent / 100 * std::abs(value);
        low_ = value - margin;
        high_ = value + margin;
        known_ = true;
    }

    const figure_band& band_;
    double low_ = 0, high_ = 0;
    bool known_ = false, outside_ = false;
};

std::string band_text(const figure_trend::point& point) {
    if (std::isinf(point.low)) return fmt::format("at most {:.6g}", point.high);
    if (std::isinf(point.high)) return fmt::format("at least {:.6g}", point.low);
    return fmt::format("{:.6g} to {:.6g}", point.low, point.high);
}

}  // namespace

std::vector<figure_trend> figure_trends(std::span<const run_record> runs,
                                        const std::string& figures, const std::string& scenarios,
                                        const figure_band& band) {
    std::map<scenario_and_figure, figure_trend> all;
    std::vector<std::map<scenario_and_figure, sum>> of_runs;
    std::vector<std::set<std::string>> ran;  // identities, by run
    for (const auto& run : runs) {
        for (const auto& [key, sum] : of_runs.emplace_back(figures_of(run, figures, scenarios)))
            all[key] = {.scenario = key.first, .name = key.second, .unit = sum.unit};
        auto& there = ran.emplace_back();
        for (const auto& result : run.results) there.insert(identity(result.description));
    }
    if (all.empty()) refuse_none(runs, figures, scenarios);
    std::vector<figure_trend> list;
    for (auto& [key, trend] : all) {
        band_follower follower(band);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (!ran[i].contains(key.first)) continue;
            const auto measured = of_runs[i].find(key);
            trend.points.push_back(
                {.started = runs[i].started,
                 .build = runs[i].build,
                 .value = measured == of_runs[i].end() ? std::nullopt : measured->second.mean()});
            follower.follow(trend.points.back());
        }
        list.push_back(std::move(trend));
    }
    return list;
}

std::optional<std::size_t> figure_trend::departure() const {
    for (std::size_t i = points.size(); i-- > 0;)
        if (points[i].left) return i;
    return std::nullopt;
}

/// The last run before `index` that measured the figure; there may be none with bounds.
static const figure_trend::point* before(const std::vector<figure_trend::point>& points,
                                         std::size_t index) {
    while (index-- > 0)
        if (points[index].value) return &points[index];
    return nullptr;
}

std::string figure_trend::bisection() const {
    const auto first_outside = departure();
    const auto* good = first_outside ? before(points, *first_outside) : nullptr;
    if (good == nullptr) return "";
    const auto good_commit = commit_of(good->build),
               bad_commit = commit_of(points[*first_outside].build);
    return good_commit == bad_commit
               ? ""
               : fmt::format("git bisect start {} {}", bad_commit, good_commit);
}

std::string figure_trend::text() const {
    std::string out = fmt::format("{}: {}{}\n", printable(readable(scenario)), printable(name),
                                  unit.empty() ? "" : fmt::format(" ({})", printable(unit)));
    for (const auto& point : points)
        out += fmt::format(
            "  {}  {:<12}  {}{}\n", time_text(point.started), printable(commit_of(point.build)),
            point.value ? fmt::format("{:.6g}", *point.value) : "not measured",
            point.left ? fmt::format("  <- left the band, {}", band_text(point)) : "");
    const auto first_outside = departure();
    if (!first_outside) return out + "  stays in its band\n";
    const auto& now = points[*first_outside];
    const auto* good = before(points, *first_outside);
    out += fmt::format("  first run that left the band: {}, commit {}: {:.6g}",
                       time_text(now.started), printable(commit_of(now.build)), *now.value);
    if (good == nullptr) return out + "; no earlier run has the figure\n";
    out += fmt::format(" after {:.6g}", *good->value);
    if (*good->value != 0)
        out += fmt::format(" ({:+.1f} %)", 100 * (*now.value - *good->value) / *good->value);
    const auto search = bisection();
    return out + (search.empty() ? "; the build is the same: compare scenario, board and options\n"
                                 : fmt::format("\n  {}\n", printable(search)));
}

nlohmann::json figure_trend::json() const {
    const auto described = described_by(scenario);
    auto all = nlohmann::json::array();
    for (const auto& point : points) {
        nlohmann::json entry{{"started", point.started},
                             {"build", point.build},
                             {"commit", commit_of(point.build)},
                             {"value", point.value ? nlohmann::json(*point.value) : nullptr},
                             {"left_band", point.left}};
        if (point.left && std::isfinite(point.low)) entry["at_least"] = point.low;
        if (point.left && std::isfinite(point.high)) entry["at_most"] = point.high;
        all.push_back(std::move(entry));
    }
    const auto first_outside = departure();
    return {{"file", described.file},
            {"scenario", described.name},
            {"figure", name},
            {"unit", unit},
            {"runs", std::move(all)},
            {"first_outside", first_outside ? nlohmann::json(*first_outside) : nullptr},
            {"bisect", bisection()}};
}

}  // namespace trn::regression

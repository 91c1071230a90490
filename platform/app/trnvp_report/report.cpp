// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "platform/app/commands/guarded.h"
#include "platform/app/regression/comparison/compare.h"
#include "platform/app/regression/comparison/merge.h"
#include "platform/app/regression/history/durations.h"
#include "platform/app/regression/history/figure_trend.h"
#include "platform/app/regression/history/run_source.h"
#include "platform/app/regression/pages/annotate_option.h"
#include "platform/app/regression/pages/report_folder.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/json.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

namespace fs = std::filesystem;

struct merge_options {
    std::vector<fs::path> sources;
    fs::path out, durations, history;
    std::string annotate;
};

/// Returns 0 when all scenarios ran and passed and the records belong together.
int merge_records(const merge_options& chosen) {
    std::error_code refused;
    fs::create_directories(chosen.out, refused);
    if (refused)
        throw user_error(fmt::format("--out {}: {}", chosen.out.string(), refused.message()));
    const auto all = regression::merge(chosen.sources);
    for (const auto* ending : {"", ".part"})  // write_record() removes an unfinished record
        check_not_read((chosen.out / regression::record_name).string() + ending);
    for (const auto* sentences : {&all.problems, &all.replaced})
        for (const auto& sentence : *sentences)
            print_to(stderr, "trnvp: {}\n", printable(sentence));
    for (const auto& result : all.run.results)
        if (!result.passed())
            print_to(stdout, "{}", scenario::to_text(result.description, result.outcome));
    scenario::remember_failed(scenario::failed_list(), regression::ended_cases(all.run));
    regression::write_record(chosen.out, all.run);
    regression::history past;
    if (!chosen.history.empty()) {
        regression::history::add(chosen.history, all.run);
        past = regression::history::read(chosen.history);
        for (const auto& problem : past.problems())
            print_to(stderr, "trnvp: warning: {}\n", printable(problem));
    }
    auto lost = regression::write_reports(chosen.out, all.run, past);
    lost += annotate(chosen.annotate, all.run, chosen.out);
    if (!chosen.durations.empty()) regression::update_durations(chosen.durations, all.run);
    print_to(stdout, "{}{}\n", regression::failures_text(all.run), regression::summary(all.run));
    if (!lost.empty()) throw output_error(lost.substr(0, lost.size() - 1));
    return all.problems.empty() && all.run.passed() ? 0 : 1;
}

struct compare_options {
    fs::path before, now;
    regression::comparison_limits limits;
    std::vector<std::string> fail_on{"failing", "missing", "digests", "figures"};
};

int compare_records(const compare_options& chosen) {
    const auto found = regression::compare(regression::read_run(chosen.before),
                                           regression::read_run(chosen.now), chosen.limits);
    print_to(stdout, "{}", found.text());
    const auto counts = [&](const char* word, const std::vector<std::string>& lines) {
        return !lines.empty() && std::ranges::find(chosen.fail_on, word) != chosen.fail_on.end();
    };
    return counts("failing", found.newly_failing) || counts("failing", found.failing_elsewhere) ||
                   counts("missing", found.missing) || counts("digests", found.digests) ||
                   counts("figures", found.figures) || counts("durations", found.durations)
               ? 1
               : 0;
}

struct figure_options {
    std::string figure, scenario;
    std::vector<fs::path> sources;
    regression::figure_band band;
    unsigned last = 100;
    bool json = false;
};

/// All runs of the sources, oldest first. A source that was named twice is read once.
std::vector<regression::run_record> runs_of(const std::vector<fs::path>& sources, unsigned last) {
    std::vector<regression::run_record> all;
    std::set<fs::path> known;
    for (const auto& source : sources) {
        std::error_code unreadable;
        const auto path = fs::weakly_canonical(source, unreadable);
        if (unreadable || known.insert(path).second)
            std::ranges::move(regression::read_runs(source, last), std::back_inserter(all));
    }
    for (const auto& run : all)
        for (const auto& problem : run.problems)
            print_to(stderr, "trnvp: warning: {}\n", printable(problem));
    std::ranges::stable_sort(all, {}, &regression::run_record::started);
    return all;
}

/// \returns 1 when a figure left its band
int show_figure(const figure_options& chosen) try {
    const auto& band = chosen.band;
    if (band.min && band.max && *band.min > *band.max)
        throw user_error("--at-least is more than --at-most");
    const auto trends = regression::figure_trends(runs_of(chosen.sources, chosen.last),
                                                  chosen.figure, chosen.scenario, band);
    auto list = nlohmann::json::array();
    for (const auto& trend : trends) list.push_back(trend.json());
    if (chosen.json) print_to(stdout, "{}\n", config::to_ascii(list));
    for (const auto& trend : trends)
        if (!chosen.json) print_to(stdout, "{}", trend.text());
    return std::ranges::any_of(trends,
                               [](const auto& trend) { return trend.departure().has_value(); })
               ? 1
               : 0;
} catch (const std::invalid_argument& wrong) {
    throw user_error(wrong.what());
}

constexpr auto source_text = "a record (run.jsonl), a file of a history, or a folder of either";

void add_merge(cli::command& parent, int& status) {
    auto chosen = std::make_shared<merge_options>();
    auto* c = parent.add_subcommand("merge", "one set of reports from those of shards or machines");
    c->add_option("from", chosen->sources, fmt::format("shards or runs, each {}", source_text))
        ->required();
    c->add_option("--out", chosen->out, "folder for the merged record and its reports")->required();
    c->add_option("--history", chosen->history,
                  "add the merged run to this folder, and show the last 30 runs");
    c->add_option("--durations", chosen->durations, "add the measured durations to this file");
    add_annotate_option(*c, chosen->annotate);
    c->examples({{"trnvp report merge shard1 shard2 --out out", "reports of two shards together"},
                 {"trnvp report merge out/run.jsonl again --out merged",
                  "of a run and of the repetition of what failed"}});
    c->callback([chosen, &status] { status = merge_records(*chosen); });
}

void add_compare(cli::command& parent, int& status) {
    auto chosen = std::make_shared<compare_options>();
    auto* c = parent.add_subcommand("compare", "what differs between two runs");
    c->add_option("old", chosen->before, fmt::format("the earlier run: {}", source_text))
        ->required();
    c->add_option("new", chosen->now, fmt::format("the later run: {}", source_text))->required();
    c->add_option("--noise", chosen->limits.noise_percent,
                  "percent by which a figure may leave the range of its earlier values (5)")
        ->check(cli::in_range(0.0, 1000.0));
    c->add_option("--slower", chosen->limits.slower_percent,
                  "percent by which a duration may grow (50)")
        ->check(cli::in_range(0.0, 100'000.0));
    c->add_option("--fail-on", chosen->fail_on,
                  "what makes the status 1: failing, missing, digests, figures (these four by "
                  "default), durations")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->transform(cli::one_of({"failing", "missing", "digests", "figures", "durations"}));
    c->examples({{"trnvp report compare old new", "status 1 if something is worse"},
                 {"trnvp report compare history new --fail-on failing,figures",
                  "with the newest run of a history; other differences are only printed"}});
    c->callback([chosen, &status] { status = compare_records(*chosen); });
}

void add_figure(cli::command& parent, int& status) {
    auto chosen = std::make_shared<figure_options>();
    auto* c =
        parent.add_subcommand("figure", "a figure over the runs of a history: when did it change?");
    c->add_option("figure", chosen->figure, "the figure; * and ? for several")->required();
    c->add_option("history", chosen->sources, fmt::format("runs, each {}", source_text))
        ->required();
    c->add_option("--name", chosen->scenario,
                  "only of the scenario of this name; * and ? for several");
    c->add_option("--noise", chosen->band.noise_percent,
                  "percent around a value that are its band (5)")
        ->check(cli::in_range(0.0, 1000.0));
    c->add_option("--at-least", chosen->band.min, "the band begins here, in the figure's unit");
    c->add_option("--at-most", chosen->band.max, "the band ends here, in the figure's unit");
    c->add_option("--last", chosen->last, "runs of each history (100)")
        ->check(cli::in_range(1u, 10'000u));
    c->add_flag("--json", chosen->json, "as JSON");
    c->examples(
        {{"trnvp report figure 'descriptors of both' history",
          "value and commit of each run, and the line for git bisect"},
         {"trnvp report figure '*' old new --name 'figures*' --json", "of two runs, as JSON"}});
    c->callback([chosen, &status] { status = show_figure(*chosen); });
}

}  // namespace

void add_report(cli::command* c, int& status) {
    c->require_subcommand(1);
    c->examples({{"trnvp report merge shard1 shard2 --out out", "reports of two shards together"},
                 {"trnvp report compare old new", "what differs between two runs"}});
    add_merge(*c, status);
    add_compare(*c, status);
    add_figure(*c, status);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_test/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "platform/app/scenario/results/report.h"
#include "platform/app/scenario/selection/selection.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

constexpr std::size_t failed_seeds_shown = 3;

}  // namespace

void progress_line::write(const std::string& text) {
    print_raw(stderr, "\r\033[K" + terminal_text(text));
}

test_output::test_output(bool quiet, std::span<const scenario::scenario> all) : quiet_(quiet) {
    for (const auto& run : all)
        if (run.campaign) ++campaigns_[scenario::identity(run)].left;
}

void test_output::say(const std::string& sentence) {
    clear();
    if (!quiet_) print_to(stdout, "{}\n", printable_lines(sentence));
    std::fflush(stdout);
}

void test_output::add(const scenario::description& run, const scenario::outcome& outcome,
                      bool again) {
    if (quiet_) return;
    clear();
    if (run.campaign)
        add_seed(run, outcome, again);
    else
        print_to(stdout, "{}", scenario::to_text(run, outcome));
    std::fflush(stdout);
}

void test_output::add_seed(const scenario::description& run, const scenario::outcome& outcome,
                           bool again) {
    auto& all = campaigns_[scenario::identity(run)];
    if (again) {
        const auto before = std::ranges::find(
            all.results, run.name, [](const auto& result) { return result.description.name; });
        all.failed -= !before->passed();
        all.results.erase(before);
        ++all.left;
    }
    // Keep neither logs nor steps: a campaign may have 100,000 seeds.
    auto& result = all.results.emplace_back();
    result.description = run;
    result.outcome.result = outcome.result;
    all.seconds += outcome.wall_s;
    if (!outcome.passed() && ++all.failed <= failed_seeds_shown)
        print_to(stdout, "{}", scenario::to_text(run, outcome));
    if (--all.left > 0) return;
    regression::row row;
    for (const auto& seed_result : all.results) row.runs.push_back(&seed_result);
    const bool passed = row.failed() == 0;
    print_to(stdout, "{}  {:<56} {:>8.2f} s, {}\n", passed ? "pass" : "FAIL",
             printable(scenario::title_of_all_runs(run)), all.seconds,
             regression::campaign_text(row));
    if (!passed)
        print_to(stdout, "    again: {}\n", scenario::repeat_command(row.shown().description));
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_test/test.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "platform/app/commands/coverage_option.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/commands/wave_options.h"
#include "platform/app/kinds_option.h"
#include "platform/app/regression/history/durations.h"
#include "platform/app/regression/pages/annotate_option.h"
#include "platform/app/regression/pages/html_report.h"
#include "platform/app/regression/pages/junit.h"
#include "platform/app/regression/pages/merged_fidelity.h"
#include "platform/app/regression/pages/report_folder.h"
#include "platform/app/regression/pages/write_one.h"
#include "platform/app/regression/records/fields.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/files/load.h"
#include "platform/app/scenario/files/schema.h"
#include "platform/app/scenario/files/step_document.h"
#include "platform/app/scenario/results/report.h"
#include "platform/app/scenario/selection/selection.h"
#include "platform/app/scenario/steps/step_kinds.h"
#include "platform/app/trace_name.h"
#include "platform/app/trnvp_test/first_signal.h"
#include "platform/app/trnvp_test/options.h"
#include "platform/app/trnvp_test/run.h"
#include "platform/app/trnvp_test/scenarios.h"
#include "platform/app/trnvp_test/slurm.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/json.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

namespace fs = std::filesystem;

/// Adds this run to the history and returns the history; empty without a folder.
regression::history add_to_history(const fs::path& folder, const regression::run_record& run) {
    if (folder.empty() || run.parts > 1) return {};
    regression::history::add(folder, run);
    auto past = regression::history::read(folder);
    for (const auto& problem : past.problems())
        print_to(stderr, "trnvp: warning: {}\n", printable(problem));
    return past;
}

/// Writes the merged coverage, fidelity report and record of all shards.
std::string write_merged(const test_options& chosen, const regression::run_record& run) {
    using regression::write_one;
    auto lost = write_one(chosen.coverage, [&] { return run.coverage; });
    lost += write_one(chosen.fidelity_report, [&] { return merged_fidelity(run).dump(1) + "\n"; });
    if (!chosen.report.empty())
        lost += write_one(chosen.report / regression::record_name, [&] { return to_text(run); });
    return lost;
}

/// Prints one JSON array with the results of all rounds, each round as it ends.
class json_array {
public:
    json_array() = default;
    ~json_array() {
        if (any_) print_to(stdout, "]\n");
    }
    json_array(const json_array&) = delete;
    json_array& operator=(const json_array&) = delete;

    void add(const regression::run_record& run) {
        if (!std::exchange(any_, true)) print_to(stdout, "[");
        for (const auto& result : regression::to_json(run))
            print_to(stdout, "{}{}", std::exchange(comma_, ","), config::to_ascii(result));
        std::fflush(stdout);
    }

private:
    bool any_ = false;
    const char* comma_ = "";
};

/// Prints what failed and the sums, or with --json all results.
void print_end(const test_options& chosen, const regression::run_record& run, json_array& printed) {
    if (chosen.json) return printed.add(run);
    // The failure of a single scenario is printed already.
    const bool again = chosen.quiet || regression::rows_of(run).size() > 1;
    print_to(stdout, "{}{}\n", again ? regression::failures_text(run) : "",
             regression::summary(run));
}

/// Writes the selected reports, also after a failed run. \throws output_error
void write_reports_of(const test_options& chosen, const regression::run_record& run,
                      json_array& printed) {
    using regression::write_one;
    scenario::remember_failed(scenario::failed_list(), regression::ended_cases(run));
    std::string lost;
    const auto attempt = [&](const std::function<void()>& write) {
        try {
            write();
        } catch (const std::runtime_error& why) {
            lost += fmt::format("{}\n", why.what());
        }
    };
    regression::history past;
    attempt([&] { past = add_to_history(chosen.history, run); });
    lost += write_one(chosen.junit, [&] { return regression::to_junit(run); });
    lost += write_one(chosen.html, [&] { return regression::to_html(run, past); });
    // A shard writes only its record; `trnvp report merge` makes the reports.
    if (!chosen.report.empty() && run.parts == 1) lost += write_reports(chosen.report, run, past);
    // A shard must not change the file by which other shards divide the scenarios.
    if (!chosen.durations.empty() && run.parts == 1)
        attempt([&] { regression::update_durations(chosen.durations, run); });
    lost += annotate(chosen.annotate, run, chosen.report);
    if (chosen.slurm) lost += write_merged(chosen, run);
    print_end(chosen, run, printed);
    if (!lost.empty()) throw output_error(lost.substr(0, lost.size() - 1));
}

/// Reports what ran before a signal, on standard output alone.
void report_interrupted(const test_options& chosen, const regression::run_record& run,
                        json_array& printed) {
    auto ended = run;
    ended.whole.clear();  // what the user has interrupted has not failed
    scenario::remember_failed(scenario::failed_list(), regression::ended_cases(ended));
    print_end(chosen, run, printed);
}

/// Repeats the run as chosen, until a first_signal. \returns the exit status
int run_as_often_as_chosen(const test_options& chosen, const test_scenarios& all) {
    json_array printed;
    for (;;) {
        const auto run = run_here(chosen, all);
        if (!run.complete) {
            report_interrupted(chosen, run, printed);
            return 128 + first_signal::received();
        }
        write_reports_of(chosen, run, printed);
        if (!run.passed()) return 1;
        if (!chosen.until_fail || all.mine.empty()) return 0;
    }
}

/// Runs on a cluster. \returns the exit status
int run_cluster(const test_options& chosen, const test_scenarios& all) {
    const auto [run, signal] = run_on_slurm(chosen, all);
    json_array printed;
    write_reports_of(chosen, run, printed);
    if (signal != 0) return 128 + signal;
    return run.passed() ? 0 : 1;
}

/// Options that --slurm applies to the whole run and does not pass to shards.
const std::set<std::string> of_the_whole{
    "--junit",           "--html",      "--json",    "--jobs",   "--report",
    "--slurm",           "--partition", "--history", "--digest", "--coverage",
    "--fidelity-report", "--annotate",  "--strict",  "--quiet"};

void check_combinations(const test_options& chosen) {
    if (chosen.json && chosen.annotate == "github")
        throw user_error("--annotate github and --json both print");
    if (!chosen.slurm && !chosen.partition.empty()) throw user_error("--partition without --slurm");
    if (!chosen.slurm) return;
    const std::pair<const char*, bool> refused[]{{"--trace", !chosen.trace.empty()},
                                                 {"--vcd", !chosen.waves.file.empty()},
                                                 {"--shard", chosen.selected.part.count > 1},
                                                 {"--until-fail", chosen.until_fail},
                                                 {"--rerun-failed", !chosen.rerun_failed.empty()}};
    for (const auto& [option, given] : refused)
        if (given) throw user_error(fmt::format("{} and --slurm exclude each other", option));
}

/// Lists the runs, and reports mistakes of their files. \returns the exit status
int list_runs(const std::vector<scenario::scenario>& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        print_to(stdout, "{:4} {}  {}\n", i, printable(title(all[i])), printable(all[i].file));
    const auto mistakes = scenario::mistakes_of(all);
    print_to(stderr, "{}", config_error(mistakes.list()).what());
    return mistakes.empty() ? 0 : 1;
}

void print_steps(bool as_json) {
    if (as_json) return print_to(stdout, "{}\n", scenario::steps_json().dump(2));
    for (const auto& kind : scenario::step_kinds())
        print_to(stdout, "{}\n", scenario::step_text(kind));
}

int run(const test_options& chosen) {
    check_combinations(chosen);
    check_waves(chosen.waves);
    if (chosen.schema) {
        print_to(stdout, "{}\n", scenario::schema().dump(2));
        return 0;
    }
    if (chosen.steps) {
        print_steps(chosen.json);
        return 0;
    }
    auto all = read_scenarios(chosen);
    if (chosen.list) return list_runs(all.mine);
    check_outputs(chosen, all.mine);
    const first_signal guard;
    if (chosen.slurm && !chosen.strict) return run_cluster(chosen, all);
    scenario::prepare(all.mine, [] { return first_signal::received() != 0; });
    check_outputs(chosen, all.mine);  // again, with the files that kernels read
    const int signal = first_signal::received();
    if (chosen.strict && signal == 0) scenario::mistakes_of(all.mine).throw_if_any();
    if (chosen.slurm && signal != 0) return 128 + signal;
    if (chosen.slurm) return run_cluster(chosen, all);
    std::optional<coverage> executed;  // coverage of all child processes
    if (!chosen.coverage.empty()) executed.emplace(programs_of_all(all.mine));
    const int status = run_as_often_as_chosen(chosen, all);
    if (executed) {
        write_coverage(*executed, chosen.coverage);
        warn_of_unknown_code(*executed);
    }
    return status;
}

/// The options that can change a result, as words of a shell.
std::string options_of(const test_options& chosen) {
    std::string text;
    for (const std::string_view word : chosen.forwarded)
        for (const std::string_view option :
             {"--misuse=", "--misuse-allow=", "--check-protocol=", "--kinds="})
            if (word.starts_with(option))
                text += fmt::format(" {} {}", option.substr(0, option.size() - 1),
                                    scenario::shell_word(word.substr(option.size())));
    if (chosen.timing != "contended") text += " --timing " + chosen.timing;
    if (chosen.hart.mode != hart_choice().mode) text += " --hart " + chosen.hart.mode;
    return text;
}

/// Adds an option whose text `parse` converts. An std::invalid_argument of
/// `parse` is reported as an error of the option.
void add_parsed(cli::command& command, const std::string& name, const std::string& form,
                const std::string& about, const std::function<void(const std::string&)>& parse) {
    command.add_option_function<std::string>(name, parse, about)
        ->check(cli::validator(
            [parse](std::string& text) -> std::string {
                try {
                    parse(text);
                } catch (const std::invalid_argument& wrong) {
                    return wrong.what();
                }
                return {};
            },
            form));
}

/// Says which options have no effect with one that only prints.
void warn_of_ignored(const char* option, const std::set<std::string>& used,
                     const cli::command& command) {
    std::set<std::string> ignored;
    for (const auto& word : command.words(used)) ignored.insert(word.substr(0, word.find('=')));
    if (!ignored.empty())
        print_to(stderr, "trnvp: warning: {} runs nothing and ignores {}\n", option,
                 fmt::join(ignored, ", "));
}

/// Passes on the reason of a refused value, which may have several lines.
template <class Parse>
auto refusing(Parse&& parse) {
    try {
        return parse();
    } catch (const std::invalid_argument& wrong) {
        throw user_error(wrong.what());
    }
}

}  // namespace

void add_test(cli::command* c, int& status) {
    auto chosen = std::make_shared<test_options>();
    auto* files =
        c->add_option("scenario", chosen->scenarios, "files, or folders with .yaml files");
    c->add_flag("--schema", chosen->schema, "print the JSON schema of scenario files, for editors")
        ->excludes(files);
    c->add_flag("--steps", chosen->steps,
                "print all steps and their keys, as in doc/steps.md; with --json as JSON")
        ->excludes(files);
    c->add_option("--junit", chosen->junit, "write a JUnit report here");
    c->add_option("--html", chosen->html, "write a report here that opens in a browser");
    c->add_option("--report", chosen->report,
                  "write a record of the run and all reports into this folder (trnvp report)");
    c->add_option("--history", chosen->history,
                  "add this run to the folder, and show the last 30 runs in the HTML reports");
    c->add_option("-j,--jobs", chosen->jobs,
                  "runs at a time, or jobs of --slurm (number of processors)")
        ->check(cli::in_range(1u, 1024u));
    c->add_option("--trace", chosen->trace,
                  "write the event trace of each run here; .perfetto-trace for Perfetto")
        ->check(trace_name());
    c->add_flag("--digest", chosen->digest, "report the checksum of each run's event trace");
    add_wave_options(*c, chosen->waves);
    add_misuse_options(*c, chosen->misuse);
    add_coverage_option(*c, chosen->coverage);
    add_hart_option(*c, chosen->hart);
    add_protocol_option(*c, chosen->protocol);
    add_kinds_option(*c, chosen->kind_libraries, kinds());
    c->add_option("--fidelity-report", chosen->fidelity_report,
                  "report the registers that each run accessed; .json or .md");
    c->add_option("--timing", chosen->timing, "model contention for resources (default) or not")
        ->transform(cli::one_of({"contended", "functional"}));
    c->add_flag("--json", chosen->json, "one JSON array with all results, nothing else");
    c->add_flag("-q,--quiet", chosen->quiet, "print a line for each failure and the sums only");
    c->add_option("--name", chosen->selected.names,
                  "only the scenario of this name, as --list has it; * and ? for several");
    c->add_option("--tag", chosen->selected.tags,
                  "only scenarios with one of these tags; !TAG: without");
    c->add_option_function<std::string>(
        "-k,--matching",
        [chosen](const auto& text) {
            chosen->selected.matching =
                refusing([&] { return scenario::selection_expression::parse(text); });
        },
        "only scenarios whose name, tags or file have these words: 'copies and not gen2'");
    c->add_option_function<std::vector<std::string>>(
         "--where",
         [chosen](const auto& texts) {
             for (const auto& text : texts)
                 chosen->selected.clauses.push_back(
                     refusing([&] { return scenario::where_clause::parse(text); }));
         },
         "KEY=VALUE: only scenarios with this parameter of their matrix, board, tag or file")
        ->allow_extra_args(false);
    add_parsed(
        *c, "--shard", "I/N", "I/N: one of N equal parts, for N machines",
        [chosen](const auto& text) { chosen->selected.part = scenario::shard::parse(text); });
    c->add_option(
        "--durations", chosen->durations,
        "balance shards by the durations in this file; a run that is no shard adds its own");
    add_parsed(
        *c, "--seeds", "FIRST..LAST",
        "run each with all these seeds instead of its own, as one row of the reports",
        [chosen](const auto& text) { chosen->selected.seeds = scenario::seed_range::parse(text); });
    c->add_option("--repeat", chosen->selected.repeat, "run each so often")
        ->check(cli::in_range(1u, 10'000u));
    c->add_option("--shuffle", chosen->selected.shuffle, "in an order drawn with this seed");
    c->add_flag(
        "--rerun-failed", chosen->rerun_failed,
        "only what failed when it last ran; --rerun-failed=RECORD: what failed in this record");
    c->add_flag("--until-fail", chosen->until_fail, "again and again until one fails");
    c->add_flag("--share,!--no-share", chosen->share,
                "run the common beginning of scenarios once (default)");
    c->add_flag("--list", chosen->list, "list the runs without running them");
    c->add_flag("--strict", chosen->strict,
                "run nothing if a file has a mistake (status 2), instead of failing its scenarios");
    add_annotate_option(*c, chosen->annotate);
    c->add_flag("--slurm", chosen->slurm,
                "run as an array of --jobs jobs of Slurm (as many as it has processors)");
    c->add_option("--partition", chosen->partition, "of Slurm");
    c->group_options("Which scenarios", {"--name", "--tag", "--matching", "--where", "--shard",
                                         "--durations", "--rerun-failed", "--list", "--strict"});
    c->group_options("How often", {"--seeds", "--repeat", "--shuffle", "--until-fail", "--share"});
    c->group_options("Where", {"--jobs", "--slurm", "--partition"});
    c->group_options("Platform", {"--timing", "--hart", "--perf-map", "--misuse", "--misuse-allow",
                                  "--check-protocol", "--kinds"});
    c->group_options("Reports", {"--junit", "--html", "--report", "--history", "--json",
                                 "--annotate", "--digest", "--trace", "--vcd", "--vcd-signal",
                                 "--vcd-from", "--vcd-until", "--coverage", "--fidelity-report"});
    c->group_options("Instead of running", {"--schema", "--steps"});
    c->examples({{"trnvp test scenarios -k 'copy and not gen2' --list", "which runs that would be"},
                 {"trnvp test scenarios/copy_sizes.yaml --where size=4096B --report out",
                  "one of them, with a record and all reports in out"},
                 {"trnvp test scenarios/copy_sizes.yaml --name '*4096 B*' --seeds 1..3",
                  "with three seeds"}});
    c->callback([chosen, c, &status] {
        // The history compares runs of one build and scenario by their trace digests.
        chosen->digest = chosen->digest || !chosen->history.empty();
        chosen->forwarded = c->words(of_the_whole);
        chosen->options = options_of(*chosen);
        if (chosen->digest) chosen->forwarded.emplace_back("--digest");
        if (chosen->scenarios.empty() && !chosen->schema && !chosen->steps)
            cli::refuse_missing("scenario");
        if (chosen->schema) warn_of_ignored("--schema", {"--schema"}, *c);
        if (chosen->steps) warn_of_ignored("--steps", {"--steps", "--json"}, *c);
        chosen->hart.apply();
        chosen->protocol.apply();
        status = run(*chosen);
    });
}

}  // namespace trn

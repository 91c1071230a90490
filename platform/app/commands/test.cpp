// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/test.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "platform/app/commands/coverage_option.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/hart_option.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/commands/vcd_options.h"
#include "platform/app/drawing/board_vocabulary.h"
#include "platform/app/drawing/topology.h"
#include "platform/app/platform.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/execution.h"
#include "platform/app/scenario/html_report.h"
#include "platform/app/scenario/report.h"
#include "platform/app/scenario/schema.h"
#include "platform/app/scenario/selection.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/netlist/boards.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct test_options {
    std::vector<std::string> scenarios;
    fs::path junit, html, trace, fidelity_report, coverage, vcd;
    std::vector<std::string> vcd_signals;
    std::string timing = "contended";
    unsigned jobs = 0;
    std::vector<misuse::policy_choice> misuse;
    scenario::selection which;
    bool json = false, list = false, digest = false, share = true;
    bool rerun_failed = false, until_fail = false, schema = false, steps = false;
};

/// Reads a board, and checks that its images exist. \throws config_error
void check_board(const std::string& board, const std::vector<std::string>& set) {
    for (const auto& image : images_of(load_board(board, kinds(), set)))
        if (std::error_code unreadable; !fs::is_regular_file(find_firmware(image), unreadable)) {
            diagnostic missing;
            missing.code = mistake::unreadable_file;
            missing.message =
                fmt::format("there is no firmware '{}'", find_firmware(image).string());
            throw config_error(missing);
        }
}

/// All scenarios with their boards and images, each of which is checked once.
std::vector<scenario::scenario> load_all(const std::vector<std::string>& names) {
    diagnostics problems;
    std::vector<scenario::scenario> all;
    std::set<std::pair<std::string, std::vector<std::string>>> good;
    const auto check = [&](const std::string& board, const std::vector<std::string>& set) {
        if (good.contains({board, set})) return;
        check_board(board, set);
        good.emplace(board, set);
    };
    for (const auto& name : names) {
        const auto before = all.size();
        for (const auto& file : scenario::find_files(name))
            for (auto& one : scenario::load(file, problems, check)) all.push_back(std::move(one));
        if (all.size() == before && problems.empty())
            throw user_error(fmt::format("there is no scenario in '{}'", name));
    }
    problems.throw_if_any();
    return all;
}

/// FILE for one run; FILE with the run's number before its ending for several.
fs::path numbered(const fs::path& file, std::size_t number, std::size_t runs) {
    if (file.empty() || runs == 1) return file;
    auto numbered = file;
    numbered.replace_extension(std::to_string(number) + file.extension().string());
    return numbered;
}

std::vector<scenario::scenario> chosen_of(const test_options& chosen) {
    auto which = chosen.which;
    if (chosen.rerun_failed) which.failed = scenario::read_failed(scenario::failed_list());
    try {
        return scenario::select(load_all(chosen.scenarios), which);
    } catch (const std::invalid_argument& wrong) {
        throw user_error(wrong.what());
    }
}

/// Files that are written: no two may be the same, nor one that is read.
void check_outputs(const test_options& chosen, const std::vector<scenario::scenario>& all) {
    std::map<fs::path, std::string> taken;
    for (const auto& one : all) taken[fs::weakly_canonical(one.file)] = "a scenario";
    const std::pair<const char*, fs::path> outputs[]{
        {"--junit", chosen.junit},       {"--html", chosen.html},
        {"--coverage", chosen.coverage}, {"--fidelity-report", chosen.fidelity_report},
        {"--trace", chosen.trace},       {"--vcd", chosen.vcd}};
    for (const auto& [option, file] : outputs) {
        std::error_code unreadable;
        const bool device = fs::exists(file, unreadable) && !fs::is_regular_file(file, unreadable);
        if (file.empty() || device) {
            check_report(file);
            continue;
        }
        const auto [other, fresh] = taken.emplace(fs::weakly_canonical(file), option);
        if (!fresh)
            throw user_error(fmt::format("{} {}: this file is {} already", option, file.string(),
                                         other->second));
        check_report(file);
    }
}

/// A progress line on a terminal; no output elsewhere.
class progress_line {
public:
    void show(const scenario::run_progress& now) {
        const auto time = clock::now();
        if (!terminal_ || (now.ended == ended_ && time - shown_ < 500ms)) return;
        shown_ = time;
        ended_ = now.ended;
        const std::chrono::duration<double> elapsed = time - start_;
        print_to(stderr, "\r\033[K{}", scenario::progress_text(now, elapsed.count()));
    }
    void clear() {
        if (terminal_) print_to(stderr, "\r\033[K");
    }

private:
    using clock = std::chrono::steady_clock;

    const bool terminal_ = isatty(STDERR_FILENO) != 0;
    const clock::time_point start_ = clock::now();
    clock::time_point shown_ = start_;
    std::size_t ended_ = 0;
};

/// Of the boards of all scenarios, by name.
std::map<std::string, std::string> pictures_of(const std::vector<scenario::scenario>& all) {
    std::map<std::string, std::string> pictures;
    for (const auto& one : all) {
        auto& picture = pictures[one.board];
        if (!picture.empty()) continue;
        const auto board = load_board(one.board, kinds(), one.set);
        picture = to_svg(board, drawing::read_topology(board, board_vocabulary()));
    }
    return pictures;
}

/// A report, even when others cannot be written: "" or why not.
std::string write(const fs::path& file, const std::function<std::string()>& report) {
    try {
        if (!file.empty()) write_report(file, report());
    } catch (const std::exception& wrong) {
        return fmt::format("{}\n", wrong.what());
    }
    return {};
}

/// Runs them once and reports: whether all passed. \throws output_error
bool run_once(const test_options& chosen, const std::vector<scenario::scenario>& all) {
    const auto timing =
        chosen.timing == "functional" ? timing_mode::functional : timing_mode::contended;
    const unsigned jobs =
        chosen.jobs ? chosen.jobs : std::max(1u, std::thread::hardware_concurrency());
    const auto options_of = [&](std::size_t number) {
        return scenario::execution_options{
            .trace = numbered(chosen.trace, number, all.size()),
            .digest = chosen.digest,
            .timing = timing,
            .misuse = chosen.misuse,
            .fidelity_report = numbered(chosen.fidelity_report, number, all.size()),
            .vcd = numbered(chosen.vcd, number, all.size()),
            .vcd_signals = chosen.vcd_signals};
    };
    progress_line progress;
    const auto how = scenario::run_all(
        all,
        {.jobs = jobs,
         .fork = chosen.share && chosen.fidelity_report.empty() && chosen.vcd.empty(),
         .on_progress = [&](const auto& now) { progress.show(now); }},
        [&](auto& scenarios) { scenario::execute(all, kinds(), options_of, scenarios); },
        [&](std::size_t number, const auto& result) {
            if (chosen.json) return;
            progress.clear();
            print_to(stdout, "{}", scenario::to_text(all[number], result));
            std::fflush(stdout);
        });
    progress.clear();
    scenario::remember_failed(scenario::failed_list(), all, how);
    auto lost = write(chosen.junit, [&] { return scenario::to_junit(all, how); });
    lost += write(chosen.html, [&] { return scenario::to_html(all, how, pictures_of(all)); });
    if (chosen.json)
        print_to(stdout, "{}\n",
                 scenario::to_json(all, how).dump(-1, ' ', false,
                                                  nlohmann::json::error_handler_t::replace));
    else
        print_to(stdout, "{}\n", scenario::summary(how));
    if (!lost.empty()) throw output_error(lost.substr(0, lost.size() - 1));
    return std::ranges::all_of(how, &scenario::outcome::passed);
}

/// The programs that the boards of all scenarios may execute.
std::vector<fs::path> programs_of_all(const std::vector<scenario::scenario>& all) {
    std::set<std::pair<std::string, std::vector<std::string>>> seen;
    std::set<fs::path> programs;
    for (const auto& one : all) {
        auto set = one.set;
        if (const auto image = scenario::find_firmware(one); !image.empty())
            set.push_back("firmware=" + image);
        if (seen.emplace(one.board, set).second)
            programs.merge(programs_of(load_board(one.board, kinds(), set)));
    }
    return {programs.begin(), programs.end()};
}

/// Whether all passed, each time.
bool run_as_often_as_chosen(const test_options& chosen,
                            const std::vector<scenario::scenario>& all) {
    while (run_once(chosen, all))
        if (!chosen.until_fail || all.empty()) return true;
    return false;
}

int run(const test_options& chosen) {
    check_vcd(chosen.vcd, chosen.vcd_signals);
    if (chosen.schema) {
        print_to(stdout, "{}\n", scenario::schema().dump(2));
        return 0;
    }
    if (chosen.steps) {
        print_to(stdout, "{}", scenario::step_document());
        return 0;
    }
    const auto all = chosen_of(chosen);
    if (chosen.list) {
        for (std::size_t i = 0; i < all.size(); ++i)
            print_to(stdout, "{:4} {}  {}\n", i, printable(all[i].name), printable(all[i].file));
        return 0;
    }
    check_outputs(chosen, all);
    std::optional<coverage> executed;  // of all children
    if (!chosen.coverage.empty()) executed.emplace(programs_of_all(all));
    const bool passed = run_as_often_as_chosen(chosen, all);
    if (executed) {
        write_coverage(*executed, chosen.coverage);
        warn_of_unknown_code(*executed);
    }
    return passed ? 0 : 1;
}

}  // namespace

void add_test(CLI::App& app, int& status) {
    auto chosen = std::make_shared<test_options>();
    auto* c = app.add_subcommand("test", "run scenarios (doc/scenarios.md)");
    auto* files =
        c->add_option("scenario", chosen->scenarios, "files, or folders with .yaml files");
    c->add_flag("--schema", chosen->schema, "print the JSON schema of scenario files, for editors")
        ->excludes(files);
    c->add_flag("--steps", chosen->steps, "print all steps and their keys, as in doc/scenarios.md")
        ->excludes(files);
    c->add_option("--junit", chosen->junit, "write a JUnit report here");
    c->add_option("--html", chosen->html, "write a report here that opens in a browser");
    c->add_option("-j,--jobs", chosen->jobs, "runs at a time (number of processors)")
        ->check(CLI::Range(1u, 1024u));
    c->add_option("--trace", chosen->trace,
                  "write the event trace of each run here; .perfetto-trace for Perfetto");
    c->add_flag("--digest", chosen->digest, "report the checksum of each run's event trace");
    add_vcd_options(*c, chosen->vcd, chosen->vcd_signals);
    add_misuse_option(*c, chosen->misuse);
    add_coverage_option(*c, chosen->coverage);
    add_hart_option(*c);
    c->add_option("--fidelity-report", chosen->fidelity_report,
                  "report the registers that each run accessed; .json or .md");
    c->add_option("--timing", chosen->timing, "model contention for resources (default) or not")
        ->transform(one_of({"contended", "functional"}));
    c->add_flag("--json", chosen->json, "one JSON array with all results, nothing else");
    c->add_option("--name", chosen->which.names,
                  "only the scenario of this name, as --list has it");
    c->add_option("--tag", chosen->which.tags,
                  "only scenarios with one of these tags; !TAG: without");
    c->add_option_function<std::string>(
         "--shard",
         [chosen](const auto& text) { chosen->which.part = scenario::shard::parse(text); },
         "I/N: one of N equal parts, for N machines")
        ->check(CLI::Validator(
            [](const std::string& text) -> std::string {
                try {
                    scenario::shard::parse(text);
                } catch (const std::invalid_argument& wrong) {
                    return wrong.what();
                }
                return {};
            },
            "I/N"));
    c->add_option("--repeat", chosen->which.repeat, "run each so often")
        ->check(CLI::Range(1u, 10'000u));
    c->add_option("--shuffle", chosen->which.shuffle, "in an order drawn with this seed");
    c->add_flag("--rerun-failed", chosen->rerun_failed,
                "only the scenarios that failed in the last run");
    c->add_flag("--until-fail", chosen->until_fail, "again and again until one fails");
    c->add_flag("--share,!--no-share", chosen->share,
                "run the common beginning of scenarios once (default)");
    c->add_flag("--list", chosen->list, "list the runs without running them");
    c->callback([chosen, &status] {
        if (chosen->scenarios.empty() && !chosen->schema && !chosen->steps)
            throw CLI::RequiredError("scenario");
        status = run(*chosen);
    });
}

}  // namespace trn

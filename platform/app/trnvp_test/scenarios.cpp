// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_test/scenarios.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "models/kinds.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/output_files.h"
#include "platform/app/disk_images.h"
#include "platform/app/drawing/board_vocabulary.h"
#include "platform/app/drawing/topology.h"
#include "platform/app/platform.h"
#include "platform/app/regression/history/durations.h"
#include "platform/app/regression/history/run_source.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/files/load.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/mix_in.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/output.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

/// Reads a board, and checks that its images exist, or that a pattern names modules of it.
/// \throws config_error
void check_board(const std::string& name, const std::vector<std::string>& set,
                 const std::string& modules) {
    const auto board = load_board(name, kinds(), set);
    if (const auto why = unknown_modules(board, modules)) {
        diagnostic wrong;
        wrong.code = why->code;
        wrong.message = why->message;
        wrong.suggestion = why->suggestion;
        throw config_error(wrong);
    }
    for (const auto& image : disk_images_of(board)) note_input(image);
    for (const auto& image : images_of(board)) {
        const auto file = find_firmware(image);
        note_input(file);
        if (std::error_code unreadable; fs::is_regular_file(file, unreadable)) continue;
        diagnostic missing;
        missing.code = mistake::unreadable_file;
        missing.message = fmt::format("there is no firmware '{}'", file.string());
        throw config_error(missing);
    }
}

/// Loads all scenarios, and checks each of their boards and images once. A file that was named
/// twice is loaded once.
std::vector<scenario::scenario> load_all(const std::vector<std::string>& names) {
    std::vector<scenario::scenario> all;
    std::set<fs::path> known;
    std::set<std::tuple<std::string, std::vector<std::string>, std::string>> good;
    const auto check = [&](const std::string& board, const std::vector<std::string>& set,
                           const std::string& modules) {
        if (good.contains({board, set, modules})) return;
        check_board(board, set, modules);
        good.emplace(board, set, modules);
    };
    for (const auto& name : names) {
        const auto before = all.size();
        bool known_already = false;
        for (const auto& file : scenario::find_files(name)) {
            if (known.insert(fs::absolute(file).lexically_normal()).second)
                for (auto& run : scenario::load(file, check)) all.push_back(std::move(run));
            else
                known_already = true;
        }
        if (all.size() == before && !known_already)
            throw user_error(fmt::format(
                "there is no scenario in '{}', and no .yaml file with one below it", name));
    }
    return all;
}

/// The cases that --rerun-failed selects. \throws file_error
scenario::case_set failed_of(const std::string& source) {
    if (source == test_options::last_results) return scenario::read_failed(scenario::failed_list());
    scenario::case_set failed;
    for (const auto& ended : regression::ended_cases(regression::read_run(source)))
        if (!ended.passed) failed.insert(ended.tried);
    return failed;
}

/// Says why nothing runs.
void report_none_failed(const std::string& source) {
    const auto place = source == test_options::last_results
                           ? "when it last ran"
                           : fmt::format("in {}", printable(source));
    print_to(stderr, "trnvp: --rerun-failed: none of these scenarios failed {}\n", place);
}

/// Refuses a record whose failures are all of other scenarios: nothing would run, and nothing fail.
void check_has_some(const std::vector<scenario::scenario>& all, const scenario::case_set& failed,
                    const std::string& record) {
    if (failed.empty() || record == test_options::last_results) return;
    if (std::ranges::any_of(all, [&](const auto& run) { return scenario::is_in(failed, run); }))
        return;
    throw user_error(fmt::format(
        "--rerun-failed={}: the given files have none of its {} failed scenarios, such as '{}' of "
        "{}; relative names of a record start from the present folder",
        record, failed.size(), failed.begin()->name, failed.begin()->file));
}

}  // namespace

timing_mode timing_of(const test_options& chosen) {
    return chosen.timing == "functional" ? timing_mode::functional : timing_mode::contended;
}

test_scenarios read_scenarios(const test_options& chosen) {
    auto wanted = chosen.selected;
    if (!chosen.durations.empty() && wanted.part.count > 1) {
        const auto known = regression::durations::read(chosen.durations);
        if (!known.empty())
            wanted.divide = [known](const auto& all, unsigned shards) {
                return regression::divide_by_durations(known, all, shards);
            };
    }
    if (!chosen.rerun_failed.empty()) wanted.failed = failed_of(chosen.rerun_failed);
    try {
        auto all = load_all(chosen.scenarios);
        for (auto& run : all) {
            run.options = chosen.options;
            for (const auto& allowed : chosen.misuse.allowances)  // perhaps those of a file
                run.text_digest = mix_in(run.text_digest, allowed.text());
        }
        if (chosen.strict) scenario::mistakes_of(all).throw_if_any();
        if (wanted.failed) check_has_some(all, *wanted.failed, chosen.rerun_failed);
        test_scenarios read{scenario::select(all, wanted), {}};
        wanted.part = {};
        wanted.shuffle = {};
        for (const auto& run :
             wanted.repeat == 1 && !chosen.selected.shuffle && chosen.selected.part.count == 1
                 ? read.mine
                 : scenario::select(all, wanted))
            read.whole.push_back(regression::run_identity(run));
        if (wanted.failed && read.whole.empty()) report_none_failed(chosen.rerun_failed);
        return read;
    } catch (const std::invalid_argument& wrong) {
        throw user_error(wrong.what());
    }
}

fs::path file_of_run(const fs::path& file, std::size_t number, std::size_t runs) {
    if (file.empty() || runs == 1) return file;
    auto numbered = file;
    numbered.replace_extension(std::to_string(number) + file.extension().string());
    return numbered;
}

namespace {

/// Reserves the files of --report. An option may name the file of its own report format.
void keep_report(const test_options& chosen, output_files& files) {
    const std::pair<const char*, fs::path> names[]{{"run.jsonl", {}},
                                                   {"run.jsonl.part", {}},
                                                   {"index.html", {}},
                                                   {"digests.txt", {}},
                                                   {"figures.csv", {}},
                                                   {"report.xml", chosen.junit},
                                                   {"coverage.info", chosen.coverage},
                                                   {"fidelity.json", chosen.fidelity_report}};
    for (const auto& [name, same_kind] : names) {
        const auto file = chosen.report / name;
        check_not_read(file);
        if (file.lexically_normal() != same_kind.lexically_normal())
            files.keep(file, "of --report");
    }
}

}  // namespace

void check_outputs(const test_options& chosen, const std::vector<scenario::scenario>& all) {
    if (!chosen.report.empty() && !chosen.fidelity_report.empty() &&
        chosen.fidelity_report.extension() != ".json")
        throw user_error("--report merges fidelity reports that end in .json");
    for (const auto& [option, folder] :
         {std::pair("--history", chosen.history), std::pair("--report", chosen.report)})
        if (std::error_code unreadable;
            fs::exists(folder, unreadable) && !fs::is_directory(folder, unreadable))
            throw user_error(fmt::format("{} {}: not a folder", option, folder.string()));
    // Read before the run, since its results could not be added to a damaged file.
    if (!chosen.durations.empty()) regression::durations::read(chosen.durations);
    output_files files;
    std::set<std::string> scenarios;
    for (const auto& run : all)
        if (scenarios.insert(run.file).second) files.keep(run.file, "a scenario");
    // An input and an output.
    if (!chosen.durations.empty()) files.keep(chosen.durations, "--durations");
    if (!chosen.report.empty()) keep_report(chosen, files);
    const auto add = [&](const char* option, const fs::path& file) {
        files.add(option, file);
        check_report(file);
    };
    add("--junit", chosen.junit);
    add("--html", chosen.html);
    add("--coverage", chosen.coverage);
    const std::pair<const char*, fs::path> of_each_run[]{
        {"--fidelity-report", chosen.fidelity_report},
        {"--trace", chosen.trace},
        {"--vcd", chosen.waves.file}};
    for (const auto& [option, file] : of_each_run) {
        // Merged, it is written once, under its own name.
        if (chosen.slurm) add(option, file);
        for (std::size_t i = 0; i < all.size() && !chosen.slurm; ++i)
            add(option, file_of_run(file, i, all.size()));
    }
}

namespace {

/// The digest, continued with the content of the board's disk images.
std::string with_disks(const std::string& digest, const plan& board) {
    const auto images = disk_images_of(board);
    if (images.empty()) return digest;
    const input_record content;
    for (const auto& image : images) note_input(image);
    return fmt::format("{:016x}", content.mixed_into(mix_in(first_mix, digest)));
}

}  // namespace

std::map<std::string, regression::run_record::board> boards_of(
    const test_options& chosen, const std::vector<scenario::scenario>& all) {
    std::map<std::string, regression::run_record::board> boards;
    for (const auto& run : all) {
        if (!run.mistakes.empty()) continue;
        auto& about = boards[regression::board_key(run)];
        if (!about.digest.empty()) continue;
        const auto board = load_board(run.board, kinds(), scenario::board_set(run));
        about.digest = with_disks(board_digest(board, timing_of(chosen)), board);
        about.picture = to_svg(board, drawing::read_topology(board, board_vocabulary()));
    }
    return boards;
}

/// The programs that processors of the boards may execute.
std::vector<fs::path> programs_of_all(const std::vector<scenario::scenario>& all) {
    std::set<std::pair<std::string, std::vector<std::string>>> seen;
    std::set<fs::path> programs;
    for (const auto& run : all) {
        if (!run.mistakes.empty()) continue;
        const auto set = scenario::board_set(run);
        if (seen.emplace(run.board, set).second)
            programs.merge(programs_of(load_board(run.board, kinds(), set)));
    }
    return {programs.begin(), programs.end()};
}

}  // namespace trn

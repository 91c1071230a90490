// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/test_scenarios.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "models/kinds.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/drawing/board_vocabulary.h"
#include "platform/app/drawing/topology.h"
#include "platform/app/platform.h"
#include "platform/app/regression/durations.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/load.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/netlist/boards.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

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

/// Loads all scenarios, and checks each of their boards and images once.
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

}  // namespace

timing_mode timing_of(const test_options& chosen) {
    return chosen.timing == "functional" ? timing_mode::functional : timing_mode::contended;
}

test_scenarios read_scenarios(const test_options& chosen) {
    auto which = chosen.which;
    if (!chosen.durations.empty() && which.part.of > 1) {
        const auto known = regression::durations::read(chosen.durations);
        if (!known.empty())
            which.divide = [known](const auto& all, unsigned shards) {
                return regression::divide_by_durations(known, all, shards);
            };
    }
    if (chosen.rerun_failed) which.failed = scenario::read_failed(scenario::failed_list());
    try {
        const auto all = load_all(chosen.scenarios);
        test_scenarios read{scenario::select(all, which), {}};
        which.part = {};
        which.shuffle = {};
        for (const auto& one :
             which.repeat == 1 && !chosen.which.shuffle && chosen.which.part.of == 1
                 ? read.mine
                 : scenario::select(all, which))
            read.whole.push_back(regression::run_identity(one));
        return read;
    } catch (const std::invalid_argument& wrong) {
        throw user_error(wrong.what());
    }
}

/// Checks that no two output files are the same, and that none is an input file.
void check_outputs(const test_options& chosen, const std::vector<scenario::scenario>& all) {
    std::map<fs::path, std::string> taken;
    for (const auto& one : all) taken[fs::weakly_canonical(one.file)] = "a scenario";
    if (!chosen.report.empty() && !chosen.fidelity_report.empty() &&
        chosen.fidelity_report.extension() != ".json")
        throw user_error("--report merges fidelity reports that end in .json");
    const std::pair<const char*, fs::path> outputs[]{
        {"--junit", chosen.junit},       {"--html", chosen.html},
        {"--coverage", chosen.coverage}, {"--fidelity-report", chosen.fidelity_report},
        {"--trace", chosen.trace},       {"--vcd", chosen.vcd}};
    if (!chosen.durations.empty())  // an input and an output
        taken.emplace(fs::weakly_canonical(chosen.durations), "--durations");
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

std::map<std::string, regression::run_record::board> boards_of(
    const test_options& chosen, const std::vector<scenario::scenario>& all) {
    std::map<std::string, regression::run_record::board> boards;
    for (const auto& one : all) {
        auto& about = boards[regression::board_key(one)];
        if (!about.digest.empty()) continue;
        auto set = one.set;
        if (const auto image = scenario::find_firmware(one); !image.empty())
            set.push_back("firmware=" + image);
        const auto board = load_board(one.board, kinds(), set);
        about.digest = board_digest(board, timing_of(chosen));
        about.picture = to_svg(board, drawing::read_topology(board, board_vocabulary()));
    }
    return boards;
}

/// The programs that processors of the boards may execute.
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

}  // namespace trn

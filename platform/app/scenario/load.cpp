// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "platform/app/scenario/scenario_files.h"

namespace trn::scenario {

namespace {

constexpr std::size_t max_points = 1000;
constexpr std::size_t max_steps = 200'000;  // over all points of a file
constexpr std::uint64_t default_time_limit_ns = 10'000'000'000;
constexpr double default_wall_limit_s = 60;
constexpr std::uint64_t default_memory_limit = 8ull << 30;
constexpr std::uint64_t min_memory_limit = 16ull << 20;  // even a process without a board uses more

/// The cartesian product of all lists; the last list varies fastest.
std::vector<parameters> points_of(const config::node& matrix) {
    std::vector<parameters> points{{}};
    if (!matrix) return points;
    for (const auto& axis : matrix.entries()) {
        std::vector<parameters> longer;
        const auto values = axis.value.items();
        if (values.empty() || points.size() * values.size() > max_points) {
            axis.value.report(mistake::out_of_range,
                              fmt::format("a matrix has 1 to {} points", max_points));
            return points;
        }
        for (const auto& point : points)
            for (const auto& value : values) {
                longer.push_back(point);
                longer.back().emplace_back(axis.key, reader::replaced(value, {}));
            }
        points = std::move(longer);
    }
    return points;
}

std::vector<misuse::policy_choice> read_misuse(const config::node& root, const reader& r) {
    if (!r.has("misuse")) return {};
    try {
        return {misuse::policy_choice::parse(r.text("misuse"))};
    } catch (const std::invalid_argument& wrong) {
        root.at("misuse").report(mistake::not_a_choice, wrong.what());
        return {};
    }
}

/// "name=value" for each parameter of the board that the scenario sets.
std::vector<std::string> read_set(const config::node& root, const parameters& point) {
    std::vector<std::string> all;
    const auto map = root.find("set");
    if (!map) return all;
    if (!map.is_map()) {
        map.report(mistake::wrong_shape, "a mapping of board parameters was expected");
        return all;
    }
    const reader values(map, point);
    for (const auto& name : map.keys()) all.push_back(name + "=" + values.text(name));
    return all;
}

/// The first error of the board with these parameters; nothing when it has none.
std::optional<config_error> board_mistake(const board_check& check, const scenario& s,
                                          const std::vector<std::string>& set) {
    try {
        check(s.board, set);
        return std::nullopt;
    } catch (const config_error& wrong) {
        return wrong;
    }
}

/// Reports an error of the board at its cause in the scenario: at the first parameter that leads to
/// an error, or at the board's name when the board has an error without parameters. Errors inside
/// the board's files keep their places.
void check_board(const config::node& root, const scenario& s, const board_check& check,
                 diagnostics& problems) {
    auto set = s.set;
    if (!s.firmware.empty()) set.push_back("firmware=" + find_firmware(s));
    if (!board_mistake(check, s, set)) return;
    std::size_t count = 0;
    const auto wrong_with_the_first = [&](std::size_t n) {
        return board_mistake(check, s, {set.begin(), set.begin() + static_cast<std::ptrdiff_t>(n)});
    };
    auto wrong = wrong_with_the_first(0);
    while (!wrong) wrong = wrong_with_the_first(++count);
    const auto& first = wrong->list().front();
    if (count == 0 && first.line != 0) {
        for (const auto& one : wrong->list()) problems.add(one);
        return;
    }
    const bool of_a_parameter = count > 0 && count <= s.set.size();
    const auto in = of_a_parameter ? root.find("set") : root;
    const std::string key = of_a_parameter ? set[count - 1].substr(0, set[count - 1].find('='))
                                           : (count == 0 ? "board" : "firmware");
    const bool unknown = of_a_parameter && first.code == mistake::unknown_parameter;
    in.report_at(unknown ? in.key_place(key) : in.find(key).where(), first.code,
                 first.line == 0 ? first.message
                                 : fmt::format("{} ({}:{}:{})", first.message, first.file,
                                               first.line, first.column),
                 first.suggestion);
}

scenario read_point(scenario_files& from, const std::string& file, const parameters& point) {
    const auto root = from.root();
    const reader r(root, point);
    scenario s;
    s.file = file;
    s.name = r.text("scenario");
    if (const auto name = root.find("scenario"); name.is_scalar() && s.name.empty())
        name.report(mistake::bad_name, "a scenario needs a name for the reports");
    if (!point.empty()) s.name += " [" + to_string(point) + "]";
    if (const auto tags = root.find("tags"))
        for (const auto& tag : tags.items()) s.tags.push_back(reader::replaced(tag, point));
    s.board = r.text("board");
    s.set = read_set(root, point);
    s.firmware = r.text("firmware", "");
    s.seed = r.number("seed", ~std::uint64_t{0}, 1);
    for (const auto* limit : {"time_limit", "wall_limit"}) {
        const auto mistakes = from.problems().list().size();
        if (r.has(limit) && r.time(limit) == 0 && from.problems().list().size() == mistakes)
            root.at(limit).report(mistake::out_of_range,
                                  fmt::format("'{}' must be more than 0", limit));
    }
    s.time_limit_ns = r.time("time_limit", default_time_limit_ns);
    s.wall_limit_s = static_cast<double>(r.time(
                         "wall_limit", static_cast<std::uint64_t>(default_wall_limit_s * 1e9))) /
                     1e9;
    s.memory_limit = r.has("memory_limit") ? r.offset("memory_limit", {.min = min_memory_limit})
                                           : default_memory_limit;
    s.misuse = read_misuse(root, r);
    from.begin_point({s.board, s.seed, s.memory_limit});
    s.steps = from.read(root.at("steps"), point);
    s.expectations = from.read(root.find("expectations"), point, true);
    if (root.at("steps").is_list() && s.steps.empty() && from.problems().empty())
        root.at("steps").report(mistake::bad_count, "a scenario has at least one step");
    s.misuse_text = r.text("misuse", "");
    s.beginning = beginning_of(s);
    s.text_digest = from.text_digest();
    s.prepare = [files = from.shared_from_this(),
                 all = from.take_preparations()](diagnostics& problems) {
        const auto known = files->problems().list().size();
        for (const auto& prepare : all) prepare();
        const auto& found = files->problems().list();
        for (auto n = known; n < found.size(); ++n) problems.add(found[n]);
    };
    return s;
}

}  // namespace

std::vector<scenario> load(const std::filesystem::path& file, diagnostics& problems,
                           const board_check& check) {
    const auto from = std::make_shared<scenario_files>(file);
    const auto root = from->root();
    std::vector<scenario> all;
    std::size_t steps = 0;
    if (root.is_map()) {
        root.only(
            {"scenario", "tags", "board", "set", "firmware", "seed", "time_limit", "wall_limit",
             "memory_limit", "misuse", "matrix", "include", "sequences", "steps", "expectations"},
            "a scenario");
        from->read_sequences();
        const bool only_for_others = root.find("sequences") && !root.find("scenario");
        if (!only_for_others)
            for (const auto& point : points_of(root.find("matrix"))) {
                all.push_back(read_point(*from, file.string(), point));
                if (check && from->problems().empty())
                    check_board(root, all.back(), check, problems);
                steps += from->steps();
                if (steps > max_steps)
                    root.find("matrix").report(
                        mistake::out_of_range,
                        fmt::format("the points of a matrix have at most {} steps together",
                                    max_steps));
                if (!problems.empty() || !from->problems().empty())
                    break;  // the other points would repeat the same errors
            }
    } else {
        root.report(mistake::wrong_shape, "a scenario is a mapping");
    }
    for (const auto& one : from->problems().list()) problems.add(one);
    return all;
}

std::vector<std::filesystem::path> find_files(const std::filesystem::path& where) {
    namespace fs = std::filesystem;
    if (!fs::exists(where)) {
        diagnostic missing;
        missing.code = mistake::unreadable_file;
        missing.file = where.string();
        missing.message = "no such scenario or folder";
        throw config_error(missing);
    }
    if (!fs::is_directory(where)) return {where};
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(where))
        if (entry.is_regular_file() && entry.path().extension() == ".yaml")
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

}  // namespace trn::scenario

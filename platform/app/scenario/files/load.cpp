// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/files/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "platform/app/scenario/files/scenario_files.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/share_folder.h"
#include "platform/framework/misuse/allowance_text.h"

namespace trn::scenario {

namespace {

constexpr std::size_t max_points = 1000;
constexpr std::size_t max_steps = 200'000;  // over all points of a file
constexpr std::uint64_t default_memory_limit = 8ull << 30;
constexpr std::uint64_t min_memory_limit = 16ull << 20;  // even a process without a board uses more
constexpr std::size_t max_kept_mistakes = 1000;  // of all points of a file; then one per point

void add(diagnostics& found, const std::vector<diagnostic>& all) {
    for (const auto& mistake : all) found.add(mistake);
}

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
            return {};
        }
        std::set<std::string> known;
        for (const auto& value : values)
            if (!known.insert(reader::replaced(value, {})).second) {
                value.report(mistake::duplicate_name,
                             "this list has the value already: two scenarios would have one name");
                return {};
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

void read_policy(const reader& r, std::string_view key, misuse::choices& chosen) {
    if (!r.has(key)) return;
    try {
        chosen.policies.push_back(misuse::policy_choice::parse(r.text(key)));
    } catch (const std::invalid_argument& wrong) {
        r.node().at(key).report(mistake::not_a_choice, wrong.what());
    }
}

/// `misuse: POLICY`, or `misuse: {policy: POLICY, allow: [...]}`.
misuse::choices read_misuse(const reader& r) {
    misuse::choices chosen;
    if (!r.node().find("misuse").is_map()) {
        read_policy(r, "misuse", chosen);
        return chosen;
    }
    const auto map = r.map("misuse");
    map.node().only({"policy", "allow"}, "'misuse'");
    read_policy(map, "policy", chosen);
    chosen.allowances = misuse::read_allowances(map.node().find("allow"), [&](const auto& value) {
        return reader::substituted(value, r.point());
    });
    return chosen;
}

/// Adds the rules that are checked on demand and that a step checks.
void add_checked(const std::vector<step>& steps, misuse::choices& chosen) {
    for (const auto& checked : steps)
        for (const auto& [rule, violated] : checked.rules)
            if (rule.on_demand && std::ranges::find(chosen.checked, rule) == chosen.checked.end())
                chosen.checked.push_back(rule);
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

/// The first error of the board with these parameters, or of a pattern for its modules; nothing
/// when there is none.
std::optional<config_error> board_mistake(const board_check& check, const scenario& s,
                                          const std::vector<std::string>& set,
                                          const std::string& modules = {}) {
    try {
        check(s.board, set, modules);
        return std::nullopt;
    } catch (const config_error& wrong) {
        return wrong;
    }
}

/// Reports patterns that name no module of the board.
void check_allowances(const config::node& root, const scenario& s, const board_check& check,
                      const std::vector<std::string>& set) {
    for (std::size_t i = 0; i < s.misuse.allowances.size(); ++i) {
        const auto& modules = s.misuse.allowances[i].modules;
        if (modules.empty()) continue;
        const auto wrong = board_mistake(check, s, set, modules);
        if (!wrong) continue;
        const auto& first = wrong->list().front();
        root.at("misuse").at("allow").items()[i].at("at").report(first.code, first.message,
                                                                 first.suggestion);
    }
}

/// Reports an error of the board at its cause in the scenario: at the first parameter that leads to
/// an error, or at the board's name when the board has an error without parameters. Errors inside
/// the board's files keep their places.
void check_board(const config::node& root, const scenario& s, const board_check& check,
                 diagnostics& problems) {
    const auto set = board_set(s);
    if (!board_mistake(check, s, set)) return check_allowances(root, s, check, set);
    std::size_t count = 0;
    const auto wrong_with_the_first = [&](std::size_t n) {
        return board_mistake(check, s, {set.begin(), set.begin() + static_cast<std::ptrdiff_t>(n)});
    };
    auto wrong = wrong_with_the_first(0);
    while (!wrong) wrong = wrong_with_the_first(++count);
    const auto& first = wrong->list().front();
    if (count == 0 && first.line != 0) {
        return add(problems, wrong->list());
    }
    const bool of_a_parameter = count > 0 && count <= s.set.size();
    const auto map = of_a_parameter ? root.find("set") : root;
    const std::string key = of_a_parameter ? set[count - 1].substr(0, set[count - 1].find('='))
                                           : (count == 0 ? "board" : "firmware");
    const bool unknown = of_a_parameter && first.code == mistake::unknown_parameter;
    auto message = first.message;
    if (first.line != 0)
        message += fmt::format(" ({}:{}:{})", first.file, first.line, first.column);
    else if (key == "firmware" && first.code == mistake::unreadable_file)
        message += fmt::format(", and no file '{}'", firmware_beside(s).string());
    map.report_at(unknown ? map.key_place(key) : map.find(key).place(), first.code, message,
                  first.suggestion);
}

/// By place, each once.
std::vector<diagnostic> sorted(const diagnostics& found) {
    return config_error(found.list()).list();
}

/// The mistakes that `read` reports or throws. Errors without a place are reported for `file`.
diagnostics mistakes_in(const std::string& file, const std::function<void(diagnostics&)>& read) {
    diagnostics found;
    const auto add_other = [&](std::string_view message) {
        diagnostic other;
        other.code = mistake::unreadable_file;
        other.file = file;
        other.message = message;
        found.add(other);
    };
    try {
        read(found);
    } catch (const config_error& wrong) {
        add(found, wrong.list());
    } catch (const std::bad_alloc&) {
        add_other("there is not enough memory to read this scenario");
    } catch (const std::exception& wrong) {
        add_other(wrong.what());
    }
    return found;
}

/// A name without line ends and tabs, which separate names in lists.
std::string in_one_line(const std::string& name) {
    std::string line;
    for (const char c : name) line += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
    return line;
}

void read_label(const config::node& root, const parameters& point, scenario& s) {
    const reader r(root, point);
    s.point = point;
    s.name = in_one_line(r.text("scenario"));
    if (const auto name = root.find("scenario"); name.is_scalar() && s.name.empty())
        name.report(mistake::bad_name, "a scenario needs a name for the reports");
    if (!s.name.empty() && !point.empty()) s.name += " [" + in_one_line(to_string(point)) + "]";
    if (const auto tags = root.find("tags"))
        for (const auto& tag : tags.items()) s.tags.push_back(reader::replaced(tag, point));
}

void read_point(scenario_files& source, const parameters& point, scenario& s) {
    const auto root = source.root();
    const reader r(root, point);
    s.board = r.text("board");
    s.set = read_set(root, point);
    if (r.has("firmware")) s.firmware = r.text("firmware");
    if (r.has("seed")) s.seed = r.number("seed");
    if (r.has("time_limit")) s.time_limit_ns = r.positive_time("time_limit");
    if (r.has("wall_limit"))
        s.wall_limit_s = static_cast<double>(r.positive_time("wall_limit")) * 1e-9;
    s.memory_limit = r.has("memory_limit") ? r.offset("memory_limit", {.min = min_memory_limit})
                                           : default_memory_limit;
    s.misuse = read_misuse(r);
    const setting here{.board = s.board, .seed = s.seed, .memory_limit = s.memory_limit};
    source.begin_point(here);
    const input_record inputs;
    s.steps = source.read_setup(root.find("setup"), point);
    s.shared_steps = s.steps.size();
    for (auto& own : source.read(root.at("steps"), point)) s.steps.push_back(std::move(own));
    if (!root.find("setup") && !s.steps.empty() && !s.steps.front().shared.empty())
        s.shared_steps = 1;
    s.expectations = source.read(root.find("expectations"), point, true);
    source.check_background();
    s.checks = source.take_checks();
    for (const auto* steps : {&s.steps, &s.expectations}) add_checked(*steps, s.misuse);
    s.beginning = beginning_of(s);
    s.text_digest = inputs.mixed_into(source.text_digest());
    s.prepare = [files = source.shared_from_this(), all = source.take_preparations(), here](
                    auto seed, const auto& seeds, const auto& stop, diagnostics& problems) {
        auto point_setting = here;
        point_setting.seed = seed;
        point_setting.seeds = seeds;
        point_setting.stop = stop;
        for (const auto& prepare : all) prepare(point_setting);
        add(problems, files->take_problems().list());
    };
}

/// Reads the scenarios of one file.
class loader {
public:
    loader(const std::filesystem::path& file, const board_check& check)
        : file_(file.string()),
          check_(check),
          from_(std::make_shared<scenario_files>(file)),
          root_(from_->root()) {}

    /// One scenario per point of the matrix, with its mistakes; none when the points cannot be told
    /// apart. Mistakes of the whole file are added to `of_file`.
    std::vector<scenario> read(diagnostics& of_file);

private:
    void read_keys();
    bool is_only_for_others() const;
    std::vector<scenario> read_points(bool with_boards);
    bool is_told_apart(const scenario& s);
    void read_steps(const parameters& point, scenario& s, bool with_board);

    const std::string file_;
    const board_check& check_;
    const std::shared_ptr<scenario_files> from_;
    const config::node root_;
    bool is_labelled_ = true;
    std::set<std::string> names_;
    std::size_t steps_ = 0;
    std::size_t kept_ = max_kept_mistakes;
};

std::vector<scenario> loader::read(diagnostics& of_file) {
    add(of_file, mistakes_in(file_, [&](auto&) { read_keys(); }).list());
    add(of_file, from_->take_problems().list());
    if (!root_.is_map() || is_only_for_others()) return {};
    auto all = read_points(of_file.empty());
    add(of_file, from_->take_problems().list());
    return all;
}

void loader::read_keys() {
    if (!root_.is_map()) root_.report(mistake::wrong_shape, "a scenario is a mapping");
    root_.only(
        {"scenario", "tags", "board", "set", "firmware", "seed", "time_limit", "wall_limit",
         "memory_limit", "misuse", "matrix", "include", "sequences", "setup", "steps",
         "expectations"},
        root_.find("modules") ? "a scenario (this is a board, for trnvp run)" : "a scenario");
    is_labelled_ = from_->problems().empty();  // a misspelt key may be 'tags'
    from_->read_sequences();
    from_->check_parameters();
}

bool loader::is_only_for_others() const {
    return root_.find("sequences") && std::ranges::all_of(root_.keys(), [](const auto& key) {
               return key == "include" || key == "sequences";
           });
}

std::vector<scenario> loader::read_points(bool with_boards) {
    std::vector<scenario> all;
    for (const auto& point : points_of(root_.find("matrix"))) {
        auto& s = all.emplace_back();
        s.file = file_;
        read_label(root_, point, s);
        if (!is_told_apart(s)) return {};
        s.is_labelled = is_labelled_ && from_->problems().empty();
        read_steps(point, s, with_boards);
        steps_ += from_->steps();
        if (steps_ <= max_steps) continue;
        root_.find("matrix").report(
            mistake::out_of_range,
            fmt::format("the points of a matrix have at most {} steps together", max_steps));
        return {};
    }
    return all;
}

bool loader::is_told_apart(const scenario& s) {
    if (s.name.empty()) return false;
    if (names_.insert(s.name).second) return true;
    root_.find("matrix").report(mistake::duplicate_name,
                                fmt::format("two points have the name '{}'", s.name));
    return false;
}

void loader::read_steps(const parameters& point, scenario& s, bool with_board) {
    auto found = mistakes_in(file_, [&](diagnostics& of_board) {
        read_point(*from_, point, s);
        if (with_board && check_ && from_->problems().empty())
            check_board(root_, s, check_, of_board);
    });
    add(found, from_->take_problems().list());
    s.mistakes = sorted(found);
    if (s.mistakes.size() > kept_) s.mistakes.resize(kept_);
    kept_ -= std::min(kept_ - 1, s.mistakes.size());
}

/// Adds the scenario files of `folder`; `folder` itself if it cannot be read.
void find_in(const std::filesystem::path& folder, std::vector<std::filesystem::path>& files) {
    namespace fs = std::filesystem;
    std::error_code unreadable, no_target;
    fs::directory_iterator entry(folder, unreadable);
    for (; !unreadable && entry != fs::directory_iterator(); entry.increment(unreadable)) {
        const auto& path = entry->path();
        if (fs::is_directory(fs::symlink_status(path, no_target)))
            find_in(path, files);
        else if (path.extension() == ".yaml" && !fs::is_directory(path, no_target))
            files.push_back(path);
    }
    if (unreadable) files.push_back(folder);
}

}  // namespace

std::vector<scenario> load(const std::filesystem::path& file, const board_check& check) {
    std::vector<scenario> all;
    const auto of_file = mistakes_in(
        file.string(), [&](diagnostics& found) { all = loader(file, check).read(found); });
    if (of_file.empty()) return all;
    if (all.empty()) {
        all.emplace_back().file = file.string();
        all.back().is_labelled = false;
    }
    for (auto& run : all) {
        auto both = of_file;
        add(both, run.mistakes);
        run.mistakes = sorted(both);
    }
    return all;
}

void prepare(std::span<scenario> all, const std::function<bool()>& stop) {
    std::map<std::string, std::vector<std::uint64_t>> seeds;
    for (const auto& run : all) seeds[identity(run)].push_back(run.seed);
    for (auto& run : all) {
        if (stop && stop()) return;
        if (!run.prepare || !run.mistakes.empty()) continue;
        const input_record inputs;
        const auto mistakes = mistakes_in(run.file, [&](diagnostics& found) {
            run.prepare(run.seed, seeds[identity(run)], stop, found);
        });
        if (stop && stop()) return;  // perhaps in the middle of its preparation
        run.mistakes = sorted(mistakes);
        run.text_digest = inputs.mixed_into(run.text_digest);
    }
}

diagnostics mistakes_of(std::span<const scenario> all) {
    diagnostics found;
    for (const auto& run : all) add(found, run.mistakes);
    return found;
}

std::vector<std::filesystem::path> find_files(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    std::error_code unreadable;
    if (!fs::exists(fs::symlink_status(path, unreadable))) {
        diagnostic missing;
        missing.code = mistake::unreadable_file;
        missing.file = path.string();
        missing.message = "no such scenario or folder";
        if (const auto folder = share_folder("scenarios", {"../scenarios"}, path.string());
            !folder.empty())
            missing.message += fmt::format("; did you mean '{}'?", (folder / path).string());
        throw config_error(missing);
    }
    if (!fs::is_directory(path, unreadable)) return {path};
    std::vector<fs::path> files;
    find_in(path, files);
    std::ranges::sort(files);
    return files;
}

}  // namespace trn::scenario

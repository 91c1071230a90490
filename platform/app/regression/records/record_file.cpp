// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/records/record_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/app/regression/records/fields.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/json.h"

namespace trn::regression {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uint64_t version = 1;
constexpr std::uint64_t max_file = std::uint64_t{4} << 30;
constexpr std::size_t max_line = std::size_t{256} << 20;
constexpr std::size_t max_steps = 200'000, max_figures = 10'000, max_notes = 10'000, max_depth = 64;
constexpr std::size_t max_log = std::size_t{256} << 10, max_picture = std::size_t{16} << 20;
constexpr std::size_t max_damaged_shown = 10;
constexpr std::size_t lines_of_passed = 30, lines_of_failed = 300;

const std::pair<scenario::outcome::verdict, const char*> verdicts[]{
    {scenario::outcome::verdict::passed, "passed"},
    {scenario::outcome::verdict::failed, "failed"},
    {scenario::outcome::verdict::crashed, "crashed"},
    {scenario::outcome::verdict::timed_out, "timed out"},
    {scenario::outcome::verdict::memory_exceeded, "out of memory"},
    {scenario::outcome::verdict::not_loaded, "not loaded"}};

json header_of(const run_record& run) {
    json boards = json::object();
    for (const auto& [key, board] : run.boards)
        boards[key] = {{"digest", board.digest}, {"picture", board.picture}};
    return {{"trnvp run", version},        {"build", run.build},
            {"options", run.options},      {"started", run.started},
            {"machine", run.machine},      {"shard", {run.part, run.parts}},
            {"boards", std::move(boards)}, {"whole", run.whole}};
}

json end_of(const run_record& run) {
    return {{"end", {{"wall_s", run.wall_s}, {"coverage", run.coverage}, {"notes", run.notes}}}};
}

/// Adds the file of a line where it is not the scenario's.
json with_file(json entry, const std::string& file, const result& owner) {
    if (!file.empty() && file != owner.description.file) entry.push_back(file);
    return entry;
}

json steps_of(const result& run) {
    json steps = json::array();
    for (const auto& step : run.outcome.timeline) {
        json inside = json::array();
        for (const auto& container : step.inside)
            inside.push_back(with_file({container.name, container.line}, container.file, run));
        steps.push_back(
            with_file({step.step, step.line, step.at_ns, std::move(inside)}, step.file, run));
    }
    return steps;
}

/// The part of a log that reports show.
std::string_view shown_log(const scenario::outcome& outcome) {
    auto log =
        scenario::last_lines(outcome.log, outcome.passed() ? lines_of_passed : lines_of_failed);
    if (log.size() > max_log) log.remove_prefix(log.size() - max_log);
    return log;
}

json to_json(const result& run) {
    const auto& [described, outcome] = std::tie(run.description, run.outcome);
    json line{{"n", run.number},
              {"file", described.file},
              {"name", described.name},
              {"run", described.run},
              {"campaign", described.campaign},
              {"seed", described.seed},
              {"tags", described.tags},
              {"board", described.board},
              {"board_key", run.board_key},
              {"beginning", run.beginning},
              {"fingerprint", run.fingerprint},
              {"status", scenario::word(outcome.result)},
              {"message", outcome.message},
              {"step", outcome.step},
              {"at", {outcome.file, outcome.place.line, outcome.place.column}},
              {"state", outcome.state},
              {"log", shown_log(outcome)},
              {"first_step_s", outcome.first_step_s},
              {"wall_s", outcome.wall_s},
              {"beginning_s", outcome.beginning_s},
              {"own_s", outcome.own_s},
              {"simulated_ns", outcome.simulated_ns},
              {"digest", scenario::digest_text(outcome)},
              {"steps", steps_of(run)},
              {"figures", outcome.figures},
              {"notes", outcome.notes}};
    if (!run.fidelity.is_null()) line["fidelity"] = run.fidelity;
    return line;
}

// --- Reading

scenario::outcome::verdict verdict_of(const fields& line) {
    const auto word = line.text("status");
    for (const auto& [value, known] : verdicts)
        if (word == known) return value;
    line.refuse("status", fmt::format("'{}' is no status", word));
}

std::uint64_t digest_of(const fields& line) {
    const auto text = line.text("digest", 16);
    if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != text.npos)
        line.refuse("digest", "16 hexadecimal digits were expected");
    return std::stoull(text, nullptr, 16);
}

bool is_line(const json& value) {
    return value.is_number_integer() && value >= 0 && value <= 1'000'000'000;
}

/// Whether `entry` is a list of `size` members, or of one more: the file of its line.
bool is_entry(const json& entry, std::size_t size) {
    return entry.is_array() &&
           (entry.size() == size || (entry.size() == size + 1 && entry[size].is_string()));
}

std::string file_in(const json& entry, std::size_t size, const std::string& scenario_file) {
    return entry.size() > size ? entry[size].get<std::string>() : scenario_file;
}

std::vector<scenario::enclosing> enclosing_of(const json& list, const fields& line,
                                              const std::string& scenario_file) {
    std::vector<scenario::enclosing> all;
    for (const auto& container : list) {
        if (!is_entry(container, 2) || !container[0].is_string() || !is_line(container[1]) ||
            all.size() == max_depth)
            line.refuse("steps", "what encloses a step is a list of [name, line, file]");
        all.push_back({container[0].get<std::string>(), container[1].get<int>(),
                       file_in(container, 2, scenario_file)});
    }
    return all;
}

std::vector<scenario::outcome::begun> timeline_of(const fields& line,
                                                  const std::string& scenario_file) {
    std::vector<scenario::outcome::begun> all;
    for (const auto& step : line.list("steps", max_steps)) {
        if (!is_entry(step, 4) || !step[0].is_string() || !is_line(step[1]) ||
            !step[2].is_number_unsigned() || !step[3].is_array())
            line.refuse("steps", "a step is [text, line, nanoseconds, enclosing, file]");
        all.push_back({step[0].get<std::string>(), step[1].get<int>(), step[2].get<std::uint64_t>(),
                       enclosing_of(step[3], line, scenario_file),
                       file_in(step, 4, scenario_file)});
    }
    return all;
}

std::vector<scenario::figure> figures_of(const fields& line) {
    std::vector<scenario::figure> all;
    for (const auto& entry : line.list("figures", max_figures)) {
        const fields f(entry, line.place() + ": 'figures'");
        scenario::figure& figure = all.emplace_back();
        figure = {f.text("name"), f.real("value"), f.text("unit")};
        if (f.has("at_least")) figure.min = f.real("at_least");
        if (f.has("at_most")) figure.max = f.real("at_most");
    }
    return all;
}

void read_place(const fields& line, scenario::outcome& outcome) {
    const auto& place = line.list("at", 3);
    if (place.size() != 3 || !place[0].is_string() || !is_line(place[1]) || !is_line(place[2]))
        line.refuse("at", "a place is [file, line, column]");
    outcome.file = place[0].get<std::string>();
    outcome.place = {place[1].get<int>(), place[2].get<int>(), 1};
}

result result_of(const json& value, const std::string& place) {
    const fields line(value, place);
    result run;
    run.number = line.number("n", scenario::max_runs);
    run.description.file = line.text("file");
    run.description.name = line.text("name");
    run.description.run = static_cast<unsigned>(line.number("run", scenario::max_runs));
    run.description.campaign = line.boolean("campaign");
    run.description.seed = line.number("seed");
    run.description.tags = line.texts("tags", 10'000);
    run.description.board = line.text("board");
    run.board_key = line.text("board_key");
    run.beginning = line.text("beginning");
    run.fingerprint = line.text("fingerprint");
    auto& outcome = run.outcome;
    outcome.result = verdict_of(line);
    outcome.message = line.text("message");
    outcome.step = line.text("step");
    read_place(line, outcome);
    if (line.has("state")) outcome.state = line.texts("state", max_notes);  // newer than the format
    outcome.log = line.text("log", max_log * 4);  // replacements of invalid bytes need more room
    outcome.first_step_s = line.real("first_step_s");
    outcome.wall_s = line.real("wall_s");
    outcome.beginning_s = line.real("beginning_s");
    outcome.own_s = line.real("own_s");
    outcome.simulated_ns = line.number("simulated_ns");
    outcome.trace_digest = digest_of(line);
    outcome.timeline = timeline_of(line, run.description.file);
    outcome.figures = figures_of(line);
    if (line.has("notes")) outcome.notes = line.texts("notes", max_notes);  // newer than the format
    if (line.has("fidelity")) run.fidelity = line.object("fidelity", 16);
    return run;
}

void check_version(const fields& line) {
    if (!line.has("trnvp run"))
        throw file_error(line.place() + ": this is not the record of a run of trnvp test");
    if (const auto found = line.number("trnvp run"); found != version)
        throw file_error(fmt::format("{}: version {} of the format; this program reads version {}",
                                     line.place(), found, version));
}

run_record run_of(const json& value, const std::string& place) {
    const fields line(value, place);
    check_version(line);
    run_record run;
    run.build = line.text("build");
    run.options = line.text_or_empty("options");
    // Reports print them as part of a command for a shell.
    if (!scenario::is_shell_words(run.options))
        line.refuse("options", "not words of a command line");
    run.started = static_cast<std::int64_t>(line.number("started", std::uint64_t{1} << 40));
    run.machine = line.text("machine");
    const auto& shard = line.list("shard", 2);
    const auto is_count = [](const json& n) {
        return n.is_number_unsigned() && n >= 1u && n <= scenario::max_runs;
    };
    if (shard.size() != 2 || !is_count(shard[0]) || !is_count(shard[1]) || shard[0] > shard[1])
        line.refuse("shard", "a shard is [2, 5]");
    run.part = shard[0].get<unsigned>();
    run.parts = shard[1].get<unsigned>();
    for (const auto& [key, board] : line.object("boards", scenario::max_runs).items()) {
        const fields b(board, place + ": board '" + key + "'");
        run.boards[key] = {b.text("digest"), b.text("picture", max_picture)};
    }
    run.whole = line.texts("whole", scenario::max_runs);
    run.complete = false;
    return run;
}

void read_end(const json& value, const std::string& place, run_record& run) {
    const auto end = fields(value, place).at("end");
    run.wall_s = end.real("wall_s");
    run.coverage = end.text("coverage", max_line);
    run.notes = end.texts("notes", scenario::max_runs);
    run.complete = true;
}

json parsed(std::string_view text, const std::string& place) {
    if (text.size() > max_line)
        throw file_error(fmt::format("{}: a line of more than {} bytes", place, max_line));
    auto value = config::parse_json(text);
    if (value.is_discarded()) throw file_error(place + ": this line is not JSON");
    return value;
}

/// Reads a line after the first one. \throws file_error when it is damaged
void read_line(std::string_view text, const std::string& place, run_record& run) {
    if (run.complete) throw file_error(place + ": a line after the end");
    const auto value = parsed(text, place);
    if (value.is_object() && value.contains("end")) {
        read_end(value, place, run);
    } else {
        run.results.push_back(result_of(value, place));
        run.results.back().description.options = run.options;
    }
}

fs::path part_of(const fs::path& file) {
    return file.string() + ".part";
}

/// The record in a folder; the incomplete one if there is one, since it is more recent.
fs::path file_of(const fs::path& path) {
    std::error_code unreadable;
    if (!fs::is_directory(path, unreadable)) return path;
    const auto file = path / record_name;
    return fs::exists(part_of(file), unreadable) ? part_of(file) : file;
}

/// Calls `take` with each complete line and its place. Returns whether the last line is complete.
template <typename Take>
bool each_line(std::string_view text, const std::string& name, std::size_t number, Take&& take) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == text.npos) return false;
        take(text.substr(0, end), fmt::format("{}:{}", name, ++number));
        text.remove_prefix(end + 1);
    }
    return true;
}

/// Whether the open file still has this name.
bool is_named(const unique_fd& file, const fs::path& name) {
    struct stat opened {
    }, named{};
    return fstat(file.get(), &opened) == 0 && stat(name.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Removes a record that a killed run has left, since it would count as the most recent.
void remove_abandoned(const fs::path& part) {
    const unique_fd left(open(part.c_str(), O_WRONLY | O_CLOEXEC));
    if (left && (flock(left.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        is_named(left, part))
        unlink(part.c_str());
}

}  // namespace

// --- Writing

record_writer::record_writer(const fs::path& folder, const run_record& run)
    : file_(folder / record_name), part_(part_of(file_)) {
    std::error_code refused;
    fs::create_directories(folder, refused);
    if (refused) throw file_error(fmt::format("{}: {}", folder.string(), refused.message()));
    do {
        out_ = unique_fd(open(part_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
        if (!out_) throw file_error(fmt::format("{}: {}", part_.string(), std::strerror(errno)));
        // Some network file systems have no locks; then the check is skipped.
        if (flock(out_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            throw file_error(
                fmt::format("{}: another process writes its report here", folder.string()));
    } while (!is_named(out_, part_));  // another process has just finished this record
    if (ftruncate(out_.get(), 0) != 0) lost_ = errno;
    write(line_of(header_of(run)));
}

record_writer::~record_writer() = default;

void record_writer::write(const std::string& line) {
    const auto text = line + "\n";
    for (std::size_t done = 0; done < text.size() && lost_ == 0;) {
        const auto count = ::write(out_.get(), text.data() + done, text.size() - done);
        if (count >= 0)
            done += static_cast<std::size_t>(count);
        else if (errno != EINTR)
            lost_ = errno;
    }
}

void record_writer::add(const result& run) {
    write(line_of(to_json(run)));
}

void record_writer::finish(const run_record& run) {
    write(line_of(end_of(run)));
    if (lost_ == 0 && std::rename(part_.c_str(), file_.c_str()) != 0) lost_ = errno;
    if (lost_ != 0)
        throw output_error(
            fmt::format("{}: cannot write this file: {}", part_.string(), std::strerror(lost_)));
}

std::string to_text(const run_record& run) {
    auto text = line_of(header_of(run)) + "\n";
    for (const auto& result : run.results) text += line_of(to_json(result)) + "\n";
    return text + line_of(end_of(run)) + "\n";
}

void write_record(const fs::path& folder, const run_record& run) {
    write_report(folder / record_name, to_text(run));
    remove_abandoned(part_of(folder / record_name));
}

run_record read_record(const fs::path& path) {
    const auto file = file_of(path);
    const auto name = file.string();
    std::vector<std::uint8_t> bytes;
    try {
        bytes = read_file(file, max_file);
    } catch (const file_error& why) {
        throw file_error(fmt::format("{}: {}", name, why.what()));
    }
    run_record run;
    bool any = false;
    std::size_t damaged = 0;
    each_line({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name, 0,
              [&](std::string_view text, const std::string& place) {
                  if (!std::exchange(any, true)) {
                      run = run_of(parsed(text, place), place);
                      return;
                  }
                  try {
                      read_line(text, place, run);
                  } catch (const file_error& why) {
                      if (++damaged <= max_damaged_shown) run.problems.emplace_back(why.what());
                  }
                  if (run.results.size() > scenario::max_runs)
                      throw file_error(place + ": too many results");
              });
    if (!any) throw file_error(name + ": the first line is missing: this is not a whole record");
    if (damaged > max_damaged_shown)
        run.problems.push_back(
            fmt::format("{}: {} more damaged lines", name, damaged - max_damaged_shown));
    std::ranges::stable_sort(run.results, {}, &result::number);
    return run;
}

std::vector<result> record_follower::poll() {
    std::vector<result> all;
    const auto file = file_of(folder_);
    std::ifstream input(file, std::ios::binary);
    std::string text;
    for (std::size_t size = std::size_t{16} << 20; size <= max_line; size *= 2) {
        input.clear();
        input.seekg(static_cast<std::streamoff>(offset_));
        text.resize(size);
        input.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(std::max<std::streamsize>(input.gcount(), 0)));
        if (text.size() < size || text.find('\n') != text.npos) break;
    }
    text.resize(text.rfind('\n') + 1);  // 0 without a complete line
    each_line(text, file.string(), line_, [&](std::string_view line, const std::string& place) {
        if (++line_ == 1) return;
        try {
            const auto value = parsed(line, place);
            if (!value.contains("end")) all.push_back(result_of(value, place));
        } catch (const file_error&) {
            // read_record() reports damaged lines.
        }
    });
    offset_ += text.size();
    return all;
}

}  // namespace trn::regression

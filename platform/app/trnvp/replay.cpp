// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/replay.h"

#include <fmt/format.h>

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "models/kinds.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/commands/output_files.h"
#include "platform/app/commands/wave_options.h"
#include "platform/app/endpoints/endpoints.h"
#include "platform/app/hart_option.h"
#include "platform/app/kinds_option.h"
#include "platform/app/protocol_option.h"
#include "platform/app/recording/log/survey.h"
#include "platform/app/recording/replay.h"
#include "platform/app/trace_name.h"
#include "platform/framework/attach/console/console_writer.h"
#include "platform/framework/attach/console/standard_streams.h"
#include "platform/framework/config/json.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/misuse/report.h"
#include "platform/framework/output.h"
#include "platform/framework/tlm/base_protocol.h"

namespace trn {

namespace {

using rpc::json;
using wall_clock = run_loop::wall_clock;

constexpr const char* as_recorded = "recorded";

struct replay_options {
    std::string folder, firmware, gdb;
    std::filesystem::path trace;
    wave_options waves;
    std::string uart = "none";
    std::string max_time = "86400 s";
    hart_choice hart{.mode = as_recorded};
    protocol_choice protocol;
    misuse::choices misuse;
    std::vector<std::string> kind_libraries;
    bool strict = false;
    bool json = false;
};

/// The result of a replay in words: no differences, or their number.
std::string verdict(const recording::replay::outcome& result) {
    if (result.interrupted) return "interrupted";
    if (result.differences == 0) return "as recorded";
    return fmt::format("{} difference{}", result.differences, result.differences == 1 ? "" : "s");
}

void print(const recording::replay::outcome& result, const recording::survey& content, bool same,
           double wall) {
    for (const auto& [time, text] : result.first)
        print_to(stdout, "{:>14}  {}\n", to_text(sc_core::sc_time::from_value(time)), text);
    if (result.differences > result.first.size())
        print_to(stdout, "{:>14}  and {} more\n", "", result.differences - result.first.size());
    if (!content.complete)
        print_to(stdout,
                 "the recording has no end: its platform was killed, or is still running\n");
    if (!same) print_to(stdout, "the platform differs from the recorded one\n");
    print_to(stdout, "trnvp: {}: {} events repeated, {} compared, {} simulated, {:.2f} s\n",
             verdict(result), result.repeated, result.compared, to_text(sc_core::sc_time_stamp()),
             wall);
}

void print_json(const recording::replay::outcome& result, const recording::survey& content,
                bool same, bool good, const json& misuse, double wall) {
    json first = json::array();
    for (const auto& [time, text] : result.first)
        first.push_back({{"time_ps", time}, {"text", text}});
    const json line{{"event", "replayed"},
                    {"good", good},
                    {"same_platform", same},
                    {"complete", content.complete},
                    {"interrupted", result.interrupted},
                    {"repeated", result.repeated},
                    {"compared", result.compared},
                    {"differences", result.differences},
                    {"first", first},
                    {"misuse", misuse},
                    {"time_ps", in_picoseconds(sc_core::sc_time_stamp())},
                    {"wall_seconds", wall}};
    print_raw(stdout, config::to_ascii(line) + "\n");
}

void show_consoles(platform& board) {
    board.methods().consoles().listen(
        [](std::string_view, std::string_view text) { console_writer::print(text); });
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::vector<fs::path> all;
    std::error_code unreadable;
    for (fs::recursive_directory_iterator file(folder, unreadable), end; !unreadable && file != end;
         file.increment(unreadable))
        all.push_back(file->path());
    return all;
}

std::uint64_t limit_of(const std::string& text) {
    const auto parsed = config::parse_time(text);
    if (const auto* time = std::get_if<picoseconds>(&parsed)) return time->value;
    throw user_error(
        fmt::format("--max-time: {}", config::refusal_text(std::get<config::refusal>(parsed))));
}

int run(const replay_options& chosen) {
    const auto max_time = limit_of(chosen.max_time);
    check_waves(chosen.waves);
    output_files files;
    for (const auto& file : files_of(chosen.folder)) files.keep(file, "part of the recording");
    files.add("--trace", chosen.trace);
    files.add("--vcd", chosen.waves.file);
    const auto start = wall_clock::now();
    const std::filesystem::path folder = chosen.folder;
    const auto about = recording::read_manifest(folder);
    recording::log_reader first_reading(folder);
    const auto content = recording::read_survey(first_reading, about);
    if (content.last_time > max_time)
        throw recording::recording_error(
            fmt::format("the recording ends at {} of simulated time, and this replay at {}: give "
                        "it more with --max-time",
                        to_text(sc_core::sc_time::from_value(content.last_time)),
                        to_text(sc_core::sc_time::from_value(max_time))));

    auto harts = chosen.hart;
    if (harts.mode == as_recorded) harts.mode = about.hart;
    harts.apply();
    chosen.protocol.apply();
    auto build = recording::options_of(about, folder, chosen.firmware);
    build.trace = chosen.trace;
    build.waves = chosen.waves;
    build.misuse.add(chosen.misuse);
    platform board(kinds(), build);
    standard_streams streams(board.loop().io());
    boost::asio::signal_set signals(board.loop().io(), SIGINT, SIGTERM);
    signals.async_wait([&board](auto error, int) {
        if (!error) board.loop().quit("interrupted");
    });
    endpoints ways_in(board);
    if (!chosen.gdb.empty()) ways_in.open_gdb(chosen.gdb);
    for (const auto& entrance : ways_in.all())
        print_to(stderr, "  {:<14} {}\n", entrance.purpose, entrance.address);
    if (chosen.uart == "stdout") show_consoles(board);

    recording::replay again(board, about, content, recording::log_reader(folder),
                            !chosen.gdb.empty());
    const auto result = again.run();
    const bool tolerant = !again.same() && !chosen.strict;
    const auto lost = board.finish_records();
    const bool good = lost.empty() && !result.interrupted && !misuse::failed() &&
                      !base_protocol::failed() && (result.differences == 0 || tolerant);
    const double wall = std::chrono::duration<double>(wall_clock::now() - start).count();
    if (chosen.json)
        print_json(result, content, again.same(), good, misuse::to_json(board.chips()), wall);
    else
        print(result, content, again.same(), wall);
    if (!chosen.json) print_misuse(board.chips());
    print_protocol_violations();
    if (!result.interrupted) signals.clear();
    const auto unread =
        streams.finish(result.interrupted ? std::optional(standard_streams::grace) : std::nullopt);
    if (!unread.empty()) print_to(stderr, "trnvp: {}\n", unread);
    return good && unread.empty() ? 0 : 1;
}

}  // namespace

void add_replay(cli::command* c, int& status) {
    auto chosen = std::make_shared<replay_options>();
    c->add_option("folder", chosen->folder, "folder written by 'trnvp run --record'")->required();
    c->add_option("--firmware", chosen->firmware, "flash image or ELF instead of the recorded one");
    c->add_option("--trace", chosen->trace,
                  "write the event trace here; .perfetto-trace for Perfetto")
        ->check(trace_name());
    add_wave_options(*c, chosen->waves);
    c->add_option("--gdb", chosen->gdb,
                  "serve GDB on this loopback port (0 chooses one) or Unix socket");
    add_kinds_option(*c, chosen->kind_libraries, kinds());
    add_hart_option(*c, chosen->hart);
    add_misuse_options(*c, chosen->misuse);
    add_protocol_option(*c, chosen->protocol);
    c->add_option("--uart", chosen->uart, "stdout or none")
        ->transform(cli::one_of({"stdout", "none"}));
    c->add_option("--max-time", chosen->max_time,
                  "refuse a recording that ends after this simulated time")
        ->capture_default_str();
    c->add_flag("--strict", chosen->strict,
                "differences are an error on another platform or firmware too");
    c->add_flag("--json", chosen->json, "the result as one JSON line");
    c->group_options("Platform", {"--firmware", "--kinds", "--hart", "--perf-map", "--max-time"});
    c->group_options("Reports",
                     {"--trace", "--vcd", "--vcd-signal", "--vcd-from", "--vcd-until", "--misuse",
                      "--misuse-allow", "--check-protocol", "--uart", "--strict", "--json"});
    c->examples({{"trnvp replay session --uart none", "status 0 if nothing differs"},
                 {"trnvp replay session --trace again.txt --json",
                  "with a trace, and the result as JSON"}});
    c->callback([chosen, &status] { status = run(*chosen); });
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/junit.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <optional>

#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"

namespace trn::regression {

using scenario::escaped;

namespace {

std::string properties(const scenario::outcome& outcome) {
    if (outcome.figures.empty() && outcome.notes.empty()) return "";
    std::string out = "    <properties>\n";
    const auto add = [&](std::string_view name, std::string_view value) {
        out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escaped(name),
                           escaped(value));
    };
    for (const auto& measured : outcome.figures) add(measured.name, measured.text());
    for (const auto& note : outcome.notes) add("note", note);
    return out + "    </properties>\n";
}

std::string failure(const result& run) {
    return fmt::format(
        "    <failure type=\"{}\" message=\"{}: {}\">{}again: {}\n</failure>\n"
        "    <system-out>{}</system-out>\n",
        word(run.outcome.result), escaped(place_text(run.description, run.outcome)),
        escaped(failure_text(run.outcome)), escaped(state_text(run.outcome, "")),
        escaped(repeat_command(run.description)), escaped(run.outcome.log));
}

/// File and line of the step that failed; of a scenario that passed, its file.
std::string place(const result& run) {
    const auto& outcome = run.outcome;
    if (run.passed() || outcome.place.line == 0)
        return fmt::format(" file=\"{}\"", escaped(run.description.file));
    return fmt::format(" file=\"{}\" line=\"{}\"",
                       escaped(outcome.file.empty() ? run.description.file : outcome.file),
                       outcome.place.line);
}

std::string test_case(const result& run) {
    auto out = fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"{}",
                           escaped(run.description.file), escaped(title(run.description)),
                           run.outcome.wall_s, place(run));
    auto body = properties(run.outcome);
    if (!run.passed()) body += failure(run);
    return out + (body.empty() ? "/>\n" : ">\n" + body + "  </testcase>\n");
}

std::string not_run(const std::string& identity) {
    const auto run = described_by(identity);
    return fmt::format(
        "  <testcase classname=\"{}\" name=\"{}\">\n    <error type=\"not run\" "
        "message=\"no shard has a result of this scenario\"/>\n  </testcase>\n",
        escaped(run.file), escaped(title(run)));
}

/// Quotes a cell of CSV.
std::string cell(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string bound(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string to_junit(const run_record& run) {
    const auto missing = run.missing();
    std::string cases;
    for (const auto& result : run.results) cases += test_case(result);
    for (const auto& identity : missing) cases += not_run(identity);
    return fmt::format(
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuite name=\"trnvp\" tests=\"{}\" failures=\"{}\"{} time=\"{:.3f}\" "
               "timestamp=\"{:%Y-%m-%dT%H:%M:%SZ}\" hostname=\"{}\">\n",
               run.results.size() + missing.size(), run.failed(),
               missing.empty() ? "" : fmt::format(" errors=\"{}\"", missing.size()), run.wall_s,
               fmt::gmtime(static_cast<std::time_t>(run.started)), escaped(run.machine)) +
           cases + "</testsuite>\n";
}

nlohmann::json to_json(const run_record& run) {
    auto list = nlohmann::json::array();
    for (const auto& result : run.results) {
        const auto& described = result.description;
        const auto& outcome = result.outcome;
        list.push_back({{"name", title(described)},
                        {"file", described.file},
                        {"place_file", outcome.file.empty() ? described.file : outcome.file},
                        {"line", outcome.place.line},
                        {"column", outcome.place.column},
                        {"status", word(outcome.result)},
                        {"step", outcome.step},
                        {"message", outcome.message},
                        {"state", outcome.state},
                        {"first_step_s", outcome.first_step_s},
                        {"wall_s", outcome.wall_s},
                        {"simulated_ns", outcome.simulated_ns},
                        {"trace_digest", digest_text(outcome)},
                        {"figures", outcome.figures},
                        {"notes", outcome.notes}});
    }
    return list;
}

std::string to_digests(const run_record& run) {
    std::string out;
    for (const auto& result : run.results)
        if (result.outcome.trace_digest != 0)
            out += fmt::format("{}  {}\n", digest_text(result.outcome),
                               readable(run_identity(result.description)));
    return out;
}

std::string to_figures(const run_record& run) {
    std::string out = "file,scenario,figure,value,unit,at least,at most\n";
    for (const auto& result : run.results)
        for (const auto& f : result.outcome.figures)
            out += fmt::format("{},{},{},{},{},{},{}\n", cell(result.description.file),
                               cell(title(result.description)), cell(f.name), f.value, cell(f.unit),
                               bound(f.min), bound(f.max));
    return out;
}

}  // namespace trn::regression

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

std::string properties(const scenario::outcome& how) {
    if (how.figures.empty() && how.notes.empty()) return "";
    std::string out = "    <properties>\n";
    const auto add = [&](std::string_view name, std::string_view value) {
        out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escaped(name),
                           escaped(value));
    };
    for (const auto& one : how.figures) add(one.name, one.text());
    for (const auto& note : how.notes) add("note", note);
    return out + "    </properties>\n";
}

std::string failure(const result& one) {
    return fmt::format(
        "    <failure type=\"{}\" message=\"{}: {}\">{}again: {}\n</failure>\n"
        "    <system-out>{}</system-out>\n",
        word(one.how.result), escaped(place_text(one.description, one.how)),
        escaped(failure_text(one.how)), escaped(state_text(one.how, "")),
        escaped(repeat_command(one.description)), escaped(one.how.log));
}

/// File and line of the step that failed; of a scenario that passed, its file.
std::string place(const result& one) {
    const auto& how = one.how;
    if (one.passed() || how.where.line == 0)
        return fmt::format(" file=\"{}\"", escaped(one.description.file));
    return fmt::format(" file=\"{}\" line=\"{}\"",
                       escaped(how.file.empty() ? one.description.file : how.file), how.where.line);
}

std::string test_case(const result& one) {
    auto out = fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"{}",
                           escaped(one.description.file), escaped(title(one.description)),
                           one.how.wall_s, place(one));
    auto body = properties(one.how);
    if (!one.passed()) body += failure(one);
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
    for (const auto& one : run.results) cases += test_case(one);
    for (const auto& one : missing) cases += not_run(one);
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
    for (const auto& one : run.results) {
        const auto& run = one.description;
        const auto& how = one.how;
        list.push_back({{"name", title(run)},
                        {"file", run.file},
                        {"place_file", how.file.empty() ? run.file : how.file},
                        {"line", how.where.line},
                        {"column", how.where.column},
                        {"status", word(how.result)},
                        {"step", how.step},
                        {"message", how.message},
                        {"state", how.state},
                        {"first_step_s", how.first_step_s},
                        {"wall_s", how.wall_s},
                        {"simulated_ns", how.simulated_ns},
                        {"trace_digest", digest_text(how)},
                        {"figures", how.figures},
                        {"notes", how.notes}});
    }
    return list;
}

std::string to_digests(const run_record& run) {
    std::string out;
    for (const auto& one : run.results)
        if (one.how.trace_digest != 0)
            out += fmt::format("{}  {}\n", digest_text(one.how),
                               readable(run_identity(one.description)));
    return out;
}

std::string to_figures(const run_record& run) {
    std::string out = "file,scenario,figure,value,unit,at least,at most\n";
    for (const auto& one : run.results)
        for (const auto& f : one.how.figures)
            out += fmt::format("{},{},{},{},{},{},{}\n", cell(one.description.file),
                               cell(title(one.description)), cell(f.name), f.value, cell(f.unit),
                               bound(f.min), bound(f.max));
    return out;
}

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/context/client_run.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/file.h"
#include "platform/framework/output.h"

namespace trn::scenario {

namespace {

/// A path relative to the scenario's file, if that exists: it does not depend on the current
/// folder.
std::string program_named(const std::string& word, const reader& r) {
    const auto beside = std::filesystem::path(r.node().file()).parent_path() / word;
    const bool path = word.find('/') != std::string::npos;
    return path && std::filesystem::is_regular_file(beside) ? beside.string() : word;
}

void check_end(const client_run& done, int status, const std::optional<wanted_text>& wanted,
               scenario_context& ctx) {
    constexpr std::size_t shown = 10;
    const auto output = done.output.empty() ? ", without output"
                                            : fmt::format(":\n{}", last_lines(done.output, shown));
    if (done.late)
        throw step_failure(fmt::format("still running after {:g} s of wall clock{}",
                                       static_cast<double>(done.wall_limit_ns) * 1e-9, output));
    if (done.status != status)
        throw step_failure(
            fmt::format("it ended with status {} instead of {}{}", done.status, status, output));
    if (wanted && !wanted->find(done.output, ctx))
        throw step_failure(fmt::format("output does not match '{}'{}", wanted->text, output));
}

struct client_spec {
    std::vector<std::string> command = {}, captures = {};
    std::uint8_t status = 0;
    std::optional<std::string> text = {}, matches = {};
    nanoseconds wall_limit{30'000'000'000};

    client_run asked = {};
    std::optional<wanted_text> wanted = {};
    void finish(const reader& r) {
        if (command.empty()) {
            r.node().find("command").report(mistake::bad_count, "a program and its words");
            command.emplace_back();
        }
        asked.command = command;
        asked.command.front() = program_named(command.front(), r);
        for (const auto& word : asked.command)
            if (word.find('/') != word.npos || word != asked.command.front()) note_input(word);
        asked.wall_limit_ns = wall_limit.value;
        if (text)
            wanted = wanted_text_of(r, "text", *text, captures);
        else if (matches)
            wanted = wanted_text_of(r, "matches", *matches, captures);
    }
    action plan() const {
        return {.text = fmt::format("client {}", fmt::join(command, " ")),
                .work =
                    [s = *this](scenario_context& ctx) {
                        auto now = s.asked;
                        ctx.serve_client(now);
                        print_to(stdout, "{}", now.output);
                        check_end(now, s.status, s.wanted, ctx);
                    },
                .has_status = false};
    }
};

}  // namespace

std::vector<step_kind> client_steps() {
    using c = client_spec;
    return {step_of<c>(
        "client", "runs a program of yours on the platform",
        keys<c>{
            key("command", &c::command, "a program and its arguments").required(),
            key("status", &c::status, "exit status that the program must have"),
            key("text", &c::text, "its output must contain this"),
            key("matches", &c::matches, "a regular expression that its output must match"),
            key("as", &c::captures, "names for the matches of its groups").only_with({"matches"}),
            key("wall_limit", &c::wall_limit, "wall time after which it is ended").positive()}
            .one_of({"text", "matches"}))};
}

}  // namespace trn::scenario

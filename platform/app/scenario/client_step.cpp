// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "platform/app/scenario/action.h"
#include "platform/app/scenario/client.h"
#include "platform/app/scenario/condition.h"
#include "platform/app/scenario/report.h"
#include "platform/framework/output.h"

namespace trn::scenario {

namespace {

/// A program beside the scenario is found wherever that is run.
std::string program_named(const std::string& word, const reader& r) {
    const auto beside = std::filesystem::path(r.node().file()).parent_path() / word;
    const bool path = word.find('/') != std::string::npos;
    return path && std::filesystem::is_regular_file(beside) ? beside.string() : word;
}

void check_end(const visit& done, int status, const std::optional<wanted_text>& wanted, world& w) {
    constexpr std::size_t shown = 10;
    const auto said = done.output.empty() ? ", and printed nothing"
                                          : fmt::format(":\n{}", last_lines(done.output, shown));
    if (done.late)
        throw step_failure(fmt::format("still running after {:g} s of wall clock{}",
                                       static_cast<double>(done.wall_limit_ns) * 1e-9, said));
    if (done.status != status)
        throw step_failure(
            fmt::format("it ended with status {} instead of {}{}", done.status, status, said));
    if (wanted && !wanted->find(done.output, w))
        throw step_failure(fmt::format("'{}' is not what it printed{}", wanted->text, said));
}

}  // namespace

action read_client(const reader& r) {
    r.only({"command", "status", "text", "matches", "as", "wall_limit"});
    visit asked;
    asked.command = r.texts("command");
    if (asked.command.empty()) {
        r.node().at("command").report(mistake::bad_count, "a program and its words");
        asked.command.emplace_back();
    }
    const auto text = fmt::format("client {}", fmt::join(asked.command, " "));
    asked.command.front() = program_named(asked.command.front(), r);
    asked.wall_limit_ns = r.time("wall_limit", 30'000'000'000);
    const auto status = static_cast<int>(r.number("status", 255, 0));
    std::optional<wanted_text> wanted;
    if (r.has("text") || r.has("matches"))
        wanted = read_wanted_text(r, r.has("text"), r.has("text") ? "text" : "matches");
    return {text, [=](world& w) {
                auto now = asked;
                w.receive(now);
                print_to(stdout, "{}", now.output);
                check_end(now, status, wanted, w);
            }};
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/records/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "platform/app/regression/records/fields.h"
#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/mix_in.h"

namespace trn::regression {

namespace {

struct annotation {
    std::string file;
    int line, column;
    std::string title, message;
};

annotation annotation_of(const row& runs) {
    const auto& shown = runs.shown();
    const auto& outcome = shown.outcome;
    auto message = failure_text(outcome);
    if (runs.campaign()) message = campaign_text(runs) + "; " + message;
    return {
        outcome.file.empty() ? shown.description.file : outcome.file,
        std::max(outcome.place.line, 1), std::max(outcome.place.column, 1), runs.title(),
        fmt::format("{}\nagain: {}", printable_lines(message), repeat_command(shown.description))};
}

/// Escapes text for a workflow command; with `property` also ':' and ','.
std::string escaped_command(std::string_view text, bool property) {
    std::string out;
    for (const char c : text)
        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
            out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
            out += c;
    return out;
}

}  // namespace

std::string to_github(const run_record& run) {
    std::string out;
    for (const auto& runs : rows_of(run)) {
        if (runs.failed() == 0) continue;
        const auto failed = annotation_of(runs);
        out += fmt::format("::error file={},line={},col={},title={}::{}\n",
                           escaped_command(failed.file, true), failed.line, failed.column,
                           escaped_command(failed.title, true),
                           escaped_command(failed.message, false));
    }
    for (const auto& missing : run.missing())
        out += fmt::format("::error file={},title=not run::{}\n",
                           escaped_command(missing.substr(0, missing.find('\t')), true),
                           escaped_command(readable(missing), false));
    return out;
}

std::string to_gitlab(const run_record& run) {
    auto list = nlohmann::json::array();
    for (const auto& runs : rows_of(run)) {
        if (runs.failed() == 0) continue;
        const auto failed = annotation_of(runs);
        const auto hash = mix_in(first_mix, fmt::format("{}\n{}", failed.file, failed.title));
        list.push_back(
            {{"description", fmt::format("{}: {}", failed.title, failed.message)},
             {"check_name", "trnvp test"},
             {"fingerprint", fmt::format("{:016x}", hash)},
             {"severity", "major"},
             {"location", {{"path", failed.file}, {"lines", {{"begin", failed.line}}}}}});
    }
    return line_of(list) + "\n";
}

}  // namespace trn::regression

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
    const auto& one = runs.shown();
    const auto& how = one.how;
    auto message = failure_text(how);
    if (runs.campaign()) message = campaign_text(runs) + "; " + message;
    return {
        how.file.empty() ? one.description.file : how.file, std::max(how.where.line, 1),
        std::max(how.where.column, 1), runs.title(),
        fmt::format("{}\nagain: {}", printable_lines(message), repeat_command(one.description))};
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
        const auto one = annotation_of(runs);
        out += fmt::format("::error file={},line={},col={},title={}::{}\n",
                           escaped_command(one.file, true), one.line, one.column,
                           escaped_command(one.title, true), escaped_command(one.message, false));
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
        const auto one = annotation_of(runs);
        const auto hash = mix_in(first_mix, fmt::format("{}\n{}", one.file, one.title));
        list.push_back({{"description", fmt::format("{}: {}", one.title, one.message)},
                        {"check_name", "trnvp test"},
                        {"fingerprint", fmt::format("{:016x}", hash)},
                        {"severity", "major"},
                        {"location", {{"path", one.file}, {"lines", {{"begin", one.line}}}}}});
    }
    return line_of(list) + "\n";
}

}  // namespace trn::regression

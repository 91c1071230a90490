// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/misuse_option.h"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "platform/framework/config/file.h"
#include "platform/framework/misuse/allowance_text.h"
#include "platform/framework/misuse/report.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

constexpr const char* allow_option = "--misuse-allow";

/// An allowance, or a file of them.
void allow(const std::string& text, std::vector<misuse::allowance>& allowances) {
    if (text.find('=') != text.npos)
        return allowances.push_back(misuse::parse_allowance(text, allow_option));
    note_input(text);
    for (auto& allowance : misuse::load_allowances(text))
        allowances.push_back(std::move(allowance));
}

}  // namespace

void add_misuse_options(cli::command& command, misuse::choices& chosen) {
    command
        .add_option_function<std::vector<std::string>>(
            "--misuse",
            [&chosen](const std::vector<std::string>& texts) {
                for (const auto& text : texts) try {
                        chosen.policies.push_back(misuse::policy_choice::parse(text));
                    } catch (const std::invalid_argument& wrong) {
                        cli::refuse_value("--misuse", wrong.what());
                    }
            },
            "log, count or fail when software breaks a rule of doc/rules.md; "
            "fail:TRN-DMA-003,... for some")
        ->allow_extra_args(false);
    command
        .add_option_function<std::vector<std::string>>(
            allow_option,
            [&chosen](const std::vector<std::string>& texts) {
                for (const auto& text : texts) allow(text, chosen.allowances);
            },
            "rule=TRN-DMA-004,at=chip*.udma*,count=3,reason=WHY: an exception to a rule; or a file "
            "of exceptions")
        ->allow_extra_args(false);
}

void print_misuse(const std::vector<std::string>& chips) {
    print_to(stderr, "{}", misuse::to_text(chips));
    if (misuse::failed()) print_to(stderr, "trnvp: a misuse rule failed the run\n");
}

}  // namespace trn

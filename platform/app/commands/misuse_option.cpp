// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/misuse_option.h"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "platform/framework/misuse/report.h"
#include "platform/framework/output.h"

namespace trn {

void add_misuse_option(cli::command& command, std::vector<misuse::policy_choice>& choices) {
    command
        .add_option_function<std::vector<std::string>>(
            "--misuse",
            [&choices](const std::vector<std::string>& texts) {
                for (const auto& text : texts) try {
                        choices.push_back(misuse::policy_choice::parse(text));
                    } catch (const std::invalid_argument& wrong) {
                        cli::refuse_value("--misuse", wrong.what());
                    }
            },
            "log, count or fail when software breaks a rule of doc/rules.md; "
            "fail:TRN-DMA-003,... for some")
        ->allow_extra_args(false);
}

void apply(const std::vector<misuse::policy_choice>& choices) {
    for (const auto& one : choices) one.apply();
}

void print_misuse(const std::vector<std::string>& chips) {
    print_to(stderr, "{}", misuse::to_text(chips));
    if (misuse::failed()) print_to(stderr, "trnvp: a misuse rule failed the run\n");
}

}  // namespace trn

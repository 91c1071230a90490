// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/commands/guarded.h"
#include "platform/app/platform.h"
#include "platform/framework/misuse/policy.h"

namespace trn {

/// The options to build, run and observe a board that `run` and `guest` have in common.
struct board_options {
    platform_options build;
    std::string timing = "contended";
    std::string policy = "free";
    std::vector<misuse::policy_choice> misuse;
    std::filesystem::path record, fidelity_report;

    void add_to(CLI::App& command);
    /// \throws user_error
    platform_options checked() const;
};

}  // namespace trn

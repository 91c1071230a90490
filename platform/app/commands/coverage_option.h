// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "platform/framework/command_line/options.h"
#include "platform/framework/loader/coverage.h"

namespace trn {

/// Adds --coverage FILE.
void add_coverage_option(cli::command& command, std::filesystem::path& file);

/// Writes the tracefile, and to standard error the programs that it does not cover.
/// \throws config_error
void write_coverage(const coverage& all, const std::filesystem::path& file);
/// Writes to standard error the addresses of executed code that belongs to no program; there should
/// be none.
void warn_of_unknown_code(const coverage& all);

}  // namespace trn

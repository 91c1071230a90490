// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>

#include "platform/framework/loader/coverage.h"

namespace trn {

/// --coverage FILE
void add_coverage_option(CLI::App& command, std::filesystem::path& file);

/// Writes the tracefile, and to standard error which programs it says nothing of.
/// \throws config_error
void write_coverage(const coverage& all, const std::filesystem::path& file);
/// Likewise what ran that is in no program: nothing should.
void warn_of_unknown_code(const coverage& all);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/coverage_option.h"

#include <fmt/format.h>

#include <cstdio>

#include "platform/app/report_file.h"
#include "platform/framework/loader/lcov.h"
#include "platform/framework/output.h"

namespace trn {

void add_coverage_option(cli::command& command, std::filesystem::path& file) {
    command.add_option("--coverage", file,
                       "write which lines and branches of the firmware ran, for LCOV");
}

void write_coverage(const coverage& all, const std::filesystem::path& file) {
    const auto report = to_lcov(all);
    write_report(file, report.text);
    for (const auto& warning : report.warnings) print_to(stderr, "trnvp: warning: {}\n", warning);
    if (report.text.empty() && report.warnings.empty())
        print_to(stderr, "trnvp: warning: {} is empty: no line of a program ran\n", file.string());
}

void warn_of_unknown_code(const coverage& all) {
    if (const auto address = all.unknown_code())
        print_to(stderr,
                 "trnvp: warning: code was executed that no ELF file beside the firmware has, "
                 "such as at {:#x}: it is in no line of the coverage\n",
                 *address);
}

}  // namespace trn

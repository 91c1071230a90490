// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/annotate_option.h"

#include <cstdio>

#include "platform/app/regression/pages/write_one.h"
#include "platform/app/regression/records/annotations.h"
#include "platform/framework/output.h"

namespace trn {

void add_annotate_option(cli::command& command, std::string& service) {
    command
        .add_option("--annotate", service,
                    "show failures at their lines: github prints workflow commands, gitlab writes "
                    "gl-code-quality-report.json beside the reports")
        ->transform(cli::one_of({"github", "gitlab"}));
}

std::string annotate(const std::string& service, const regression::run_record& run,
                     const std::filesystem::path& folder) {
    if (service == "github") print_to(stdout, "{}", regression::to_github(run));
    if (service != "gitlab") return {};
    return regression::write_one(folder / "gl-code-quality-report.json",
                                 [&] { return regression::to_gitlab(run); });
}

}  // namespace trn

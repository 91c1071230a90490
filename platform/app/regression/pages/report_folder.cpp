// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/report_folder.h"

#include <algorithm>
#include <system_error>

#include "platform/app/regression/pages/html_report.h"
#include "platform/app/regression/pages/junit.h"
#include "platform/app/regression/pages/merged_fidelity.h"
#include "platform/app/regression/pages/write_one.h"

namespace trn::regression {

namespace fs = std::filesystem;

namespace {

/// Writes a report, or removes an older report of that name if `text` is empty.
std::string write_if_any(const fs::path& file, const std::string& text) {
    if (!text.empty()) return write_one(file, [&] { return text; });
    std::error_code ignored;
    fs::remove(file, ignored);
    return {};
}

bool any_figure(const run_record& run) {
    return std::ranges::any_of(run.results,
                               [](const result& r) { return !r.outcome.figures.empty(); });
}

}  // namespace

std::string write_reports(const fs::path& folder, const run_record& run, const history& past) {
    const auto fidelity = merged_fidelity(run);
    auto lost = write_one(folder / "report.xml", [&] { return to_junit(run); });
    lost += write_pages(folder, run, past);
    lost += write_if_any(folder / "coverage.info", run.coverage);
    lost += write_if_any(folder / "digests.txt", to_digests(run));
    lost += write_if_any(folder / "figures.csv", any_figure(run) ? to_figures(run) : "");
    lost +=
        write_if_any(folder / "fidelity.json", fidelity.is_null() ? "" : fidelity.dump(1) + "\n");
    return lost;
}

}  // namespace trn::regression

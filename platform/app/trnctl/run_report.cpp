// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnctl/run_report.h"

#include <utility>

#include "platform/app/report_file.h"
#include "platform/app/trnctl/error_text.h"
#include "platform/framework/config/json.h"
#include "platform/framework/terminal_text.h"
#include "sw-stubs/programs/include/trn_program.h"

namespace trn {

run_report::run_report(std::string file) : file_(std::move(file)) {
    if (file_.empty()) return;
    outer_ = log::replace_sink({});
    log::replace_sink([this](const log::record& record) {
        if (!record.rule.empty())
            report_["misuse"].push_back({{"rule", record.rule},
                                         {"module", record.module},
                                         {"time_ps", record.time_ps},
                                         {"line", terminal_text(log::to_line(record))}});
        if (outer_) outer_(record);
    });
}

run_report::~run_report() {
    if (!file_.empty()) log::replace_sink(std::move(outer_));
}

void run_report::set_error(const std::exception& error,
                           const std::optional<engine_failure>& failure) {
    report_["error"] = error_text(error);
    if (!failure) return;
    auto& object = report_["failure"] = {{"chip", failure->chip},
                                         {"core", failure->core},
                                         {"engine", trn_core_engine_name(failure->engine)},
                                         {"pc", failure->pc},
                                         {"error", trn_core_error_name(failure->error)},
                                         {"detail", failure->detail}};
    if (!failure->file.empty()) {
        object["file"] = failure->file;
        object["line"] = failure->line;
    }
}

void run_report::write() const {
    if (!file_.empty()) write_report(file_, config::to_ascii(report_) + "\n");
}

}  // namespace trn

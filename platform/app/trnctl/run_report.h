// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "platform/framework/log.h"
#include "sw-stubs/host/programs/group.h"

namespace trn {

/// The result of a program's run for other programs (doc/programs.md): its error, and the rules
/// that it broke on a board of this process.
class run_report {
public:
    /// "": no report. Observes the log while the report exists.
    explicit run_report(std::string file);
    ~run_report();
    run_report(const run_report&) = delete;
    run_report& operator=(const run_report&) = delete;

    void set_error(const std::exception& error, const std::optional<engine_failure>& failure);
    /// \throws output_error
    void write() const;

private:
    const std::string file_;
    nlohmann::json report_{{"misuse", nlohmann::json::array()}};
    log::sink outer_;
};

}  // namespace trn

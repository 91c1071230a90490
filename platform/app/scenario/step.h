// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/app/scenario/parameters.h"
#include "platform/framework/misuse/policy.h"

namespace trn::scenario {

class scenario_context;

/// A step that failed: what() is the message of the report.
class step_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A value that a run measured, and its bounds.
struct figure {
    std::string name;
    double value = 0;
    std::string unit;  ///< "GB/s", "us"
    std::optional<double> min = {}, max = {};

    bool within_bounds() const { return !(min && value < *min) && !(max && value > *max); }
    std::string text() const;  ///< "57.6 GB/s (54.7 to 58.2)"
};

/// What a step may know of its scenario while the file is read.
struct setting {
    std::string board;
    std::uint64_t seed = 1;
};

/// What a step does. Its work runs in a process of the host CPU.
struct action {
    std::string text = {};  ///< "copy host to hbm0@0x1000000, 65537 bytes"
    std::function<void(scenario_context&)> work = {};
    std::vector<misuse::rule> provokes = {};  ///< violations of these rules are expected
    std::string shared = {};  ///< scenarios with the same text share the step's run; "": never
    std::string keeps = {}, returns_to = {};  ///< the snapshot that the step takes, or restores
    bool drives = true;  ///< uses the driver stub, which runs one call at a time
    /// Called before the first run, when the file has no mistake; reports mistakes in it.
    std::function<void(const setting&)> prepare = {};
};

/// The parent of a step: a sequence that is called in this line, a branch (line 0), or (without a
/// name) the step of this line.
struct enclosing {
    std::string name;
    int line = 0;
    bool operator==(const enclosing&) const = default;
};

/// One line of a scenario, read and checked.
struct step : action {
    config::place where = {};
    std::string file = {};                 ///< of `where`
    std::optional<trn_status> fails = {};  ///< the status with which the device call must fail
    std::string saying = {};               ///< and a part of its message
    std::vector<enclosing> inside = {};    ///< outermost first
};

}  // namespace trn::scenario

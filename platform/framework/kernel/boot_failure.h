// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trn {

/// Interface of a module that detects why its chip cannot boot; a run with such a failure fails.
class reports_boot_failure {
public:
    /// The reason, e.g. "the firmware stopped in a panic"; empty while the chip runs or may still
    /// boot.
    virtual std::string boot_failure() const = 0;

protected:
    ~reports_boot_failure() = default;
};

}  // namespace trn

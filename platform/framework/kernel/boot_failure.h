// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trn {

/// A module that knows why its chip does not come up (introspection.h): a run that ends so failed.
class reports_boot_failure {
public:
    /// "the firmware stopped in a panic"; empty while it is up or may come up.
    virtual std::string boot_failure() const = 0;

protected:
    ~reports_boot_failure() = default;
};

}  // namespace trn

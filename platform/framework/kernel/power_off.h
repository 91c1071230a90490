// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trn {

/// Interface of a module through which software powers its machine off: `--until off` waits for
/// all.
class reports_power_off {
public:
    virtual bool is_off() const = 0;

protected:
    ~reports_power_off() = default;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>

#include "platform/app/scenario/context/watch.h"
#include "sw-stubs/host/machine/device.h"

namespace trn::scenario {

/// Lets simulated time pass in a process of the host CPU.
class waits {
public:
    explicit waits(device& chip) : chip_(chip) {}

    /// Advances simulated time by at least `nanoseconds`.
    void sleep(std::uint64_t nanoseconds) { chip_.check(trn_sleep(chip_, nanoseconds)); }
    /// Polls `condition` every 10 us of simulated time, for at most `within` nanoseconds.
    template <typename Condition>
    bool wait_for(std::uint64_t within, Condition&& condition) {
        return wait({within}, condition, [this](std::uint64_t max) { sleep(max); });
    }
    /// Waits until the condition is met; false at the time limit. `text`: describes the condition.
    bool wait_for(const timeout& limit, watch& condition, const std::string& text);

    struct awaited {
        std::string text;
        const watch* condition;
    };
    /// Conditions that steps are waiting for.
    const std::list<awaited>& current() const { return current_; }

private:
    template <typename Condition, typename Pause>
    bool wait(const timeout& limit, Condition&& condition, Pause&& pause) {
        const auto start = trn_now(chip_);
        while (!condition()) {
            const auto spent = trn_now(chip_) - start;
            if (spent >= limit.within) return false;
            pause(std::min(limit.every, limit.within - spent));
        }
        return true;
    }

    device& chip_;
    std::list<awaited> current_;
};

}  // namespace trn::scenario

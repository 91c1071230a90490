// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "platform/app/platform.h"
#include "platform/app/scenario/network.h"
#include "platform/app/scenario/watch.h"
#include "platform/framework/attach/control/control.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/snapshots/io_hooks.h"
#include "sw-stubs/host/collectives/collective.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/machine/location.h"
#include "sw-stubs/host/machine/machine.h"
#include "sw-stubs/host/values/pattern.h"

namespace trn::scenario {

class progress;
struct client_run;
struct step;
class hart_watch;
class running_programs;

/// Everything that steps access: the device through the driver stub, the platform through its
/// control methods.
class scenario_context {
public:
    scenario_context(trn::device& device, host_set& hosts, trn::control& control,
                     std::uint64_t seed, platform* board = nullptr)
        : device(device), hosts(hosts), control(control), seed(seed), board(board) {}

    trn::device& device;  ///< the first chip
    host_set& hosts;      ///< the hosts of all chips
    trn::control& control;
    const std::uint64_t seed;
    platform* const board;  ///< for access to modules without control methods

    /// A running copy with its buffers.
    struct job {
        trn_job id = 0;
        std::unique_ptr<host_buffer> from, to;
    };
    std::map<std::string, job> jobs;
    /// programs in the background, by name
    std::map<std::string, std::shared_ptr<running_programs>> programs;
    std::optional<machine> chips;                    ///< made by the first step that uses all chips
    std::optional<network> cards;                    ///< made by the first step that uses the cards
    std::optional<collective_group> group;           ///< made by the first collective step
    std::string group_image;                         ///< file of the group's firmware
    std::map<std::string, std::uint64_t> uart_read;  ///< by console: bytes that steps have matched
    std::map<std::string, std::string> captured;     ///< values captured by `as`, by name
    const progress* report = nullptr;  ///< set during a run, for steps that contain steps
    std::map<std::string, std::shared_ptr<hart_watch>> harts;  ///< harts with breakpoints, by name
    bool failed = false;  ///< a branch has failed: other branches end before their next step
    std::string failure;  ///< why the first of them failed
    struct awaited {
        std::string text;
        const watch* looks;
    };
    std::list<awaited> waits;  ///< conditions that steps are waiting for
    struct running_step {
        const step* one;
        sc_core::sc_time since;
    };
    std::list<running_step> in_progress;  ///< steps that have begun and not ended
    /// Whether a step fails during which software breaks a rule with the policy `fail`.
    bool checks_misuse = false;
    std::vector<std::string> injected;  ///< faults: "flap into wire3 at 2 ms"
    /// state_at_failure() at the first failure of a step.
    std::optional<std::vector<std::string>> state;
    /// Turns at the driver stub: of all steps that started so far, and the current one.
    std::uint64_t driver_turns = 0, driver_turn = 0;
    sc_core::sc_event driver_free{};  ///< notified when the current turn changes
    snapshots states{hooks_of(control.loop().io())};
    /// Serves a client on the platform while the calling process waits.
    std::function<void(client_run&)> receive;
    std::uint64_t draws = 0;    ///< number of random choices so far
    std::size_t next_step = 0;  ///< index of the step after the current one

    /// Advances simulated time by at least `nanoseconds`.
    void sleep(std::uint64_t nanoseconds) { device.check(trn_sleep(device, nanoseconds)); }
    /// Polls `condition` every 10 us of simulated time, for at most `within` nanoseconds.
    template <typename Condition>
    bool wait_for(std::uint64_t within, Condition&& condition) {
        return wait({within}, condition, [this](std::uint64_t max) { sleep(max); });
    }
    /// `text`: describes the condition in the list of waits.
    bool wait_for(const timeout& limit, watch& condition, const std::string& text) {
        const auto mine = waits.insert(waits.end(), {text, &condition});
        const std::shared_ptr<void> end(nullptr, [&](void*) { waits.erase(mine); });
        const auto* changed = condition.changed();
        return wait(
            changed ? timeout{limit.within, limit.within} : limit,
            [&] { return condition.is_met(); },
            [&](std::uint64_t max) {
                if (changed == nullptr) return sleep(max);
                const sc_core::sc_time now = sc_core::sc_time_stamp();
                const sc_core::sc_time span(static_cast<double>(max), sc_core::SC_NS);
                sc_core::wait(later(now, span) - now, *changed);
            });
    }

    /// An event that is notified when any console prints.
    const sc_core::sc_event& printed() {
        if (!printed_) {
            printed_ = std::make_shared<sc_core::sc_event>();
            control.consoles().listen(
                [event = printed_](auto, auto) { event->notify(sc_core::SC_ZERO_TIME); });
        }
        return *printed_;
    }

private:
    template <typename Condition, typename Pause>
    bool wait(const timeout& limit, Condition&& condition, Pause&& pause) {
        const auto start = trn_now(device);
        while (!condition()) {
            const auto spent = trn_now(device) - start;
            if (spent >= limit.within) return false;
            pause(std::min(limit.every, limit.within - spent));
        }
        return true;
    }

    std::shared_ptr<sc_core::sc_event> printed_;
};

}  // namespace trn::scenario

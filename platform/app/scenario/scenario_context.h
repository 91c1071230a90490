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

#include "platform/app/platform.h"
#include "platform/app/scenario/network.h"
#include "platform/framework/attach/control/control.h"
#include "platform/framework/snapshots/io_hooks.h"
#include "sw-stubs/host/collective.h"
#include "sw-stubs/host/device.h"
#include "sw-stubs/host/location.h"
#include "sw-stubs/host/machine.h"
#include "sw-stubs/host/pattern.h"

namespace trn::scenario {

class progress;
struct visit;
class hart_watch;

/// A look at something that a step waits for.
class watch {
public:
    virtual ~watch() = default;
    virtual bool there() = 0;
    virtual std::string found() const = 0;  ///< instead: "it is 3"
    /// Notified when a look is worth while; null: nobody says, so one looks now and then.
    virtual const sc_core::sc_event* changed() const { return nullptr; }
};

/// How long one waits, and how often one looks where nothing tells; nanoseconds, simulated.
struct patience {
    std::uint64_t within = 0, every = 10'000;
};

/// What steps act on: the device through the driver stub, the platform through its control methods.
class world {
public:
    world(trn::device& device, host_set& hosts, trn::control& control, std::uint64_t seed,
          const platform* board = nullptr)
        : device(device), hosts(hosts), control(control), seed(seed), board(board) {}

    trn::device& device;  ///< of the first chip
    host_set& hosts;      ///< of all chips
    trn::control& control;
    const std::uint64_t seed;
    const platform* const board;  ///< for what no control method offers

    /// A copy under way, with the memory it works on.
    struct job {
        trn_job id = 0;
        std::unique_ptr<host_buffer> from, to;
    };
    std::map<std::string, job> jobs;
    std::optional<machine> chips;                    ///< once a step has worked with all of them
    std::optional<network> cards;                    ///< likewise
    std::optional<collective_group> group;           ///< once a step has made a collective
    std::map<std::string, std::uint64_t> uart_read;  ///< bytes of each console that a step consumed
    std::map<std::string, std::string> captured;     ///< by name: what `as` of steps kept
    const progress* tell = nullptr;                  ///< for steps that consist of steps
    std::map<std::string, std::shared_ptr<hart_watch>> harts;  ///< whose functions steps wait for
    bool failed = false;              ///< a branch has: the others end before their next step
    std::list<std::string> waits;     ///< what branches wait for at this moment
    bool driver_busy = false;         ///< a step of some branch uses the driver stub
    sc_core::sc_event driver_free{};  ///< notified when one waits for that
    unsigned drivers_waiting = 0;
    snapshots states{hooks_of(control.loop().io())};
    /// Lets a client work on the platform while the caller, a process, waits.
    std::function<void(visit&)> receive;
    std::size_t next_step = 0;  ///< in the list of steps, behind the present one

    /// Lets simulated time pass; at least `nanoseconds`.
    void sleep(std::uint64_t nanoseconds) { device.check(trn_sleep(device, nanoseconds)); }
    /// Looks at `condition` every 10 us of simulated time, at most `within` nanoseconds long.
    template <typename Condition>
    bool wait_for(std::uint64_t within, Condition&& condition) {
        return wait({within}, condition, [this](std::uint64_t most) { sleep(most); });
    }
    /// `what`: for the report of who waits for what.
    bool wait_for(const patience& how, watch& looks, const std::string& what) {
        const auto mine = waits.insert(waits.end(), what);
        const auto* changed = looks.changed();
        const bool came = wait(
            changed ? patience{how.within, how.within} : how, [&] { return looks.there(); },
            [&](std::uint64_t most) {
                if (changed == nullptr) return sleep(most);
                sc_core::wait(sc_core::sc_time(static_cast<double>(most), sc_core::SC_NS),
                              *changed);
            });
        waits.erase(mine);
        return came;
    }

    /// Notified when a console has printed something.
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
    bool wait(const patience& how, Condition&& condition, Pause&& pause) {
        const auto start = trn_now(device);
        while (!condition()) {
            const auto spent = trn_now(device) - start;
            if (spent >= how.within) return false;
            pause(std::min(how.every, how.within - spent));
        }
        return true;
    }

    std::shared_ptr<sc_core::sc_event> printed_;
};

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "platform/attach/control/control.h"
#include "platform/scenario/network.h"
#include "sw-stubs/host/collective.h"
#include "sw-stubs/host/device.h"
#include "sw-stubs/host/location.h"
#include "sw-stubs/host/machine.h"
#include "sw-stubs/host/pattern.h"

namespace trn::scenario {

class progress;

/// What steps act on: the device through the driver stub, the platform through its control methods.
class world {
public:
    world(trn::device& device, crew& hosts, trn::control& control, std::uint64_t seed,
          const platform* board = nullptr)
        : device(device), hosts(hosts), control(control), seed(seed), board(board) {}

    trn::device& device;  ///< of the first chip
    crew& hosts;          ///< of all chips
    trn::control& control;
    const std::uint64_t seed;
    const platform* const board;  ///< for what no control method offers: cards' hosts

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

    /// Lets simulated time pass; at least `nanoseconds`.
    void sleep(std::uint64_t nanoseconds) { device.check(trn_sleep(device, nanoseconds)); }
    /// Looks at `condition` every 10 us of simulated time, at most `within` nanoseconds long.
    template <typename Condition>
    bool wait_for(std::uint64_t within, Condition&& condition) {
        constexpr std::uint64_t period = 10'000;
        const auto start = trn_now(device);
        while (!condition()) {
            const auto spent = trn_now(device) - start;
            if (spent >= within) return false;
            sleep(std::min(period, within - spent));
        }
        return true;
    }
};

}  // namespace trn::scenario

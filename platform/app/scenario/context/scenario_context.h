// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/app/scenario/context/kept_objects.h"
#include "platform/app/scenario/context/progress.h"
#include "platform/app/scenario/context/step_run.h"
#include "platform/app/scenario/context/waits.h"
#include "platform/framework/attach/control/control.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/machine/host_set.h"

namespace trn {
class platform;
}

namespace trn::scenario {

struct client_run;

/// What steps access: the device through the driver stub, the platform through its control methods,
/// and what earlier steps have left.
class scenario_context {
public:
    scenario_context(trn::device& device, host_set& hosts, trn::control& control,
                     std::uint64_t seed, const progress& report, platform* board = nullptr)
        : device(device),
          hosts(hosts),
          control(control),
          seed(seed),
          report(report),
          board(board),
          waits(device) {}

    trn::device& device;  ///< the first chip
    host_set& hosts;      ///< the hosts of all chips
    trn::control& control;
    const std::uint64_t seed;
    const progress& report;
    platform* const board;  ///< for access to modules without control methods

    trn::scenario::waits waits;
    std::map<std::string, std::string> captured;  ///< values captured by `as`, by name
    std::vector<std::string> injected;            ///< faults: "flap into wire3 at 2 ms"
    kept_objects kept;
    step_run run;
    /// Serves a client on the platform while the calling process waits.
    std::function<void(client_run&)> serve_client;
};

}  // namespace trn::scenario

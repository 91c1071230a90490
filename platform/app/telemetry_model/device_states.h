// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/app/endpoints/endpoints.h"
#include "platform/app/platform.h"
#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// What the devices of a running platform publish, as a state for tools: words of firmware, sensors
/// and counters of blocks. Reads them by debug accesses when it is asked, between slices, and
/// changes nothing. Costs nothing before.
class device_states {
public:
    using client_list = std::function<std::vector<endpoints::client>()>;

    /// \param clients returns the processes that are attached now
    explicit device_states(platform& board, client_list clients = {});
    ~device_states();
    device_states(const device_states&) = delete;
    device_states& operator=(const device_states&) = delete;

    /// `cores`: also of each core.
    machine_state read(bool cores);
    /// Adds the control method `devices`.
    void add_method();

private:
    struct chip;
    struct server;
    void find_devices();
    device read(const chip& found, bool cores) const;
    static void add_processes(instance& machine, const std::vector<endpoints::client>& clients);

    platform& board_;
    const client_list clients_;
    std::vector<std::unique_ptr<server>> servers_;  // after the first read()
};

}  // namespace trn::telemetry

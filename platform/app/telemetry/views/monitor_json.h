// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "platform/app/telemetry/host_usage.h"
#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// Groups of metrics of neuron-monitor's reports, as its configuration file names them.
inline const std::set<std::string> runtime_groups{"neuroncore_counters", "memory_used",
                                                  "neuron_runtime_vcpu_usage", "execution_stats"};
inline const std::set<std::string> system_groups{"vcpu_usage", "memory_info", "neuron_hw_counters"};

/// A row of `neuron_runtimes` in the configuration: groups of the processes whose tag matches.
struct monitored_runtimes {
    /// Of the whole tag: text in which "." is any character and ".*" any text.
    std::string tag_filter = ".*";
    std::set<std::string> groups = runtime_groups;
};

struct monitor_choice {
    double period_s = 5;
    std::vector<monitored_runtimes> runtimes{monitored_runtimes{}};
    std::set<std::string> system = system_groups;
};

/// A configuration file of neuron-monitor. \throws std::runtime_error for what is invalid
monitor_choice monitor_choice_of(const std::string& text);

/// One report of neuron-monitor about an instance; `before` is the state of the last report, or
/// null. A value that is not known is null.
nlohmann::json monitor_json(const monitor_choice& chosen, const machine_state* before,
                            const machine_state& now, const instance& machine,
                            const host_usage& host);

/// A process in reports: those that hold devices, or one for the work of cores whose process is not
/// known (pid 0).
struct runtime_share {
    const process* owner = nullptr;  ///< null: not known
    std::string tag;
    std::vector<unsigned> devices;  ///< whose cores it uses
};
std::vector<runtime_share> runtimes_of(const machine_state* before, const machine_state& now,
                                       const instance& machine);

/// Results of executions since `before`: status_type or error_type of neuron-monitor to a number.
struct execution_counts {
    named_values status, errors;
};
execution_counts executions_of(const machine_state* before, const machine_state& now,
                               const instance& machine, const runtime_share& share);

/// ECC events of a device: event_type to the total; absent: not known.
named_values ecc_events(const device& d);

}  // namespace trn::telemetry

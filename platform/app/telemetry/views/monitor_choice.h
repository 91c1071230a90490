// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

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

    bool matches(const std::string& tag) const;
};

struct monitor_choice {
    double period_s = 5;  ///< the shortest one of the file
    std::vector<monitored_runtimes> runtimes{monitored_runtimes{}};
    std::set<std::string> system = system_groups;
};

/// A configuration file of neuron-monitor. \throws std::runtime_error for what is invalid
monitor_choice monitor_choice_of(const std::string& text);

}  // namespace trn::telemetry

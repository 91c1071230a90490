// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/ls_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "platform/app/telemetry/views/summary.h"

namespace trn::telemetry {

namespace {

using nlohmann::json;

constexpr std::size_t longest_command = 80;

json or_null(const named_values& values) {
    return values.empty() ? json() : json(values);
}

json process_list(const instance& machine, const device& d, bool all) {
    json list = json::array();
    for (const auto& p : machine.processes) {
        if (std::ranges::count(p.devices, d.index) == 0 || (!all && is_tool(p))) continue;
        const auto cores = held_cores(p, machine, d);
        list.push_back({{"pid", p.pid},
                        {"name", cut(p.name, longest_command)},
                        {"command", cut(p.command, longest_command)},
                        {"neuron_runtime_version", "NA"},
                        {"neuroncore_ids", cores ? json(*cores) : json()},
                        {"device_memory", or_null(p.device_memory)},
                        {"host_memory", or_null(p.host_memory)},
                        {"executions", or_null(p.status)},
                        {"latency_ns", or_null(p.latency_ns)}});
    }
    return list;
}

json to_json(const machine_state& state, const instance& machine, const device& d, bool all) {
    json object = json::object();
    if (state.instances.size() > 1) object["server"] = machine.name;
    if (!machine.type.empty()) object["instance_type"] = machine.type;
    if (!machine.id.empty()) object["instance_id"] = machine.id;
    object["neuron_device"] = d.index;
    object["bdf"] = d.bdf.empty() ? json() : json(d.bdf);
    if (d.cpu_affinity) object["cpu_affinity"] = *d.cpu_affinity;
    if (d.numa_node) object["numa_node"] = *d.numa_node;
    object["connected_to"] = d.connected ? json(*d.connected) : json();
    const auto cores = logical_cores(d);
    object["nc_count"] = cores;
    if (has_logical_cores(d)) object["logical_neuroncore_config"] = cores_of_logical_core(d);
    object["memory_size"] = d.memory_bytes ? json(*d.memory_bytes) : json();
    object["neuroncore_ids"] = json::array();
    for (unsigned n = 0; n < cores; ++n)
        object["neuroncore_ids"].push_back(first_logical_core(machine, d) + n);
    object["neuron_processes"] = process_list(machine, d, all);
    if (machine.process_error && object["neuron_processes"].empty())
        object["neuron_processes"] = nullptr;  // there may be some that are not visible
    object["status"] = status_text(d);
    object["unhealthy_components"] = d.faulty ? json(*d.faulty) : json();
    return object;
}

}  // namespace

json ls_json(const machine_state& state, bool all_processes) {
    json list = json::array();
    for (const auto& machine : state.instances)
        for (const auto& d : machine.devices)
            list.push_back(to_json(state, machine, d, all_processes));
    return list;
}

}  // namespace trn::telemetry

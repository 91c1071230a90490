// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/attributes_json.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "platform/app/telemetry/views/summary.h"

namespace trn::telemetry {

namespace {

using nlohmann::json;

constexpr const char* driver = "neuron.aws.com";

json text(std::string_view value) {
    return {{"string", value}};
}
json number(std::uint64_t value) {
    return {{"int", value}};
}

/// 16 hexadecimal digits that devices of one group share (FNV-1a of the instance and the group).
/// The public driver hashes PCI addresses of EFA cards instead.
std::string group_id(const instance& machine, unsigned size, unsigned group) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char c : fmt::format("{}/{}/{}/{}", machine.id, machine.name, size, group))
        hash = (hash ^ c) * 0x100000001b3;
    return fmt::format("{:016x}", hash);
}

json attributes_of(const machine_state& state, const instance& machine, const device& d) {
    json all{{"deviceId", number(d.index)}, {"resourceType", text("neuron_device")}};
    if (!machine.type.empty()) all["instanceType"] = text(machine.type);
    if (!machine.driver_version.empty()) all["neuronDriverVersion"] = text(machine.driver_version);
    if (!state.version.empty()) all["draDriverVersion"] = {{"version", state.version}};
    const auto count = machine.devices.size();
    constexpr unsigned row = 4;
    if (count > 1) {
        all["topology_x"] = number(d.index / row);
        all["topology_y"] = number(d.index % row);
    }
    if (count >= row) all["topology4_id"] = number(d.index / row);
    if (count >= 2 * row) all["topology8_id"] = number(d.index / (2 * row));
    if (!d.bdf.empty()) all["resource.aws.com/devicegroup1_id"] = text(d.bdf);
    for (const unsigned size : {4u, 8u, 16u})
        if (count >= size)
            all[fmt::format("resource.aws.com/devicegroup{}_id", size)] =
                text(group_id(machine, size, d.index / size));
    // Ours: what a device plug-in reads in sysfs.
    all["trn/coreCount"] = number(d.core_count);
    all["trn/logicalCoreCount"] = number(logical_cores(d));
    all["trn/healthy"] = {{"bool", status_text(d) == "ready"}};
    return all;
}

json groups_of(const instance& machine) {
    json all = json::array();
    for (const unsigned size : {1u, 4u, 8u, 16u}) {
        if (machine.devices.size() < size) continue;
        std::set<unsigned> groups;
        for (const auto& d : machine.devices) groups.insert(d.index / size);
        for (const auto group : groups) {
            json devices = json::array(), avoided = json::array();
            for (const auto& d : machine.devices) {
                if (d.index / size != group) continue;
                devices.push_back(d.index);
                if (status_text(d) != "ready") avoided.push_back(d.index);
            }
            all.push_back({{"size", size},
                           {"id", group_id(machine, size, group)},
                           {"devices", devices},
                           {"unhealthy", avoided},
                           {"usable", avoided.empty() && devices.size() == size}});
        }
    }
    return all;
}

json slice_of(const machine_state& state, const instance& machine) {
    json devices = json::array();
    for (const auto& d : machine.devices) {
        json entry{{"name", fmt::format("neuron-device-{}", d.index)},
                   {"attributes", attributes_of(state, machine, d)}};
        if (d.memory_bytes)
            entry["capacity"]["memory"]["value"] = fmt::format("{}", *d.memory_bytes);
        if (const auto status = status_text(d); status != "ready") {
            json taint{{"key", "trn/health"}, {"value", status}, {"effect", "NoSchedule"}};
            if (d.status == device_status::gone) taint["effect"] = "NoExecute";
            entry["taints"] = json::array({taint});
        }
        devices.push_back(std::move(entry));
    }
    json slice{{"driver", driver}, {"devices", devices}, {"groups", groups_of(machine)}};
    if (!machine.name.empty()) slice["node"] = machine.name;
    return slice;
}

}  // namespace

json attributes_json(const machine_state& state) {
    json all = json::array();
    for (const auto& machine : state.instances) all.push_back(slice_of(state, machine));
    return all;
}

}  // namespace trn::telemetry

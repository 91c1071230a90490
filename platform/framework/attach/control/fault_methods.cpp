// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/fault_methods.h"

#include <map>
#include <string>
#include <vector>

#include "platform/framework/attach/control/type_name.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"

namespace trn {

using rpc::code;
using rpc::json;

namespace {

json to_json(const fault_argument::value& value) {
    return std::visit([](auto number) { return json(number); }, value);
}

json to_json(const fault_argument& argument) {
    json row = {{"name", argument.name},        {"type", argument.type_text()},
                {"range", argument.range()},    {"min", to_json(argument.min)},
                {"max", to_json(argument.max)}, {"required", argument.required},
                {"meaning", argument.meaning}};
    if (!argument.required) row["default"] = argument.default_text();
    return row;
}

json to_json(const std::vector<accepts_faults::fault>& faults) {
    json rows = json::array();
    for (const auto& each : faults) {
        json arguments = json::array();
        for (const auto& argument : each.arguments) arguments.push_back(to_json(argument));
        rows.push_back({{"fault", each.name},
                        {"description", each.description},
                        {"arguments", std::move(arguments)}});
    }
    return rows;
}

/// Equal for faults that differ in nothing that a list shows.
std::string key_of(const sc_core::sc_object& object,
                   const std::vector<accepts_faults::fault>& faults) {
    std::string key = type_name(object);
    for (const auto& each : faults) {
        key += '\n' + each.name + '\n' + each.description;
        for (const auto& argument : each.arguments) key += '\n' + argument.range();
    }
    return key;
}

fault_arguments arguments_of(const rpc::parameters& p) {
    const auto& given = p.value("arguments");
    if (!given.is_null() && !given.is_object()) p.wrong("arguments", "an object");
    fault_arguments all;
    for (const auto& item : given.items())
        all[item.key()] =
            item.value().is_string() ? item.value().get<std::string>() : item.value().dump();
    return all;
}

}  // namespace

json list_faults() {
    json groups = json::array();
    std::map<std::string, std::size_t> known;
    for_each_module<accepts_faults>([&](const auto& object, accepts_faults& module) {
        const auto faults = module.faults();
        const auto [group, is_new] = known.try_emplace(key_of(object, faults), groups.size());
        if (is_new)
            groups.push_back({{"type", type_name(object)},
                              {"modules", json::array()},
                              {"faults", to_json(faults)}});
        groups[group->second]["modules"].push_back(object.name());
    });
    return groups;
}

json inject_fault(const rpc::parameters& p) {
    const auto fault = p.text("fault");
    const auto arguments = arguments_of(p);
    try {
        const auto all = modules_with_fault(p.text("module"), fault);
        for (const auto& each : all) each.module->check(fault, arguments);
        json names = json::array();
        for (const auto& each : all) {
            each.module->inject(fault, arguments);
            names.push_back(each.name);
        }
        return {{"modules", std::move(names)}};
    } catch (const fault_error& why) {
        throw rpc::error(code::invalid_params, why.what());
    }
}

}  // namespace trn

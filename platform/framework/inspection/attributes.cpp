// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/inspection/attributes.h"

#include <cstdint>
#include <set>
#include <utility>

namespace trn {

namespace {

template <class T>
std::unique_ptr<sc_core::sc_attr_base> make(const std::string& name, T value) {
    return std::make_unique<sc_core::sc_attribute<T>>(name, std::move(value));
}

std::unique_ptr<sc_core::sc_attr_base> attribute_of(const std::string& name,
                                                    const parameter_handle& parameter) {
    const auto value = parameter.value();
    if (value.is_boolean()) return make(name, value.get<bool>());
    if (value.is_number_unsigned() && parameter.unit() == "ps")
        return make(name, sc_core::sc_time(1, sc_core::SC_PS) *
                              static_cast<double>(value.get<std::uint64_t>()));
    if (value.is_number_unsigned()) return make(name, value.get<sc_dt::uint64>());
    if (value.is_number_float()) return make(name, value.get<double>());
    return make(name, parameter.text());
}

}  // namespace

published_attributes::published_attributes(const parameter_broker& broker,
                                           std::string_view module) {
    std::set<std::string> typed;
    for (const auto& parameter : broker.get_param_handles(module)) {
        const auto& name = parameter.name();
        const auto dot = name.rfind('.');
        if (dot == name.npos) continue;  // of a board without a module of its own
        const auto owner = name.substr(0, dot);
        if (typed.insert(owner).second && !parameter.owner_type().empty())
            add(owner, make("type", std::string(parameter.owner_type())));
        add(owner, attribute_of(name.substr(dot + 1), parameter));
    }
}

void published_attributes::add(const std::string& module,
                               std::unique_ptr<sc_core::sc_attr_base> attribute) {
    auto* const object = sc_core::sc_find_object(module.c_str());
    if (object != nullptr && object->add_attribute(*attribute))
        all_.push_back({module, std::move(attribute)});
}

published_attributes::~published_attributes() {
    for (const auto& each : all_)
        if (auto* const object = sc_core::sc_find_object(each.module.c_str()))
            object->remove_attribute(each.attribute->name());
}

}  // namespace trn

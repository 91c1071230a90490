// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "platform/framework/registers/generator/schema.h"

/// The words of a description.
namespace trn::config {

using registers::access;
using registers::read_effect;
using registers::write_effect;

template <>
struct choices<write_effect> {
    static constexpr std::array list{
        choice<write_effect>{"one_to_clear", write_effect::one_to_clear},
        choice<write_effect>{"one_to_set", write_effect::one_to_set},
        choice<write_effect>{"one_to_toggle", write_effect::one_to_toggle},
        choice<write_effect>{"zero_to_clear", write_effect::zero_to_clear},
        choice<write_effect>{"zero_to_set", write_effect::zero_to_set},
        choice<write_effect>{"zero_to_toggle", write_effect::zero_to_toggle},
        choice<write_effect>{"clear", write_effect::clear},
        choice<write_effect>{"set", write_effect::set},
        choice<write_effect>{"modify", write_effect::modify}};
};
template <>
struct choices<read_effect> {
    static constexpr std::array list{choice<read_effect>{"clear", read_effect::clear},
                                     choice<read_effect>{"set", read_effect::set},
                                     choice<read_effect>{"modify", read_effect::modify}};
};
template <>
struct choices<access> {
    static constexpr std::array list{
        choice<access>{"rw", access::rw},     choice<access>{"ro", access::ro},
        choice<access>{"wo", access::wo},     choice<access>{"rw1c", access::rw1c},
        choice<access>{"rw0c", access::rw0c}, choice<access>{"rw1s", access::rw1s},
        choice<access>{"w1c", access::w1c},   choice<access>{"w1s", access::w1s},
        choice<access>{"rc", access::rc}};
};
template <>
struct choices<knowledge> {
    static constexpr std::array list{choice<knowledge>{"driver", knowledge::driver},
                                     choice<knowledge>{"document", knowledge::document},
                                     choice<knowledge>{"inferred", knowledge::inferred},
                                     choice<knowledge>{"invented", knowledge::invented}};
};
template <>
struct choices<fidelity> {
    static constexpr std::array list{choice<fidelity>{"exact", fidelity::exact},
                                     choice<fidelity>{"approximate", fidelity::approximate},
                                     choice<fidelity>{"stub", fidelity::stub}};
};
template <>
struct choices<hole_policy> {
    static constexpr std::array list{choice<hole_policy>{"error", hole_policy::error},
                                     choice<hole_policy>{"ram", hole_policy::ram},
                                     choice<hole_policy>{"zero", hole_policy::zero}};
};

}  // namespace trn::config

namespace trn::registers {

template <class Choice>
std::string_view name_of(Choice value) {
    for (const auto& each : config::choices<Choice>::list)
        if (each.value == value) return each.name;
    return {};
}

}  // namespace trn::registers

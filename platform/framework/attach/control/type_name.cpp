// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/type_name.h"

#include <boost/core/demangle.hpp>
#include <typeinfo>

namespace trn {

std::string type_name(const sc_core::sc_object& object) {
    auto name = boost::core::demangle(typeid(object).name());
    return name.starts_with("trn::") ? name.substr(5) : name;
}

}  // namespace trn

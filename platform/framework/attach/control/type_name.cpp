// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/type_name.h"

#include <boost/core/demangle.hpp>
#include <typeinfo>

namespace trn {

std::string type_name(const sc_core::sc_object& object) {
    const auto name = boost::core::demangle(typeid(object).name());
    const auto scope = name.substr(0, name.find('<')).rfind("::");
    return scope == name.npos ? name : name.substr(scope + 2);
}

}  // namespace trn

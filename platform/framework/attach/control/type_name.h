// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>

namespace trn {

/// The class of a module without its scope: "udma" for "trn::udma".
std::string type_name(const sc_core::sc_object& object);

}  // namespace trn

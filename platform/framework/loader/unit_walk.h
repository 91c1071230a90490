// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>

namespace trn {

/// Calls visit(Dwarf_Die&) for each compilation unit until it returns true; `dwarf` may be null.
/// Returns whether it did.
template <typename Visit>
bool any_unit_of(Dwarf* dwarf, Visit&& visit) {
    Dwarf_Off next = 0;
    std::size_t header = 0;
    for (Dwarf_Off offset = 0; dwarf != nullptr && dwarf_nextcu(dwarf, offset, &next, &header,
                                                                nullptr, nullptr, nullptr) == 0;
         offset = next) {
        Dwarf_Die unit;
        if (dwarf_offdie(dwarf, offset + header, &unit) != nullptr && visit(unit)) return true;
    }
    return false;
}

}  // namespace trn

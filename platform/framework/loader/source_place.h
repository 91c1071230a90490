// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>

namespace trn {

/// "function (file:line)": the innermost function of the unit at `pc` that is not defined in a
/// header; "": none.
std::string source_place(Dwarf_Die& unit, std::uint64_t pc);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <filesystem>

#include "platform/framework/loader/unit_walk.h"

namespace trn {

/// The debugging information of an ELF file.
class dwarf_file {
public:
    /// A file that cannot be read has no units.
    explicit dwarf_file(const std::filesystem::path& file);
    ~dwarf_file();
    dwarf_file(const dwarf_file&) = delete;
    dwarf_file& operator=(const dwarf_file&) = delete;

    /// Calls visit(Dwarf_Die&) for each compilation unit until it returns true. Returns whether it
    /// did.
    template <typename Visit>
    bool any_unit(Visit&& visit) const {
        return any_unit_of(dwarf_, visit);
    }

private:
    const int descriptor_;
    Dwarf* const dwarf_;
};

}  // namespace trn

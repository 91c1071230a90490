// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <filesystem>

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
        Dwarf_Off next = 0;
        std::size_t header = 0;
        for (Dwarf_Off offset = 0;
             dwarf_ != nullptr &&
             dwarf_nextcu(dwarf_, offset, &next, &header, nullptr, nullptr, nullptr) == 0;
             offset = next) {
            Dwarf_Die unit;
            if (dwarf_offdie(dwarf_, offset + header, &unit) != nullptr && visit(unit)) return true;
        }
        return false;
    }

private:
    const int descriptor_;
    Dwarf* const dwarf_;
};

}  // namespace trn

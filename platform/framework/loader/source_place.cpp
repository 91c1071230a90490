// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/source_place.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <cstdlib>

namespace trn {

namespace {

struct place {
    std::string file;
    int line = 0;
};

/// A name of libdw, which is null where the file's debug information is broken.
std::string text(const char* name) {
    return name == nullptr ? "" : name;
}

/// The place of the call that was inlined.
place call_of(Dwarf_Die& unit, Dwarf_Die& inlined) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count)
        return {};
    return {text(dwarf_filesrc(files, file, nullptr, nullptr)), static_cast<int>(line)};
}

}  // namespace

std::string source_place(Dwarf_Die& unit, std::uint64_t pc) {
    Dwarf_Line* row = dwarf_getsrc_die(&unit, pc);
    if (row == nullptr) return {};
    place here{text(dwarf_linesrc(row, nullptr, nullptr))};
    dwarf_lineno(row, &here.line);
    // First search by address, then for the enclosing scopes: the first search alone would continue
    // where an inlined function is declared, not where it is called.
    Dwarf_Die* innermost = nullptr;
    Dwarf_Die* scopes = nullptr;
    if (dwarf_getscopes(&unit, pc, &innermost) <= 0) return {};
    const int count = dwarf_getscopes_die(innermost, &scopes);
    std::free(innermost);
    std::string name;
    for (int i = 0; i < count; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
        if (const char* own = dwarf_diename(&scopes[i])) name = own;
        if (tag == DW_TAG_subprogram || !here.file.ends_with(".h")) break;
        here = call_of(unit, scopes[i]);
    }
    std::free(scopes);
    return fmt::format("{} ({}:{})", name, here.file, here.line);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/source_lines.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "platform/framework/loader/dwarf_file.h"
#include "platform/framework/loader/elf.h"

namespace trn {

namespace fs = std::filesystem;

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

/// The innermost function at `pc` that is not defined in a header.
std::string describe(Dwarf_Die& unit, std::uint64_t pc) {
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

}  // namespace

class source_lines::program {
public:
    explicit program(const fs::path& file) : code_(read_elf(file.string())), dwarf_(file) {}

    bool has(std::uint64_t pc, std::span<const std::uint8_t> code) const {
        return std::ranges::any_of(code_.segments, [&](const auto& s) {
            const std::uint64_t offset = pc - s.address;
            return offset < s.bytes.size() && code.size() <= s.bytes.size() - offset &&
                   std::ranges::equal(code, std::span(s.bytes).subspan(offset, code.size()));
        });
    }
    std::string describe(std::uint64_t pc) const {
        std::string found;
        dwarf_.any_unit([&](Dwarf_Die& unit) {
            if (dwarf_haspc(&unit, pc) != 1) return false;
            found = trn::describe(unit, pc);
            return true;
        });
        return found;
    }

private:
    const elf_program code_;
    const dwarf_file dwarf_;
};

source_lines::source_lines(const std::vector<fs::path>& programs) {
    for (const auto& file : programs) try {
            programs_.push_back(std::make_unique<program>(file));
        } catch (const elf_error&) {  // not an ELF program for this processor
        }
}

source_lines::~source_lines() = default;

std::string source_lines::find(std::uint64_t pc, std::span<const std::uint8_t> code) const {
    for (const auto& program : programs_)
        if (program->has(pc, code)) return program->describe(pc);
    return {};
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/source_lines.h"

#include <algorithm>

#include "platform/framework/loader/dwarf_file.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/loader/source_place.h"

namespace trn {

namespace fs = std::filesystem;

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
            found = source_place(unit, pc);
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

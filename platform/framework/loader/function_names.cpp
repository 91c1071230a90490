// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/function_names.h"

#include <cassert>

namespace trn {

function_names::function_names(const std::vector<std::filesystem::path>& programs) {
    for (const auto& file : programs) try {
            programs_.push_back(read_elf(file.string()));
        } catch (const elf_error&) {  // not an ELF program for this processor
        }
    assert(active_ == nullptr);
    active_ = this;
}

const function_names::by_address* function_names::find(std::uint64_t address,
                                                       std::span<const std::uint8_t> page) const {
    const elf_program* found = nullptr;
    std::size_t best = 0;
    for (const auto& program : programs_)
        if (const auto equal = program.agreement(address, page); equal > best) {
            best = equal;
            found = &program;
        }
    return found == nullptr ? nullptr : &found->functions;
}

const std::string* function_names::find_entry(std::uint64_t address,
                                              std::uint32_t instruction) const {
    for (const auto& program : programs_)
        if (const auto known = program.functions.find(address);
            known != program.functions.end() && program.instruction(address) == instruction)
            return &known->second;
    return nullptr;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/loader/elf.h"

namespace trn {

/// Start addresses of the functions of programs. While it exists, harts report function entries.
class function_names {
public:
    using by_address = std::map<std::uint64_t, std::string>;

    /// Reads these ELF files; ignores other files. At most one object may exist at a time.
    explicit function_names(const std::vector<std::filesystem::path>& programs);
    ~function_names() { active_ = nullptr; }
    function_names(const function_names&) = delete;
    function_names& operator=(const function_names&) = delete;

    /// The object that harts use; nullptr: function entries are not reported.
    static const function_names* active() { return active_; }

    /// Functions of the program that contains the code `page` at `address`; nullptr: none.
    const by_address* find(std::uint64_t address, std::span<const std::uint8_t> page) const;
    /// The function that begins at `address` with this instruction, for an unknown page; nullptr:
    /// none.
    const std::string* find_entry(std::uint64_t address, std::uint32_t instruction) const;

private:
    inline static const function_names* active_ = nullptr;

    std::vector<elf_program> programs_;
};

}  // namespace trn
